import { publishDeps } from '../../shared/host.ts';
import { streamConsumer } from '../../shared/platform/consumers.ts';
import { publishChanges } from '../../shared/workers/publish-changes.ts';

export const handler = streamConsumer('publish-changes', publishDeps, publishChanges);
