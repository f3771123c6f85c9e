import { expect, test } from 'vitest';
import { type RunDeps, runDue } from '../../shared/workers/run-due.ts';

test('due work of a kind without a handler fails, so that its queue raises the alarm', async () => {
  const message = { pk: 'CUS#cust_1', sk: 'CUS', due_at: '2026-01-01T00:00:00.000Z' };
  await expect(runDue({} as RunDeps, message)).rejects.toThrow('sk');
});
