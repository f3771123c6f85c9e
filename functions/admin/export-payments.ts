import { exportPayments } from '../../shared/admin/export-money.ts';
import { csvRenderer } from '../../shared/http/csv.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { userDeps } from '../../shared/runtime.ts';
import { exportPaymentsEndpoint } from './export-endpoints.ts';

export const handler = lambda(exportPaymentsEndpoint, userDeps, { run: exportPayments, csv: csvRenderer });
