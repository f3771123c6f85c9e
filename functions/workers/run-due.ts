import { queueConsumer } from '../../shared/messaging/consumers.ts';
import { workerDeps } from '../../shared/runtime.ts';
import { runDue } from '../../shared/workers/run-due.ts';

export const handler = queueConsumer('run-due', workerDeps, runDue);
