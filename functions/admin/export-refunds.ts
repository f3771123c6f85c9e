import { exportRefunds } from '../../shared/admin/export-money.ts';
import { csvRenderer } from '../../shared/http/csv.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { exportRefundsEndpoint } from './export-endpoints.ts';

export const handler = lambda(exportRefundsEndpoint, webDeps, { run: exportRefunds, csv: csvRenderer });
