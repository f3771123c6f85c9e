import { lambda } from '../../shared/http/lambda.ts';
import { sendTestDeps } from '../../shared/runtime.ts';
import { requireTestSender, sendTest } from '../../shared/webhooks/send-test.ts';
import { sendWebhookTestEndpoint } from './endpoints.ts';

export const handler = lambda(sendWebhookTestEndpoint, sendTestDeps, { run: sendTest, checkRepeat: requireTestSender });
