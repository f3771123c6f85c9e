import { workerDeps } from '../../shared/runtime.ts';
import { queueConsumer } from '../../shared/workers/consumer.ts';
import { runDue } from '../../shared/workers/due.ts';

export const handler = queueConsumer('run-due', workerDeps, runDue);
