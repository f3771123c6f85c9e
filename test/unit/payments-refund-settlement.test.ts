/** @module The settlement of a refund, from a response, an event or a later read. */
import { describe, expect, test } from 'vitest';
import type { Outcome } from '../../shared/core/outcome.ts';
import type { Settlement } from '../../shared/core/payment-facts.ts';
import { DAY_MS, HOUR_MS, iso, MINUTE_MS } from '../../shared/core/time.ts';
import { type Refund, refundOf, refundShape, refundView } from '../../shared/payments/refunds/refund.ts';
import { recordReportedRefund } from '../../shared/payments/refunds/refund-reports.ts';
import { runDueRefund } from '../../shared/payments/refunds/run-refund-due.ts';
import { recordKey } from '../../shared/platform/keys.ts';
import { recordItem } from '../../shared/platform/versioned-record.ts';
import type { ProviderRefund, RefundsPort } from '../../shared/providers/refund-port.ts';
import { NOON, payment } from '../builders/payment.ts';
import { paymentWork, UNKNOWN } from '../builders/payment-work.ts';

const GIVEN_BACK: Settlement = { feeCents: -30, netCents: -470, currency: 'USD' };
const ID = 'ref_0123456789abcdef01234567';

const refunded = (fields: Partial<Refund> = {}): Refund => ({
  ...{ id: ID, version: 2, createdAt: iso(NOON), updatedAt: iso(NOON), completedAt: iso(NOON) },
  ...{ paymentId: payment().id, amountCents: 500, currency: 'USD', status: 'succeeded', source: 'api' },
  ...{ providerId: 'provider_a', providerRefundId: 're_1', userId: 'user_1', factsAt: iso(NOON + MINUTE_MS) },
  ...fields,
});

const reported = (fields: Partial<ProviderRefund> = {}): ProviderRefund => ({
  ...{ refundId: 're_1', ourRefundId: ID, status: 'succeeded', amountCents: 500, currency: 'USD' },
  ...{ reason: undefined, failureCode: undefined, createdAt: NOON / 1_000 },
  ...fields,
});

type Listed = Outcome<readonly ProviderRefund[]>;
const listed = (...value: readonly ProviderRefund[]): Listed => ({ kind: 'done', value });

const setUp = async (refund: Refund | undefined, read: Listed = listed(reported())) => {
  const reads: number[] = [];
  const listRefunds: RefundsPort['listRefunds'] = async () => {
    reads.push(work.clock.at - NOON);
    return read;
  };
  const refunds = { listRefunds } as unknown as RefundsPort;
  const paid = payment({ status: 'succeeded', refundedCents: 500, refundedCount: 1 });
  const work = await paymentWork(paid, { refunds }, refund ? [recordItem(refundShape, refund)] : []);
  const stored = async (id = ID) => work.table.get(recordKey('RFD', id));
  return { ...work, paid, reads, stored, run: () => runDueRefund(work.deps, ID) };
};

