import { describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, iso } from '../../shared/core/time.ts';
import { deliveryItem } from '../../shared/event-log/delivery.ts';
import { deliveryKey } from '../../shared/platform/keys.ts';
import { endWait, runDueDelivery, waitLong } from '../../shared/webhooks/waiting-delivery.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { NOON } from '../builders/payment.ts';

const DELIVERY = {
  id: 'msg_1',
  event: 'payment.created',
  provider: 'provider_a',
  target: 'WEBHOOK_1',
  content: { body: '{"a":1}' },
};
const KEY = deliveryKey('msg_1', 'WEBHOOK_1');
const ID = 'msg_1#WEBHOOK_1';
const wait = (attempts: number, untilMs: number) => ({ postponed: { times: 2, attempts }, until: NOON + untilMs });

const rig = async ({ during = async () => undefined }: { during?: () => Promise<unknown> } = {}) => {
  const { table } = memoryTable({ now: () => NOON });
  await table.put(deliveryItem(DELIVERY, NOON));
  const sent: unknown[] = [];
  const send = async (queue: string, messages: readonly unknown[]): Promise<void> => {
    sent.push([queue, ...messages]);
    await during();
  };
  return { table, sent, deps: { table, queues: { send } } };
};

describe('a waiting delivery', () => {
  test('is queued with its number of attempts, and waits no longer', async () => {
    const { table, sent, deps } = await rig();
    await waitLong({ table, now: () => NOON }, DELIVERY, wait(5, HOUR_MS));
    expect(await table.get(KEY)).toMatchObject({ due: 'DUE#DLV', due_at: iso(NOON + HOUR_MS) });
    expect(await runDueDelivery(deps, ID)).toBe('queued');
    const body = JSON.stringify({ ...DELIVERY, postponed: { times: 2, attempts: 5 } });
    expect(sent).toEqual([['webhook-delivery', { body, group: 'WEBHOOK_1', delaySeconds: 0 }]]);
    expect(Object.keys((await table.get(KEY)) ?? {})).not.toContain('due');
    expect(await runDueDelivery(deps, ID)).toBe('not_waiting');
    expect(sent).toHaveLength(1);
  });

  test('keeps the later time of an attempt that fails before the wait has ended', async () => {
    const later = wait(6, DAY_MS);
    const failing: { again?: () => Promise<void> } = {};
    const { table, deps } = await rig({ during: async () => failing.again?.() });
    failing.again = () => waitLong({ table, now: () => NOON }, DELIVERY, later);
    await waitLong({ table, now: () => NOON }, DELIVERY, wait(5, HOUR_MS));
    await runDueDelivery(deps, ID);
    expect(await table.get(KEY)).toMatchObject({ due_at: iso(later.until), postponed: later.postponed });
  });

  test('still waits if the queue refuses the message', async () => {
    const { table, deps } = await rig({ during: () => Promise.reject(new Error('no')) });
    await waitLong({ table, now: () => NOON }, DELIVERY, wait(5, HOUR_MS));
    await expect(runDueDelivery(deps, ID)).rejects.toThrow('no');
    expect(await table.get(KEY)).toMatchObject({ due: 'DUE#DLV' });
  });

  test('stops waiting after a replay that its target accepts', async () => {
    const { table, sent, deps } = await rig();
    await waitLong({ table, now: () => NOON }, DELIVERY, wait(5, HOUR_MS));
    await endWait(table, DELIVERY);
    expect(await runDueDelivery(deps, ID)).toBe('not_waiting');
    expect(sent).toEqual([]);
  });

  test('cannot wait if it is not stored, so that the queue delivers its message again', async () => {
    const { table } = memoryTable({ now: () => NOON });
    await expect(waitLong({ table, now: () => NOON }, DELIVERY, wait(5, HOUR_MS))).rejects.toThrow('not stored');
    expect(await table.get(KEY)).toBeUndefined();
  });
});
