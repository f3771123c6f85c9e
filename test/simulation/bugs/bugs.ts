import type { Bug } from './bug.ts';

export const BUGS: readonly Bug[] = [
  {
    name: 'due-work-is-lost',
    file: 'shared/workers/sweep-due.ts',
    text: "await deps.queues.send('run-due', bodies);",
    replacement: '',
  },
];
