import { csvRenderer } from '../../shared/http/csv.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { listSubscriptions } from '../../shared/queries/list-subscriptions.ts';
import { webDeps } from '../../shared/runtime.ts';
import { listSubscriptionsEndpoint } from './endpoints.ts';

export const handler = lambda(listSubscriptionsEndpoint, webDeps, { run: listSubscriptions, csv: csvRenderer });
