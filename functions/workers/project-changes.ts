import { projectDeps } from '../../shared/runtime.ts';
import { streamConsumer } from '../../shared/workers/consumer.ts';
import { projectChanges } from '../../shared/workers/project-changes.ts';

export const handler = streamConsumer('project-changes', projectDeps, projectChanges);
