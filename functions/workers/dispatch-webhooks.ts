import { outboundEventOf } from '../../shared/event-log/outbound-event.ts';
import { batchConsumer } from '../../shared/platform/consumers.ts';
import { dispatchDeps } from '../../shared/runtime.ts';
import { dispatchWebhooks } from '../../shared/webhooks/dispatch-webhooks.ts';

export const handler = batchConsumer('webhook-dispatch', dispatchDeps, {
  read: outboundEventOf,
  handle: dispatchWebhooks,
});
