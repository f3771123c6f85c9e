import { publishDeps } from '../../shared/runtime.ts';
import { streamConsumer } from '../../shared/workers/consumer.ts';
import { publishChanges } from '../../shared/workers/publish-changes.ts';

export const handler = streamConsumer('publish-changes', publishDeps, publishChanges);
