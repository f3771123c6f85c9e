import { queueConsumer } from '../../shared/messaging/consumers.ts';
import { deliverDeps } from '../../shared/runtime.ts';
import { deliverWebhook } from '../../shared/webhooks/outbound/deliver.ts';

export const handler = queueConsumer('webhook-delivery', deliverDeps, deliverWebhook);
