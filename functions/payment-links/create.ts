import { createPaymentLink } from '../../shared/hosted-pages/payment-links.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { linkDeps } from '../../shared/runtime.ts';
import { createPaymentLinkEndpoint } from './endpoints.ts';

export const handler = lambda(createPaymentLinkEndpoint, linkDeps, createPaymentLink);
