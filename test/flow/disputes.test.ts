import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { DAY_MS, HOUR_MS, iso, SECOND_MS } from '../../shared/core/time.ts';
import { present } from '../builders/present.ts';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import {
  announcedOf,
  type Disputed,
  disputedPayment,
  expectSameDispute,
  loggedOutcomes,
  moveDisputeLater,
  readDispute,
  wordsOf,
} from './disputers.ts';
import { itemsOf, PATIENT } from './flow.ts';
import { withHost } from './host.ts';
import { PAYING_METHODS } from './refunders.ts';

/** A dispute takes the newest status, amount and due date that its provider reports, and may reopen after any end. */
const lines: string[] = [];
const service = withHost({ frozen: true, env: { ...PATIENT, LOG_LEVEL: 'WARN' } });

beforeEach(() => {
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((chunk) => lines.push(String(chunk)) > 0);
  }
});
afterEach(() => vi.restoreAllMocks());

const sync = async ({ payment, user }: Disputed): Promise<void> => {
  expect(await service.post(`/payments/sync/${payment.provider_payment_id}`, {}, user.options)).toMatchObject({
    status: 200,
  });
  await service.settle();
};

const secondsOf = (at: number): string => iso(Math.floor(at / SECOND_MS) * SECOND_MS);

describe.each(PAYING_METHODS)('a dispute at %s', (...paying) => {
  test('reopens when the provider requests evidence again', async () => {
    const disputed = await disputedPayment(service, paying);
    await moveDisputeLater(service, disputed, { status: 'under_review' });
    expect(await readDispute(service, disputed)).toMatchObject({ status: 'under_review' });
    const due = service.now() + 20 * DAY_MS;
    await moveDisputeLater(service, disputed, { status: 'needs_response', evidence_due_by: iso(due) });
    expect(await readDispute(service, disputed)).toMatchObject({
      status: 'needs_response',
      evidence_due_by: secondsOf(due),
      closed_at: null,
    });
    await expectSameDispute(service, disputed);
    expect(await wordsOf(service, disputed.payment.id)).toEqual(['opened needs_response', 'updated needs_response']);
    expect(new Set(await loggedOutcomes(service, disputed.payment.id)).has('ignored: stale')).toBe(false);
  });

  test('becomes a chargeback under the same id after its inquiry was closed', async () => {
    const disputed = await disputedPayment(service, paying, { inquiry: true });
    const opened = await readDispute(service, disputed);
    await moveDisputeLater(service, disputed, { status: 'closed' });
    expect(await readDispute(service, disputed)).toMatchObject({ status: 'closed', closed_at: expect.any(String) });
    await moveDisputeLater(service, disputed, { status: 'needs_response', inquiry: false });
    expect(await readDispute(service, disputed)).toMatchObject({
      id: present(opened).id,
      status: 'needs_response',
      closed_at: null,
    });
    await expectSameDispute(service, disputed);
    expect(await wordsOf(service, disputed.payment.id)).toEqual([
      'opened needs_response',
      'closed closed',
      'opened needs_response',
    ]);
  });

  test('has the provider’s latest due date, amount and reason', async () => {
    const disputed = await disputedPayment(service, paying);
    const due = service.now() + 12 * DAY_MS;
    await moveDisputeLater(service, disputed, { evidence_due_by: iso(due) });
    expect(await readDispute(service, disputed)).toMatchObject({ evidence_due_by: secondsOf(due) });
    await moveDisputeLater(service, disputed, { amount: 1_200 });
    const before = await readDispute(service, disputed);
    expect(before).toMatchObject({ amount_cents: 1_200 });
    await moveDisputeLater(service, disputed, { reason: 'duplicate' });
    const after = await readDispute(service, disputed);
    expect(after?.reason).toMatch(/duplicate/);
    await expectSameDispute(service, disputed);
    expect(await announcedOf(service, disputed.payment.id)).toMatchObject([
      { name: 'opened', amount: 2_500 },
      { name: 'updated', amount: 2_500, evidence_due_by: secondsOf(due) },
      { name: 'updated', amount: 1_200, evidence_due_by: secondsOf(due) },
    ]);
  });

  test('is won after an appeal, and lost again', async () => {
    const disputed = await disputedPayment(service, paying);
    for (const status of ['lost', 'won', 'lost']) {
      await moveDisputeLater(service, disputed, { status });
      expect(await readDispute(service, disputed)).toMatchObject({ status, closed_at: iso(service.now()) });
    }
    await expectSameDispute(service, disputed);
    expect(await wordsOf(service, disputed.payment.id)).toEqual([
      'opened needs_response',
      'closed lost',
      'closed won',
      'closed lost',
    ]);
  });

  test('sends reminders for the current due date', async () => {
    const disputed = await disputedPayment(service, paying);
    const own = await readDispute(service, disputed);
    await moveDisputeLater(service, disputed, { evidence_due_by: iso(service.now() + 12 * DAY_MS) });
    const reminders = () =>
      lines.filter((line) => line.includes('dispute due soon') && line.includes(present(own).id)).length;
    await service.advance(7 * DAY_SECONDS);
    expect(reminders()).toBe(0);
    await service.advance(1.5 * DAY_SECONDS);
    expect(reminders()).toBe(1);
    await service.control('POST', `/simulator/disputes/${disputed.id}`, { amount: 900 });
    await service.advance(HOUR_SECONDS);
    expect(reminders()).toBe(1);
    await service.advance(DAY_SECONDS);
    expect(reminders()).toBe(2);
    // The new date is near, so a reminder is sent immediately.
    await service.control('POST', `/simulator/disputes/${disputed.id}`, {
      evidence_due_by: iso(service.now() + 30 * HOUR_MS),
    });
    await service.advance(2 * MINUTE_SECONDS);
    expect(reminders()).toBe(3);
  });

  test('is corrected by a sync if the event of a change is missing, even from lost to open', async () => {
    const disputed = await disputedPayment(service, paying, { status: 'lost' });
    await service.webhookMode('drop');
    await moveDisputeLater(service, disputed, { status: 'needs_response', amount: 800 });
    await service.webhookMode('normal');
    expect(await readDispute(service, disputed)).toMatchObject({ status: 'lost' });
    await sync(disputed);
    await expectSameDispute(service, disputed);
    expect((await wordsOf(service, disputed.payment.id)).at(-1)).toBe('opened needs_response');
  });

  test('ignores an event older than the last event or the last read', async () => {
    const disputed = await disputedPayment(service, paying);
    const raised = await readDispute(service, disputed);
    // Events arrive an hour late, so a later event can arrive first.
    await service.webhookMode('delay');
    await moveDisputeLater(service, disputed, { status: 'under_review' });
    await service.webhookMode('normal');
    await service.advance(MINUTE_SECONDS);
    await service.control('POST', `/simulator/disputes/${disputed.id}`, { status: 'needs_response' });
    await service.settle();
    await service.advance(2 * HOUR_SECONDS);
    expect(await readDispute(service, disputed)).toEqual(raised);
    expect(await loggedOutcomes(service, disputed.payment.id)).toContain('ignored: no change');
    expect((await loggedOutcomes(service, disputed.payment.id)).at(-1)).toBe('ignored: stale');

    await service.webhookMode('delay');
    await moveDisputeLater(service, disputed, { status: 'won' });
    await service.webhookMode('drop');
    await service.advance(MINUTE_SECONDS);
    await service.control('POST', `/simulator/disputes/${disputed.id}`, { status: 'under_review' });
    await service.webhookMode('normal');
    await sync(disputed);
    expect(await readDispute(service, disputed)).toMatchObject({ status: 'under_review' });
    await service.advance(2 * HOUR_SECONDS);
    expect(await readDispute(service, disputed)).toMatchObject({ status: 'under_review' });
    expect((await loggedOutcomes(service, disputed.payment.id)).at(-1)).toBe('ignored: stale');
    await expectSameDispute(service, disputed);
  });

  test('matches the provider after several changes in one second, in any order of their events', async () => {
    const disputed = await disputedPayment(service, paying);
    await service.webhookMode('reorder');
    for (const status of ['under_review', 'needs_response', 'won', 'closed', 'needs_response']) {
      await service.control('POST', `/simulator/disputes/${disputed.id}`, { status });
    }
    await service.webhookMode('normal');
    await service.advance(2 * MINUTE_SECONDS);
    await expectSameDispute(service, disputed);
    const words = await wordsOf(service, disputed.payment.id);
    expect(words.at(-1)).toMatch(/needs_response$/);
  });

  test('is updated by the next report even if its record has no report time', async () => {
    const disputed = await disputedPayment(service, paying, { status: 'lost' });
    const own = await readDispute(service, disputed);
    const [{ reportedAt: _, reportedBy: __, ...old }] = await itemsOf(service, `DSP#${present(own).id}`);
    await service.host().connection.putItem(old, []);
    await moveDisputeLater(service, disputed, { status: 'won' });
    await expectSameDispute(service, disputed);
  });
});
