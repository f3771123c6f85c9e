import { projectDeps } from '../../shared/host.ts';
import { streamConsumer } from '../../shared/platform/consumers.ts';
import { projectChanges } from '../../shared/workers/project-changes.ts';

export const handler = streamConsumer('project-changes', projectDeps, projectChanges);
