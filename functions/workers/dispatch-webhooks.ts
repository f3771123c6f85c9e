import { batchConsumer } from '../../shared/messaging/consumers.ts';
import { dispatchDeps } from '../../shared/runtime.ts';
import { dispatchWebhooks } from '../../shared/webhooks/outbound/dispatch.ts';
import { outboundEventOf } from '../../shared/webhooks/record/outbound-event.ts';

export const handler = batchConsumer('webhook-dispatch', dispatchDeps, {
  read: outboundEventOf,
  handle: dispatchWebhooks,
});
