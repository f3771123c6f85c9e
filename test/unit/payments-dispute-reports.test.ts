/** @module The effect of a provider's report on a dispute, by the time of the report. */
import { describe, expect, test } from 'vitest';
import { DISPUTE_STATUSES, isClosedDispute } from '../../shared/core/money-back.ts';
import { DAY_MS, instant, iso, SECOND_MS } from '../../shared/core/time.ts';
import { type Dispute, nextReminder } from '../../shared/payments/dispute.ts';
import { decideReport, firstReport, type SeenDispute } from '../../shared/payments/dispute-report.ts';
import { findReportedDispute, recordDispute } from '../../shared/payments/dispute-store.ts';
import { paymentOf } from '../../shared/payments/payment.ts';
import { paymentItem } from '../../shared/payments/payment-item.ts';
import { paymentKey } from '../../shared/platform/keys.ts';
import type { Table } from '../../shared/platform/table.ts';
import type { ProviderDispute } from '../../shared/providers/refund-port.ts';
import { logLines } from '../builders/log-lines.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { payment } from '../builders/payment.ts';

const T = instant('2026-11-20T10:00:00.000Z');
const NOW = T + DAY_MS;

const dispute = (fields: Partial<Dispute> = {}): Dispute => ({
  ...{ id: 'dsp_1', version: 3, createdAt: iso(T - DAY_MS), updatedAt: iso(T + 500) },
  ...{ paymentId: 'pay_1', providerId: 'provider_a', providerDisputeId: 'dp_1' },
  ...{ amountCents: 2_500, currency: 'USD', status: 'under_review', reason: 'fraudulent' },
  ...{ evidenceDueBy: iso(T + 7 * DAY_MS), reportedAt: iso(T), reportedBy: 'event', ...fields },
});

const report = (fields: Partial<ProviderDispute> = {}): ProviderDispute => ({
  ...{ disputeId: 'dp_1', status: 'under_review', amountCents: 2_500, currency: 'USD', reason: 'fraudulent' },
  ...{ evidenceDueBy: (T + 7 * DAY_MS) / SECOND_MS, createdAt: T / SECOND_MS, reportedAt: undefined, ...fields },
});

const event = (at: number, fields: Partial<ProviderDispute> = {}): SeenDispute => ({
  ...{ report: report(fields), by: 'event', at },
});
const readOf = (at: number, fields: Partial<ProviderDispute> = {}): SeenDispute => ({
  ...{ report: report(fields), by: 'read', at },
});

const decide = (was: Dispute, seen: SeenDispute, now = NOW) => decideReport(was, seen, now);

const pairs = DISPUTE_STATUSES.flatMap((from) =>
  DISPUTE_STATUSES.filter((to) => to !== from).map((to) => [from, to] as const),
);

