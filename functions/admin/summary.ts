import { csvRenderer } from '../../shared/http/csv.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { summaryOfAll } from '../../shared/queries/admin-summary.ts';
import { webDeps } from '../../shared/runtime.ts';
import { adminSummaryEndpoint } from './endpoints.ts';

export const handler = lambda(adminSummaryEndpoint, webDeps, { run: summaryOfAll, csv: csvRenderer });
