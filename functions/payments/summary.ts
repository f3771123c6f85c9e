import { csvRenderer } from '../../shared/http/csv.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { ownerSummary } from '../../shared/queries/payment-summary.ts';
import { webDeps } from '../../shared/runtime.ts';
import { paymentSummaryEndpoint } from './endpoints.ts';

export const handler = lambda(paymentSummaryEndpoint, webDeps, { run: ownerSummary, csv: csvRenderer });
