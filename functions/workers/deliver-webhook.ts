import { deliverDeps } from '../../shared/runtime.ts';
import { deliverWebhook } from '../../shared/webhooks/deliver.ts';
import { queueConsumer } from '../../shared/workers/consumer.ts';

export const handler = queueConsumer('webhook-delivery', deliverDeps, deliverWebhook);
