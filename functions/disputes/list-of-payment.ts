import { lambda } from '../../shared/http/lambda.ts';
import { listDisputesOfPayment } from '../../shared/queries/list-refunds.ts';
import { webDeps } from '../../shared/runtime.ts';
import { listDisputesOfPaymentEndpoint } from './endpoints.ts';

export const handler = lambda(listDisputesOfPaymentEndpoint, webDeps, listDisputesOfPayment);
