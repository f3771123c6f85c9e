import { queueConsumer } from '../../shared/messaging/consumers.ts';
import { workerDeps } from '../../shared/runtime.ts';
import { applyProviderEvent } from '../../shared/webhooks/inbound/apply.ts';

export const handler = queueConsumer('apply-provider-event', workerDeps, applyProviderEvent);
