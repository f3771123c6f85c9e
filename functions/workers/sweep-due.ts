import { sweepDeps } from '../../shared/host.ts';
import { scheduledJob } from '../../shared/platform/consumers.ts';
import { sweepDue } from '../../shared/workers/sweep-due.ts';

export const handler = scheduledJob(sweepDeps, sweepDue);
