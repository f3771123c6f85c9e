import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { getLog } from '../../shared/webhooks/logs/read.ts';
import { getWebhookLog } from './endpoints.ts';

export const handler = lambda(getWebhookLog, webDeps, getLog);
