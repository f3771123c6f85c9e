import { listEveryPayment } from '../../shared/admin/list-every-payment.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { listEveryPaymentEndpoint } from './endpoints.ts';

export const handler = lambda(listEveryPaymentEndpoint, webDeps, listEveryPayment);
