import { listPaymentLinks } from '../../shared/hosted-pages/payment-links.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { linkDeps } from '../../shared/runtime.ts';
import { listPaymentLinksEndpoint } from './endpoints.ts';

export const handler = lambda(listPaymentLinksEndpoint, linkDeps, listPaymentLinks);
