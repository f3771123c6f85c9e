import type { Bug } from './bug.ts';

/** Mistakes in the handling of partly executed AWS calls. */
export const THROTTLING_BUGS: readonly Bug[] = [
  {
    name: 'throttled-transaction-is-done',
    what: 'A transaction that throttling has canceled counts as done',
    file: 'shared/platform/throttled-table.ts',
    text: 'if (!isThrottled(error) || !(await waitForAttempt(made, WAITS))) throw error;',
    replacement: 'if (isThrottled(error)) return { ok: true };\n      throw error;',
  },
  {
    name: 'refused-messages-are-dropped',
    what: 'Messages that a queue refuses are dropped',
    file: 'shared/platform/queues.ts',
    text: 'if (Failed.length === 0) return;',
    replacement: 'if (Failed.length >= 0) return;',
  },
];
