import { queueConsumer } from '../../shared/platform/consumers.ts';
import { workerDeps } from '../../shared/runtime.ts';
import { applyProviderEvent } from '../../shared/webhooks/apply-event.ts';

export const handler = queueConsumer('apply-provider-event', workerDeps, applyProviderEvent);
