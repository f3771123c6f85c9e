import { lambda } from '../../shared/http/lambda.ts';
import { confirmPayment } from '../../shared/payments/commands/confirm.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { confirmPaymentEndpoint } from './endpoints.ts';

export const handler = lambda(confirmPaymentEndpoint, moneyDeps, confirmPayment);
