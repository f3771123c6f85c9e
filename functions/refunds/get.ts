import { lambda } from '../../shared/http/lambda.ts';
import { getRefund } from '../../shared/queries/list-refunds.ts';
import { webDeps } from '../../shared/runtime.ts';
import { getRefundEndpoint } from './endpoints.ts';

export const handler = lambda(getRefundEndpoint, webDeps, getRefund);
