import { lambda } from '../../shared/http/lambda.ts';
import { paymentAsRead, updatePayment } from '../../shared/payments/update-payment.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { updateIntentEndpoint } from './endpoints.ts';

export const handler = lambda(updateIntentEndpoint, moneyDeps, { run: updatePayment, shows: paymentAsRead });
