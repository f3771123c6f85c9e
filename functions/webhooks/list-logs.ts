import { lambda } from '../../shared/http/lambda.ts';
import { logDeps } from '../../shared/runtime.ts';
import { listLogs } from '../../shared/webhooks/read-logs.ts';
import { listWebhookLogsEndpoint } from './endpoints.ts';

export const handler = lambda(listWebhookLogsEndpoint, logDeps, listLogs);
