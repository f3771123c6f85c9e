import { lambda } from '../../shared/http/lambda.ts';
import { capturePayment } from '../../shared/payments/holds/capture-payment.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { capturePaymentEndpoint } from './hold-endpoints.ts';

export const handler = lambda(capturePaymentEndpoint, moneyDeps, capturePayment);
