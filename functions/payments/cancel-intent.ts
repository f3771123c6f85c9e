import { lambda } from '../../shared/http/lambda.ts';
import { cancelPayment } from '../../shared/payments/cancel-payment.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { cancelIntentEndpoint } from './hold-endpoints.ts';

export const handler = lambda(cancelIntentEndpoint, moneyDeps, cancelPayment);
