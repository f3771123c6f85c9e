import { streamConsumer } from '../../shared/messaging/consumers.ts';
import { projectDeps } from '../../shared/runtime.ts';
import { projectChanges } from '../../shared/workers/project-changes.ts';

export const handler = streamConsumer('project-changes', projectDeps, projectChanges);
