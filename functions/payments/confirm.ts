import { lambda } from '../../shared/http/lambda.ts';
import { confirmPayment } from '../../shared/payments/confirm-payment.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { requireOpenPayment } from '../../shared/subscriptions/billing/open-payment.ts';
import { confirmPaymentEndpoint } from './endpoints.ts';

const confirmDeps = () => ({ ...moneyDeps(), requireOpenPayment });

export const handler = lambda(confirmPaymentEndpoint, confirmDeps, confirmPayment);
