import { dispatchDeps } from '../../shared/runtime.ts';
import { dispatchWebhooks } from '../../shared/webhooks/dispatch.ts';
import { queueConsumer } from '../../shared/workers/consumer.ts';

export const handler = queueConsumer('webhook-dispatch', dispatchDeps, dispatchWebhooks);
