import { archivePaymentLink } from '../../shared/hosted-pages/payment-links.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { linkDeps } from '../../shared/runtime.ts';
import { archivePaymentLinkEndpoint } from './endpoints.ts';

export const handler = lambda(archivePaymentLinkEndpoint, linkDeps, archivePaymentLink);
