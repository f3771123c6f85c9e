import { dispatchDeps } from '../../shared/runtime.ts';
import { dispatchWebhooks } from '../../shared/webhooks/dispatch.ts';
import { outboundEventOf } from '../../shared/webhooks/outbound-event.ts';
import { batchConsumer } from '../../shared/workers/consumer.ts';

export const handler = batchConsumer('webhook-dispatch', dispatchDeps, outboundEventOf, dispatchWebhooks);
