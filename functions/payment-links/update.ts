import { paymentLinkAsRead, updatePaymentLink } from '../../shared/hosted-pages/payment-links.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { linkDeps } from '../../shared/runtime.ts';
import { updatePaymentLinkEndpoint } from './endpoints.ts';

export const handler = lambda(updatePaymentLinkEndpoint, linkDeps, {
  run: updatePaymentLink,
  shows: paymentLinkAsRead,
});
