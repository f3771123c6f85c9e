import { sweepDeps } from '../../shared/host.ts';
import { sweepDue } from '../../shared/workers/sweep-due.ts';

export const handler = (): Promise<void> => sweepDue(sweepDeps());
