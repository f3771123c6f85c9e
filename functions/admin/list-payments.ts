import { lambda } from '../../shared/http/lambda.ts';
import { listEveryPayment } from '../../shared/queries/list-every-payment.ts';
import { webDeps } from '../../shared/runtime.ts';
import { listEveryPaymentEndpoint } from './endpoints.ts';

export const handler = lambda(listEveryPaymentEndpoint, webDeps, listEveryPayment);
