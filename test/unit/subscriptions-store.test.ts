import { describe, expect, test, vi } from 'vitest';
import { subscriptionStore } from '../../shared/subscriptions/record/store.ts';
import type { Table } from '../../shared/table/table.ts';
import { subscription } from '../builders/subscription.ts';

const recording = () => {
  const write = vi.fn(async () => ({ ok: true }));
  return { write, store: subscriptionStore({ put: write, transact: write } as unknown as Table) };
};

describe('the subscription store', () => {
  test.each([
    ['canceled', 'creating'],
    ['active', 'declined'],
    ['declined', 'active'],
  ] as const)(
    'refuses a change from %s to %s, which the table of states does not have, and writes nothing',
    async (from, to) => {
      const { store, write } = recording();
      const was = subscription({ status: from });
      await expect(store.commit(was, { ...was, status: to })).rejects.toThrow(`from ${from} to ${to}`);
      await expect(store.change(was, (current) => ({ ...current, status: to }))).rejects.toThrow(
        `from ${from} to ${to}`,
      );
      expect(write).not.toHaveBeenCalled();
    },
  );

  test('commits a change that the table of states has', async () => {
    const { store, write } = recording();
    const was = subscription({ status: 'active' });
    expect(await store.commit(was, { ...was, status: 'paused' })).toMatchObject({ ok: true });
    expect(write).toHaveBeenCalledOnce();
  });
});
