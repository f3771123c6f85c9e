import { lambda } from '../../shared/http/lambda.ts';
import { createRefund } from '../../shared/payments/refund-payment.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { createRefundEndpoint } from './endpoints.ts';

export const handler = lambda(createRefundEndpoint, moneyDeps, createRefund);
