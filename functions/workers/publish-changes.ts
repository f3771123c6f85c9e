import { streamConsumer } from '../../shared/messaging/consumers.ts';
import { publishDeps } from '../../shared/runtime.ts';
import { publishChanges } from '../../shared/workers/publish-changes.ts';

export const handler = streamConsumer('publish-changes', publishDeps, publishChanges);
