import { csvRenderer } from '../../shared/http/csv.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { listDisputes } from '../../shared/queries/list-refunds.ts';
import { webDeps } from '../../shared/runtime.ts';
import { listDisputesEndpoint } from './endpoints.ts';

export const handler = lambda(listDisputesEndpoint, webDeps, { run: listDisputes, csv: csvRenderer });