describe('the settlement of a refund', () => {
  test('is stored from a report that includes it, and no read follows', async () => {
    const { deps, paid, stored } = await setUp(refunded());
    await recordReportedRefund(deps, { payment: paid, report: reported({ settlement: GIVEN_BACK }) });
    const item = await stored();
    expect(item).toMatchObject({ settlement: GIVEN_BACK, version: 3, status: 'succeeded' });
    expect(item).not.toHaveProperty('due_at');
  });

  test('stays unchanged after a report without news', async () => {
    const { deps, paid, stored } = await setUp(refunded({ settlement: GIVEN_BACK, factsAt: undefined }));
    for (const settlement of [undefined, GIVEN_BACK]) {
      await recordReportedRefund(deps, { payment: paid, report: reported({ settlement }) });
    }
    expect(await stored()).toMatchObject({ version: 2, settlement: GIVEN_BACK });
  });

  test.each([
    ['made here', refunded({ status: 'pending', providerRefundId: undefined, factsAt: undefined })],
    ['made at the provider', undefined],
  ])('is read a minute after the success of a refund %s', async (_, before) => {
    const { deps, paid } = await setUp(before);
    const made = await recordReportedRefund(deps, { payment: paid, report: reported() });
    expect([made.status, made.factsAt]).toEqual(['succeeded', iso(NOON + MINUTE_MS)]);
    expect(recordItem(refundShape, made)['due_at']).toBe(iso(NOON + MINUTE_MS));
  });

  test('is read only once if two functions run the due work at the same time', async () => {
    const { run, reads } = await setUp(refunded());
    expect((await Promise.all([run(), run()])).toSorted()).toEqual(['another write came first', 'no settlement']);
    expect(reads).toHaveLength(1);
  });

  test('is not read for a refund that failed', async () => {
    const { deps, paid } = await setUp(refunded());
    const failed = await recordReportedRefund(deps, { payment: paid, report: reported({ status: 'failed' }) });
    expect([failed.status, failed.factsAt]).toEqual(['failed', undefined]);
  });

  test.each([
    ['the provider does not report it', listed(reported())],
    ['the provider cannot be read', UNKNOWN],
  ])('is read three times, after a minute, an hour and a day, if %s', async (_, read) => {
    const { run, stored, clock, reads } = await setUp(refunded(), read);
    for (let runs = 0; runs < 4; runs += 1) {
      const at = (await stored())?.['due_at'];
      clock.at = at === undefined ? clock.at + DAY_MS : Date.parse(String(at));
      await run();
    }
    expect(reads).toEqual([MINUTE_MS, HOUR_MS, DAY_MS]);
    const item = await stored();
    expect(item).toMatchObject({ version: 2 });
    expect(item).not.toHaveProperty('due_at');
    expect(await run()).toBe('nothing due');
  });

  test('is stored by the read that finds it', async () => {
    const { run, stored, clock } = await setUp(refunded(), listed(reported({ settlement: GIVEN_BACK })));
    clock.at = NOON + MINUTE_MS;
    expect(await run()).toBe('settlement');
    const item = await stored();
    expect(item).toMatchObject({ settlement: GIVEN_BACK, version: 3 });
    expect(item).not.toHaveProperty('factsAt');
  });

  test('is read at the provider if an event contradicts the record, because events may arrive late', async () => {
    const older = reported({ settlement: { ...GIVEN_BACK, feeCents: 0, netCents: -500 } });
    const known = refunded({ settlement: GIVEN_BACK, factsAt: undefined });
    const { deps, paid, stored, run, reads } = await setUp(known, listed(reported({ settlement: GIVEN_BACK })));
    await recordReportedRefund(deps, { payment: paid, report: older, isEvent: true });
    expect(await stored()).toMatchObject({ settlement: GIVEN_BACK, due_at: iso(NOON), updatedAt: known.updatedAt });
    await run();
    expect(reads).toEqual([0]);
    expect(await stored()).toMatchObject({ settlement: GIVEN_BACK });
    expect(await stored()).not.toHaveProperty('due_at');
  });

  test('found by a read replaces the settlement reported by an event', async () => {
    const { deps, paid, stored } = await setUp(refunded({ settlement: GIVEN_BACK, factsAt: undefined }));
    const settlement = { ...GIVEN_BACK, feeCents: 0, netCents: -500 };
    await recordReportedRefund(deps, { payment: paid, report: reported({ settlement }) });
    expect(await stored()).toMatchObject({ settlement });
  });

  test('is not stored for an already failed refund, and the refund keeps its failure reason', async () => {
    const failed = refunded({ status: 'failed', failureCode: 'lost_or_stolen_card', factsAt: undefined });
    const { deps, paid, stored } = await setUp(failed);
    for (const status of ['succeeded', 'pending', 'failed'] as const) {
      await recordReportedRefund(deps, { payment: paid, report: reported({ status, settlement: GIVEN_BACK }) });
    }
    const item = await stored();
    expect(item).toMatchObject({ status: 'failed', failureCode: 'lost_or_stolen_card', version: 2 });
    expect(item).not.toHaveProperty('settlement');
  });

  test.each([
    ['known before', refunded({ settlement: GIVEN_BACK, factsAt: undefined }), undefined],
    ['of the same report', refunded(), GIVEN_BACK],
    ['of a refund made at the provider', undefined, GIVEN_BACK],
  ])('is dropped when the refund fails: %s', async (_, before, settlement) => {
    const { deps, paid } = await setUp(before);
    const failed = await recordReportedRefund(deps, {
      payment: paid,
      report: reported({ status: 'failed', settlement }),
    });
    expect([failed.status, failed.settlement, failed.factsAt]).toEqual(['failed', undefined, undefined]);
  });

  test('is shown to staff, but not to payers', () => {
    const known = refundOf(recordItem(refundShape, refunded({ settlement: GIVEN_BACK })));
    expect(refundView(known, 'staff')).toMatchObject({ settlement: { fee_cents: -30, net_cents: -470 } });
    expect(refundView(refunded(), 'staff')).toMatchObject({ settlement: null });
    expect(refundView(known, 'payer')).not.toHaveProperty('settlement');
  });
});