describe('a report of a dispute', () => {
  test.each(pairs)('changes %s to %s if it is newer', (from, to) => {
    const decided = decide(dispute({ status: from }), event(T + 1, { status: to }));
    expect(decided).toMatchObject({ kind: 'apply', cause: 'report', isUnclear: false });
    expect(decided.next).toMatchObject({
      ...{ status: to, version: 4, updatedAt: iso(NOW), reportedAt: iso(T + 1), reportedBy: 'event' },
      closedAt: isClosedDispute(to) ? iso(NOW) : undefined,
    });
  });

  test.each(pairs)('changes nothing if it is older: %s to %s', (from, to) => {
    const was = dispute({ status: from });
    expect(decide(was, event(T - 1, { status: to }))).toEqual({
      ...{ kind: 'ignore', reason: 'stale', isUnclear: false },
      next: was,
    });
  });

  test('moves the dispute only forward if the last report has the same time, and requires a read', () => {
    const was = dispute();
    expect(decide(was, event(T, { status: 'won' }))).toMatchObject({ kind: 'apply', cause: 'tie', isUnclear: true });
    const ignored = { kind: 'ignore', reason: 'same time', isUnclear: true, next: was };
    expect(decide(was, event(T, { status: 'needs_response' }))).toEqual(ignored);
    expect(decide(was, event(T, { amountCents: 900 }))).toEqual(ignored);
  });

  test.each([
    ['amount', { amountCents: 900 }, { amountCents: 900 }],
    ['amount between two minor units', { amountCents: 900.4 }, { amountCents: 900 }],
    ['reason', { reason: 'duplicate' }, { reason: 'duplicate' }],
    ['reason, also to no reason', { reason: null }, { reason: undefined }],
    ['currency', { currency: 'EUR' }, { currency: 'EUR' }],
    ['due date', { evidenceDueBy: (T + 9 * DAY_MS) / SECOND_MS }, { evidenceDueBy: iso(T + 9 * DAY_MS) }],
    ['due date, also to no due date', { evidenceDueBy: null }, { evidenceDueBy: undefined }],
  ])('changes the %s if it is newer', (_, fields, stored) => {
    expect(decide(dispute(), event(T + 1, fields))).toMatchObject({ kind: 'apply', next: stored });
  });

  test('keeps the fields that it does not name', () => {
    const silent = { reason: undefined, evidenceDueBy: undefined };
    expect(decide(dispute(), event(T + 1, silent))).toMatchObject({ kind: 'ignore', reason: 'no change' });
    expect(decide(dispute(), event(T + 1, { ...silent, status: 'won' })).next).toMatchObject({
      ...{ status: 'won', reason: 'fraudulent', evidenceDueBy: iso(T + 7 * DAY_MS) },
    });
  });

  test('updates only the time of the last report if it contains no news', () => {
    const was = dispute();
    expect(decide(was, event(T + 9))).toEqual({
      ...{ kind: 'ignore', reason: 'no change', isUnclear: false },
      next: { ...was, reportedAt: iso(T + 9) },
    });
    expect(decide(was, event(T)).next).toBe(was);
    expect(decide(was, event(T - 1)).next).toBe(was);
  });

  test('has the time of the provider’s object, if that object has a time', () => {
    const own = { status: 'won', reportedAt: T - 1 } as const;
    expect(decide(dispute(), event(T + DAY_MS, own))).toMatchObject({ kind: 'ignore', reason: 'stale' });
    const newer = decide(dispute(), event(T - DAY_MS, { ...own, reportedAt: T + 1 }));
    expect(newer).toMatchObject({ kind: 'apply', next: { reportedAt: iso(T + 1) } });
  });
});

describe('a read of a dispute', () => {
  test.each(pairs)('changes %s to %s', (from, to) => {
    const decided = decide(dispute({ status: from }), readOf(T + DAY_MS, { status: to }));
    expect(decided).toMatchObject({ kind: 'apply', cause: 'report', isUnclear: false });
    expect(decided.next).toMatchObject({ status: to, reportedAt: iso(T + DAY_MS), reportedBy: 'read' });
  });

  test('is dated at its own start, or at the provider’s time if that is later', () => {
    const won = { status: 'won', reportedAt: T + 1 } as const;
    expect(decide(dispute(), readOf(T + 90, won)).next).toMatchObject({ reportedAt: iso(T + 90) });
    expect(decide(dispute(), readOf(T, won)).next).toMatchObject({ reportedAt: iso(T + 1) });
  });

  test('is stale if it began more than 5 s before the last report', () => {
    const was = dispute({ reportedAt: iso(T + 5_001) });
    expect(decide(was, readOf(T, { status: 'won' }))).toMatchObject({ kind: 'ignore', reason: 'stale' });
  });

  test.each([-5_000, -1, 0, 1, 5_000])(
    'is followed by another read if clock skew could change the order: %i ms apart',
    (apart) => {
      const read = decide(dispute(), readOf(T + apart, { status: 'needs_response' }));
      expect(read).toMatchObject({ kind: 'apply', cause: 'report', isUnclear: true });
      const after = dispute({ reportedBy: 'read' });
      expect(decide(after, event(T + apart, { status: 'won' }))).toMatchObject({ isUnclear: true });
      expect(decide(after, event(T + apart))).toMatchObject({ isUnclear: false });
    },
  );

  test.each([-5_001, 5_001])('settles the order without another read if the two reports are %i ms apart', (apart) => {
    const after = dispute({ reportedBy: 'read' });
    expect(decide(after, event(T + apart, { status: 'won' }))).toMatchObject({ isUnclear: false });
  });

  test('ignores a last report with a time in the future', () => {
    const was = dispute({ reportedAt: iso(NOW + 300 * DAY_MS) });
    const read = decide(was, readOf(NOW, { status: 'lost' }));
    expect(read).toMatchObject({ kind: 'apply', next: { status: 'lost', reportedAt: iso(NOW) } });
    expect(decide(was, event(NOW, { status: 'lost' }))).toMatchObject({ kind: 'ignore', reason: 'stale' });
  });

  test('is compared with the dispute’s last change if no report time is stored', () => {
    const { reportedAt: _, reportedBy: __, ...was } = dispute();
    expect(decide(was, event(T + 500 + 5_001, { status: 'needs_response' }))).toMatchObject({
      ...{ kind: 'apply', cause: 'report', isUnclear: false },
    });
    expect(decide(was, event(T, { status: 'needs_response' }))).toMatchObject({ reason: 'stale', isUnclear: true });
  });
});

