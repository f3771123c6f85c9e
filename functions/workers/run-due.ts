import { queueConsumer } from '../../shared/platform/consumers.ts';
import { dueDeps } from '../../shared/runtime.ts';
import { runDue } from '../../shared/workers/run-due.ts';

export const handler = queueConsumer('run-due', dueDeps, runDue);
