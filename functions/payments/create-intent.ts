import { lambda } from '../../shared/http/lambda.ts';
import { createPayment } from '../../shared/payments/create-payment.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { createIntentEndpoint } from './endpoints.ts';

export const handler = lambda(createIntentEndpoint, moneyDeps, createPayment);
