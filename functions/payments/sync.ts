import { lambda } from '../../shared/http/lambda.ts';
import { syncPayment } from '../../shared/payments/sync-payment.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { syncPaymentEndpoint } from './endpoints.ts';

export const handler = lambda(syncPaymentEndpoint, moneyDeps, syncPayment);
