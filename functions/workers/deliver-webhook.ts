import { queueConsumer } from '../../shared/platform/consumers.ts';
import { deliverDeps } from '../../shared/runtime.ts';
import { deliverWebhook } from '../../shared/webhooks/deliver-webhook.ts';

export const handler = queueConsumer('webhook-delivery', deliverDeps, deliverWebhook);
