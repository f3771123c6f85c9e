import { csvRenderer } from '../../shared/http/csv.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { listRefunds } from '../../shared/queries/list-refunds.ts';
import { webDeps } from '../../shared/runtime.ts';
import { listRefundsEndpoint } from './endpoints.ts';

export const handler = lambda(listRefundsEndpoint, webDeps, { run: listRefunds, csv: csvRenderer });
