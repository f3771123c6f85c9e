import { expect, test } from 'vitest';
import { SECOND_MS } from '../../shared/core/time.ts';
import { disputeIdOf, disputeKey, disputeOf } from '../../shared/payments/dispute.ts';
import { recordDispute } from '../../shared/payments/dispute-store.ts';
import { paymentItem } from '../../shared/payments/payment-item.ts';
import { putAlias } from '../../shared/platform/alias.ts';
import type { Table } from '../../shared/platform/table.ts';
import type { ProviderDispute } from '../../shared/providers/refund-port.ts';
import { applyMoneyBackEvent } from '../../shared/webhooks/money-back-event.ts';
import { logLines } from '../builders/log-lines.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { NOON, payment } from '../builders/payment.ts';

const SLOT = 'provider_a';
const CHARGE = { providerId: SLOT, externalId: 'ch_1' } as const;
const NOW = NOON + 60 * SECOND_MS;
const paid = payment({ id: 'pay_1', status: 'succeeded', attempt: 1 });
const report = (status: ProviderDispute['status']): ProviderDispute => ({
  ...{ disputeId: 'dp_1', status, amountCents: 2_500, currency: paid.currency, reason: 'fraudulent' },
  ...{ evidenceDueBy: undefined, createdAt: NOON / SECOND_MS, reportedAt: undefined },
});

test('a dispute event triggers a read if another event of the same second is stored concurrently', async () => {
  const { table } = memoryTable({ now: () => NOW });
  const common = { now: () => NOW, log: logLines().log };
  const record = (status: ProviderDispute['status'], at: number) =>
    recordDispute({ table, ...common }, { payment: paid, report: report(status), by: 'event', at });
  await table.put(paymentItem(paid, NOW));
  await putAlias(table, CHARGE, { kind: 'PAY', id: paid.id });
  await record('needs_response', NOON - SECOND_MS);
  const key = disputeKey(disputeIdOf(SLOT, 'dp_1'));
  let reads = 0;
  const get: Table['get'] = async (asked, ...rest) => {
    if (asked.pk === key.pk) reads += 1;
    // The first read checks whether the order is clear. The second read begins the change.
    if (asked.pk === key.pk && reads === 2) await record('lost', NOON);
    return table.get(asked, ...rest);
  };
  const listDisputes = async () => ({ kind: 'done', value: [report('closed')] });
  const deps = {
    ...common,
    table: { ...table, get },
    providers: { require: async () => ({ refunds: { listDisputes } }) },
  };
  const object = { id: 'dp_1', chargedAs: [CHARGE.externalId], dispute: report('closed') };
  await applyMoneyBackEvent(
    deps as unknown as Parameters<typeof applyMoneyBackEvent>[0],
    {
      slot: SLOT,
      type: 'dispute.updated',
      event: { id: 'evt_1', rawType: 'charge.dispute.closed', createdAt: NOON / SECOND_MS, object },
    } as unknown as Parameters<typeof applyMoneyBackEvent>[1],
  );
  const item = await table.get(key);
  expect(item && disputeOf(item)).toMatchObject({ status: 'closed', reportedBy: 'read' });
});
