import { csvRenderer } from '../../shared/http/csv.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { listPayments } from '../../shared/queries/list-payments.ts';
import { webDeps } from '../../shared/runtime.ts';
import { listPaymentsEndpoint } from './endpoints.ts';

export const handler = lambda(listPaymentsEndpoint, webDeps, { run: listPayments, csv: csvRenderer });
