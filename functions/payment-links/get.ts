import { getPaymentLink } from '../../shared/hosted-pages/payment-links.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { linkDeps } from '../../shared/runtime.ts';
import { getPaymentLinkEndpoint } from './endpoints.ts';

export const handler = lambda(getPaymentLinkEndpoint, linkDeps, getPaymentLink);
