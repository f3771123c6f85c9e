import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { listLogs } from '../../shared/webhooks/logs/read.ts';
import { listWebhookLogs } from './endpoints.ts';

export const handler = lambda(listWebhookLogs, webDeps, listLogs);