describe('the times of a dispute', () => {
  test('include the end, which is the time of the last decision', () => {
    const lost = dispute({ status: 'lost', closedAt: iso(T) });
    expect(decide(lost, event(T + 1, { status: 'won' })).next).toMatchObject({ closedAt: iso(NOW) });
    expect(decide(lost, event(T + 1, { status: 'lost', amountCents: 1 })).next).toMatchObject({ closedAt: iso(T) });
  });

  test('include the reminder, which moves only with the due date', () => {
    const was = dispute({ status: 'needs_response', remindAt: iso(T + 5 * DAY_MS) });
    const same = { status: 'needs_response', amountCents: 1 } as const;
    expect(decide(was, event(T + 1, same)).next).toMatchObject({ remindAt: iso(T + 5 * DAY_MS) });
    const moved = { ...same, evidenceDueBy: (T + 20 * DAY_MS) / SECOND_MS };
    expect(decide(was, event(T + 1, moved)).next).toMatchObject({ remindAt: iso(T + 17 * DAY_MS) });
    expect(decide(was, event(T + 1, { status: 'under_review' })).next).toMatchObject({ remindAt: undefined });
  });

  test('are all set by the first report', () => {
    expect(firstReport(event(T, { status: 'needs_response' }), NOW)).toEqual({
      ...{ status: 'needs_response', amountCents: 2_500, currency: 'USD', reason: 'fraudulent' },
      ...{ evidenceDueBy: iso(T + 7 * DAY_MS), closedAt: undefined, reportedAt: iso(T), reportedBy: 'event' },
      remindAt: nextReminder({ status: 'needs_response', evidenceDueBy: iso(T + 7 * DAY_MS) }, undefined),
    });
    expect(firstReport(readOf(T, { status: 'won' }), NOW)).toMatchObject({ closedAt: iso(NOW), reportedBy: 'read' });
  });
});

/** A paid payment in a table, with functions that record reports of its dispute and read the dispute. */
const paidPayment = async () => {
  const { table: stored } = memoryTable({ now: () => NOW });
  const paid = payment({ id: 'pay_1', status: 'succeeded', attempt: 1 });
  await stored.put(paymentItem(paid, NOW));
  let interrupt: { readonly after: number; readonly by: () => Promise<unknown> } | undefined;
  let calls = 0;
  const counted = async <T>(call: () => Promise<T>): Promise<T> => {
    calls += 1;
    const done = await call();
    const by = interrupt?.after === calls ? interrupt.by : undefined;
    if (by) interrupt = undefined;
    await by?.();
    return done;
  };
  const table: Table = {
    ...stored,
    get: (...args) => counted(() => stored.get(...args)),
    put: (...args) => counted(() => stored.put(...args)),
    transact: (steps) => counted(() => stored.transact(steps)),
  };
  const record = (seen: SeenDispute, over = stored) =>
    recordDispute({ table: over, now: () => NOW, log: logLines().log }, { payment: paid, ...seen });
  return {
    record,
    /** Records a report, and another one after the first one's n-th table call. @returns false without such a call */
    recordInterrupted: async (seen: SeenDispute, after: number, other: SeenDispute): Promise<boolean> => {
      interrupt = { after, by: () => record(other) };
      await record(seen, table);
      return interrupt === undefined;
    },
    read: async () => {
      const [found, of] = [await findReportedDispute({ table: stored }, { payment: paid, report: report() }), paid.id];
      const item = await stored.get(paymentKey(of));
      return { dispute: found, payment: item && paymentOf(item) };
    },
  };
};

