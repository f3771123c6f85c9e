import { describe, expect, test } from 'vitest';
import { DISPUTE_STATUSES, isClosedDispute } from '../../shared/core/money-back.ts';
import { DAY, instant, iso, SECOND } from '../../shared/core/time.ts';
import { type Dispute, nextReminder } from '../../shared/payments/dispute.ts';
import { decideReport, firstReport, type SeenDispute } from '../../shared/payments/dispute-report.ts';
import type { ProviderDispute } from '../../shared/providers/refund-port.ts';

/** What a report of the provider does to a dispute, by the time of the report. */
const T = instant('2026-11-20T10:00:00.000Z');
const NOW = T + DAY;

const dispute = (fields: Partial<Dispute> = {}): Dispute => ({
  ...{ id: 'dsp_1', version: 3, createdAt: iso(T - DAY), updatedAt: iso(T + 500) },
  ...{ paymentId: 'pay_1', providerId: 'provider_a', providerDisputeId: 'dp_1' },
  ...{ amountCents: 2_500, currency: 'USD', status: 'under_review', reason: 'fraudulent' },
  ...{ evidenceDueBy: iso(T + 7 * DAY), reportedAt: iso(T), reportedBy: 'event', ...fields },
});

const report = (fields: Partial<ProviderDispute> = {}): ProviderDispute => ({
  ...{ disputeId: 'dp_1', status: 'under_review', amountCents: 2_500, currency: 'USD', reason: 'fraudulent' },
  ...{ evidenceDueBy: (T + 7 * DAY) / SECOND, createdAt: T / SECOND, reportedAt: undefined, ...fields },
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
  test.each(pairs)('that is newer takes %s to %s', (from, to) => {
    const decided = decide(dispute({ status: from }), event(T + 1, { status: to }));
    expect(decided).toMatchObject({ kind: 'apply', cause: 'report', isUnclear: false });
    expect(decided.next).toMatchObject({
      ...{ status: to, version: 4, updatedAt: iso(NOW), reportedAt: iso(T + 1), reportedBy: 'event' },
      closedAt: isClosedDispute(to) ? iso(NOW) : undefined,
    });
  });

  test.each(pairs)('that is older changes nothing: %s to %s', (from, to) => {
    const was = dispute({ status: from });
    expect(decide(was, event(T - 1, { status: to }))).toEqual({
      ...{ kind: 'ignore', reason: 'stale', isUnclear: false },
      next: was,
    });
  });

  test('of the same time moves the dispute only forward, and needs a read', () => {
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
    ['reason: none', { reason: null }, { reason: undefined }],
    ['currency', { currency: 'EUR' }, { currency: 'EUR' }],
    ['due date', { evidenceDueBy: (T + 9 * DAY) / SECOND }, { evidenceDueBy: iso(T + 9 * DAY) }],
    ['due date: none', { evidenceDueBy: null }, { evidenceDueBy: undefined }],
  ])('that is newer brings another %s', (_, fields, stored) => {
    expect(decide(dispute(), event(T + 1, fields))).toMatchObject({ kind: 'apply', next: stored });
  });

  test('leaves what it does not name', () => {
    const silent = { reason: undefined, evidenceDueBy: undefined };
    expect(decide(dispute(), event(T + 1, silent))).toMatchObject({ kind: 'ignore', reason: 'no change' });
    expect(decide(dispute(), event(T + 1, { ...silent, status: 'won' })).next).toMatchObject({
      ...{ status: 'won', reason: 'fraudulent', evidenceDueBy: iso(T + 7 * DAY) },
    });
  });

  test('that says nothing new only moves the time of the last report', () => {
    const was = dispute();
    expect(decide(was, event(T + 9))).toEqual({
      ...{ kind: 'ignore', reason: 'no change', isUnclear: false },
      next: { ...was, reportedAt: iso(T + 9) },
    });
    expect(decide(was, event(T)).next).toBe(was);
    expect(decide(was, event(T - 1)).next).toBe(was);
  });

  test('counts at the provider’s own time, where its object has one', () => {
    const own = { status: 'won', reportedAt: T - 1 } as const;
    expect(decide(dispute(), event(T + DAY, own))).toMatchObject({ kind: 'ignore', reason: 'stale' });
    const newer = decide(dispute(), event(T - DAY, { ...own, reportedAt: T + 1 }));
    expect(newer).toMatchObject({ kind: 'apply', next: { reportedAt: iso(T + 1) } });
  });
});

