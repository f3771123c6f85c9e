import { lambda } from '../../shared/http/lambda.ts';
import { getPayment } from '../../shared/queries/get-payment.ts';
import { webDeps } from '../../shared/runtime.ts';
import { getPaymentEndpoint } from './endpoints.ts';

export const handler = lambda(getPaymentEndpoint, webDeps, getPayment);
