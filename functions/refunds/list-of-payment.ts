import { lambda } from '../../shared/http/lambda.ts';
import { listRefundsOfPayment } from '../../shared/queries/list-refunds.ts';
import { webDeps } from '../../shared/runtime.ts';
import { listRefundsOfPaymentEndpoint } from './endpoints.ts';

export const handler = lambda(listRefundsOfPaymentEndpoint, webDeps, listRefundsOfPayment);