describe('a read of a dispute', () => {
  test.each(pairs)('takes %s to %s', (from, to) => {
    const decided = decide(dispute({ status: from }), readOf(T + DAY, { status: to }));
    expect(decided).toMatchObject({ kind: 'apply', cause: 'report', isUnclear: false });
    expect(decided.next).toMatchObject({ status: to, reportedAt: iso(T + DAY), reportedBy: 'read' });
  });

  test('counts when it started, or at a later time of the provider', () => {
    const won = { status: 'won', reportedAt: T + 1 } as const;
    expect(decide(dispute(), readOf(T + 90, won)).next).toMatchObject({ reportedAt: iso(T + 90) });
    expect(decide(dispute(), readOf(T, won)).next).toMatchObject({ reportedAt: iso(T + 1) });
  });

  test('that began long before the last report is stale', () => {
    const was = dispute({ reportedAt: iso(T + 5_001) });
    expect(decide(was, readOf(T, { status: 'won' }))).toMatchObject({ kind: 'ignore', reason: 'stale' });
  });

  test.each([-5_000, -1, 0, 1, 5_000])('is followed by another where clocks could deceive: %i ms apart', (apart) => {
    const read = decide(dispute(), readOf(T + apart, { status: 'needs_response' }));
    expect(read).toMatchObject({ kind: 'apply', cause: 'report', isUnclear: true });
    const after = dispute({ reportedBy: 'read' });
    expect(decide(after, event(T + apart, { status: 'won' }))).toMatchObject({ isUnclear: true });
    expect(decide(after, event(T + apart))).toMatchObject({ isUnclear: false });
  });

  test.each([-5_001, 5_001])('settles the order by itself %i ms apart', (apart) => {
    const after = dispute({ reportedBy: 'read' });
    expect(decide(after, event(T + apart, { status: 'won' }))).toMatchObject({ isUnclear: false });
  });

  test('is not held up by a time that has not come yet', () => {
    const was = dispute({ reportedAt: iso(NOW + 300 * DAY) });
    const read = decide(was, readOf(NOW, { status: 'lost' }));
    expect(read).toMatchObject({ kind: 'apply', next: { status: 'lost', reportedAt: iso(NOW) } });
    expect(decide(was, event(NOW, { status: 'lost' }))).toMatchObject({ kind: 'ignore', reason: 'stale' });
  });

  test('of a dispute that was recorded before reports had a time counts against its last change', () => {
    const { reportedAt: _, reportedBy: __, ...was } = dispute();
    expect(decide(was, event(T + 500 + 5_001, { status: 'needs_response' }))).toMatchObject({
      ...{ kind: 'apply', cause: 'report', isUnclear: false },
    });
    expect(decide(was, event(T, { status: 'needs_response' }))).toMatchObject({ reason: 'stale', isUnclear: true });
  });
});

describe('the times of a dispute', () => {
  test('the end is that of the last decision', () => {
    const lost = dispute({ status: 'lost', closedAt: iso(T) });
    expect(decide(lost, event(T + 1, { status: 'won' })).next).toMatchObject({ closedAt: iso(NOW) });
    expect(decide(lost, event(T + 1, { status: 'lost', amountCents: 1 })).next).toMatchObject({ closedAt: iso(T) });
  });

  test('the reminder follows the due date, and stays where the date stays', () => {
    const was = dispute({ status: 'needs_response', remindAt: iso(T + 5 * DAY) });
    const same = { status: 'needs_response', amountCents: 1 } as const;
    expect(decide(was, event(T + 1, same)).next).toMatchObject({ remindAt: iso(T + 5 * DAY) });
    const moved = { ...same, evidenceDueBy: (T + 20 * DAY) / SECOND };
    expect(decide(was, event(T + 1, moved)).next).toMatchObject({ remindAt: iso(T + 17 * DAY) });
    expect(decide(was, event(T + 1, { status: 'under_review' })).next).toMatchObject({ remindAt: undefined });
  });

  test('a first report has them all', () => {
    expect(firstReport(event(T, { status: 'needs_response' }), NOW)).toEqual({
      ...{ status: 'needs_response', amountCents: 2_500, currency: 'USD', reason: 'fraudulent' },
      ...{ evidenceDueBy: iso(T + 7 * DAY), closedAt: undefined, reportedAt: iso(T), reportedBy: 'event' },
      remindAt: nextReminder({ status: 'needs_response', evidenceDueBy: iso(T + 7 * DAY) }, undefined),
    });
    expect(firstReport(readOf(T, { status: 'won' }), NOW)).toMatchObject({ closedAt: iso(NOW), reportedBy: 'read' });
  });
});