describe('a dispute that is lost after a refund', () => {
  test.each([
    ['the refund overlaps the disputed amount', 600, 1],
    ['the refund is of the undisputed part', 500, 0],
  ])(
    'is logged as an anomaly only if part of the disputed amount was refunded: %s',
    async (_what, refundedCents, times) => {
      const { table } = memoryTable({ now: () => NOW });
      const paid = payment({ id: 'pay_1', status: 'succeeded', attempt: 1, totalCents: 1_000, refundedCents });
      await table.put(paymentItem(paid, NOW));
      const { log, lines } = logLines();
      const seen = event(T, { status: 'lost', amountCents: 500 });
      await recordDispute({ table, now: () => NOW, log }, { payment: paid, ...seen });
      expect(lines.filter(({ message, level }) => message === 'refund anomaly' && level === 'error')).toHaveLength(
        times,
      );
    },
  );
});

describe('two reports of one dispute at the same time', () => {
  const opened = event(T, { status: 'needs_response' });
  const answeredThen = event(T, { status: 'under_review' });
  const wonThen = event(T, { status: 'won' });
  const answered = event(T + SECOND_MS, { status: 'under_review' });
  const lost = event(T + 2 * SECOND_MS, { status: 'lost', amountCents: 2_000 });
  const sameLater = event(T + 3 * SECOND_MS, { status: 'needs_response' });
  const readLater = readOf(T + 10 * SECOND_MS, { status: 'won' });

  const PAIRS = [
    { about: 'two copies of the first report', before: [], older: opened, newer: opened },
    { about: 'the first report and a later one', before: [], older: opened, newer: lost },
    { about: 'the first report and a read', before: [], older: opened, newer: readLater },
    { about: 'two later reports', before: [opened], older: answered, newer: lost },
    { about: 'two further reports of the same time', before: [opened], older: answeredThen, newer: wonThen },
    { about: 'a later report and its copy', before: [opened], older: lost, newer: lost },
    { about: 'a later report and a read', before: [opened], older: answered, newer: readLater },
    { about: 'a later report and a still later one without news', before: [opened], older: answered, newer: sameLater },
  ];
  const both = PAIRS.flatMap(({ about, before, older, newer }) => [
    { about, order: 'the older one is interrupted', before, first: older, second: newer, newer },
    { about, order: 'the newer one is interrupted', before, first: newer, second: older, newer },
  ]);

  test.each(both)('make one record, with the values of the newer report: $about, $order', async (pair) => {
    const { before, first, second, newer } = pair;
    let isInterrupted = true;
    for (let after = 1; isInterrupted; after += 1) {
      const { record, recordInterrupted, read } = await paidPayment();
      for (const seen of before) await record(seen);
      const versionBefore = (await read()).payment?.version ?? 0;
      isInterrupted = await recordInterrupted(first, after, second);
      if (!isInterrupted) await record(second);
      const { dispute: stored, payment: paid } = await read();
      const { status, amountCents } = newer.report;
      expect({ after, stored }).toMatchObject({ after, stored: { status, amountCents, reportedAt: iso(newer.at) } });
      const isOpen = !isClosedDispute(status);
      const counted = { id: stored?.id, amountCents, ...(!isOpen && { lostAt: stored?.closedAt }) };
      expect(paid?.disputes).toEqual(isOpen || status === 'lost' ? [counted] : undefined);
      // The payment has exactly one version per version of its dispute.
      expect(paid?.version).toBe(versionBefore + (stored?.version ?? 0) - before.length);
    }
  });
});
