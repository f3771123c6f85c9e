import { workerDeps } from '../../shared/runtime.ts';
import { applyProviderEvent } from '../../shared/workers/apply-provider-event.ts';
import { queueConsumer } from '../../shared/workers/consumer.ts';

export const handler = queueConsumer('apply-provider-event', workerDeps, applyProviderEvent);
