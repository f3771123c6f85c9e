import { lambda } from '../../shared/http/lambda.ts';
import { logDeps } from '../../shared/runtime.ts';
import { getLog } from '../../shared/webhooks/read-logs.ts';
import { getWebhookLogEndpoint } from './endpoints.ts';

export const handler = lambda(getWebhookLogEndpoint, logDeps, getLog);
