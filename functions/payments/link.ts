import { linkPayment } from '../../shared/hosted-pages/link-payment.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { linkDeps } from '../../shared/runtime.ts';
import { linkPaymentEndpoint } from './link-endpoints.ts';

export const handler = lambda(linkPaymentEndpoint, linkDeps, linkPayment);
