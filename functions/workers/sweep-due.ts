import { sweepDeps } from '../../shared/runtime.ts';
import { sweepDue } from '../../shared/workers/sweep-due.ts';

export const handler = (): Promise<void> => sweepDue(sweepDeps());
