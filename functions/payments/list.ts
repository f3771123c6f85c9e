import { lambda } from '../../shared/http/lambda.ts';
import { listPayments } from '../../shared/queries/list-payments.ts';
import { webDeps } from '../../shared/runtime.ts';
import { list } from './endpoints.ts';

export const handler = lambda(list, webDeps, listPayments);
