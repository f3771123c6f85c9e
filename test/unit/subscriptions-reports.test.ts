import { describe, expect, test } from 'vitest';
import { DAY_MS, epochSeconds, HOUR_MS, iso, SECOND_MS } from '../../shared/core/time.ts';
import {
  applyReport,
  awaitsFirstCharge,
  isAboutFormer,
  type SubscriptionReport,
} from '../../shared/subscriptions/at-provider/provider-report.ts';
import { markCanceled } from '../../shared/subscriptions/billing/lifecycle.ts';
import { openCharge } from '../../shared/subscriptions/billing/subscription-charge.ts';
import type { Subscription } from '../../shared/subscriptions/record/subscription.ts';
import { NOON } from '../builders/payment.ts';
import { subscription, trial } from '../builders/subscription.ts';

const END = NOON + 31 * DAY_MS;
const NEXT_END = END + 30 * DAY_MS;
const seconds = epochSeconds;
const first = { anchor: iso(NOON), period: 0, start: NOON, end: END };

/** A paid month billed by the provider. Without an event, the provider is read an hour after the month's end. */
const running = (fields: Partial<Subscription> = {}): Subscription =>
  subscription({
    ...{
      billingOwner: 'provider',
      status: 'active',
      version: 3,
      providerSubscriptionId: 'sub_1',
      knownAt: seconds(NOON),
    },
    ...{ currentPeriodEnd: iso(END), paidUntil: iso(END), activeSince: iso(NOON), syncAt: iso(END + HOUR_MS) },
    ...fields,
  });
/** A subscription that waits for its first charge. */
const waiting = (cause: 'create' | 'reactivate' = 'create', fields: Partial<Subscription> = {}): Subscription =>
  openCharge(subscription({ billingOwner: 'provider', ...fields }), first, { cause, now: NOON });

const month: Partial<SubscriptionReport> = {
  status: 'active',
  currentPeriodStart: seconds(NOON),
  currentPeriodEnd: seconds(END),
};
const nextMonth: Partial<SubscriptionReport> = {
  status: 'active',
  currentPeriodStart: seconds(END),
  currentPeriodEnd: seconds(NEXT_END),
};
const reported = (was: Subscription, report: Partial<SubscriptionReport>, now = NOON + HOUR_MS): Subscription =>
  applyReport(was, { at: seconds(now), ...report }, now);

describe('a new period with an unknown invoice', () => {
  test('is read hourly for three hours, then daily, until the invoice is paid', () => {
    const readAgainAt = (now: number) => reported(running(), nextMonth, now).syncAt;
    expect(readAgainAt(END + HOUR_MS)).toBe(iso(END + 2 * HOUR_MS));
    expect(readAgainAt(END + 3 * HOUR_MS)).toBe(iso(END + DAY_MS + 3 * HOUR_MS));
    const paidUntil = (end: number) =>
      reported(running(), { ...nextMonth, paidUntil: seconds(end) }, END + HOUR_MS).syncAt;
    expect(paidUntil(NEXT_END)).toBe(iso(NEXT_END + HOUR_MS));
    expect(paidUntil(NEXT_END - SECOND_MS)).toBe(iso(END + 2 * HOUR_MS));
  });

  test('is not read earlier if nothing is due', () => {
    expect(reported(running({ totalCents: 0 }), nextMonth, END + HOUR_MS).syncAt).toBe(iso(NEXT_END + HOUR_MS));
    expect(reported(running({ totalCents: 0, paidUntil: undefined }), {}).syncAt).toBe(iso(END + HOUR_MS));
  });

  test('is not read earlier in a trial', () => {
    const was = trial(10, { billingOwner: 'provider', status: 'trialing', providerSubscriptionId: 'sub_1' });
    const trialEnd = seconds(NOON + 10 * DAY_MS);
    expect(reported(was, { status: 'trialing', trialEnd }).syncAt).toBe(iso(NOON + 10 * DAY_MS + HOUR_MS));
  });
});

describe('a report without news', () => {
  test('makes no version, and stores the time of the report', () => {
    const was = running();
    expect(reported(was, month)).toEqual({
      ...was,
      retryAt: undefined,
      charge: undefined,
      knownAt: seconds(NOON + HOUR_MS),
    });
    expect(reported(was, {})).toMatchObject({ version: 3, status: 'active', cancelAtPeriodEnd: false });
  });

  test('never moves the time of the last report back', () => {
    expect(reported(running({ knownAt: seconds(END) }), month).knownAt).toBe(seconds(END));
    expect(reported(running({ knownAt: undefined }), month).knownAt).toBe(seconds(NOON + HOUR_MS));
  });
});

describe('the next lookup at the provider', () => {
  test.each([
    ['an hour after the end of the period', running(), month, END + HOUR_MS],
    [
      'in a day if the end of the period has passed',
      running({ currentPeriodEnd: iso(NOON) }),
      {},
      NOON + HOUR_MS + DAY_MS,
    ],
    ['in a day if the subscription is past due', running(), { ...month, status: 'past_due' }, NOON + HOUR_MS + DAY_MS],
    ['in a day if the subscription is paused', running(), { ...month, status: 'paused' }, NOON + HOUR_MS + DAY_MS],
  ] as const)('is %s', (...[, was, report, at]) => {
    expect(reported(was, report).syncAt).toBe(iso(at));
  });

  test('is absent after the end of the subscription', () => {
    expect(reported(running(), { ...month, status: 'canceled' }).syncAt).toBeUndefined();
  });
});

describe('a report with a status', () => {
  test.each([
    ['past_due', running(), 'past_due', 'payment_failed'],
    ['past_due without a method', running({ held: { finalAt: iso(END) } }), 'past_due', 'payment_method_unavailable'],
    ['paused', running(), 'paused', 'paused'],
    ['canceled', running(), 'canceled', 'canceled'],
    ['active after past_due', running({ status: 'past_due' }), 'active', 'renewed'],
    ['active after a pause', running({ status: 'paused' }), 'active', 'resumed'],
    ['active after a trial', running({ status: 'trialing' }), 'active', 'trial_ended'],
    ['trialing', running(), 'trialing', 'updated'],
    ['active after the first charge', waiting('create', { status: 'past_due' }), 'active', 'activated'],
    ['active after the first charge of a new subscription', waiting(), 'active', 'created'],
  ] as const)('makes the next version, with its reason: %s', (...[, was, status, reason]) => {
    const next = reported(was, { ...month, status });
    expect(next).toMatchObject({ status, reason, version: was.version + 1, updatedAt: iso(NOON + HOUR_MS) });
  });

  test('keeps the status if the report names none, but makes a new subscription past due until it is paid', () => {
    expect(reported(running({ status: 'paused' }), { cancelAtPeriodEnd: true }).status).toBe('paused');
    expect(reported(waiting(), { subscriptionId: 'sub_1' }).status).toBe('past_due');
  });

  test('sets the end time only if the subscription has ended', () => {
    expect(reported(running(), { status: 'canceled' }).canceledAt).toBe(iso(NOON + HOUR_MS));
    expect(reported(running({ canceledAt: iso(NOON) }), { status: 'past_due' }).canceledAt).toBeUndefined();
  });
});

describe('a report about a trial', () => {
  const trialEnd = seconds(NOON + 10 * DAY_MS);

  test('keeps our own trial', () => {
    const was = trial(10, { billingOwner: 'provider' });
    const next = reported(openCharge(was, first, { cause: 'create', now: NOON }), { status: 'trialing', trialEnd });
    expect(next).toMatchObject({ status: 'trialing', period: -1, reason: 'created' });
  });

  test('makes the subscription active and moves no period if the provider’s trial only covers paid time', () => {
    const next = reported(running(), { ...nextMonth, status: 'trialing', trialEnd: seconds(END), isBridge: true });
    expect(next).toMatchObject({ status: 'active', period: 0, currentPeriodEnd: iso(END), version: 3 });
    const other = trial(9, { billingOwner: 'provider', status: 'trialing', providerSubscriptionId: 'sub_1' });
    expect(reported(other, { status: 'trialing', trialEnd, isBridge: true })).toMatchObject({
      status: 'active',
      reason: 'trial_ended',
      trialEnd: other.trialEnd,
    });
  });

  test('clears the trial if the provider’s trial covered paid time and has ended', () => {
    const next = reported(running(), { ...nextMonth, status: 'active', trialEnd, isBridge: true });
    expect(next.trialEnd).toBeUndefined();
  });

  test('moves or adds a trial if the provider’s trial does not cover paid time', () => {
    const was = trial(9, {
      billingOwner: 'provider',
      status: 'trialing',
      providerSubscriptionId: 'sub_1',
      trialNoticed: true,
    });
    const moved = reported(was, { status: 'trialing', trialEnd });
    expect(moved).toMatchObject({ status: 'trialing', reason: 'updated', trialEnd: iso(trialEnd * 1_000) });
    expect(moved.trialNoticed).toBeUndefined();
    const added = reported(running(), { ...nextMonth, status: 'trialing', trialEnd: seconds(END) });
    expect(added).toMatchObject({ status: 'trialing', reason: 'updated', period: -1 });
  });

  test('uses the reported status after the trial’s end', () => {
    expect(reported(running(), { ...month, status: 'past_due', trialEnd: seconds(NOON) }).status).toBe('past_due');
  });

  test('counts as a trial even without an end time', () => {
    expect(reported(trial(9, { billingOwner: 'provider', status: 'trialing' }), { status: 'trialing' }).status).toBe(
      'trialing',
    );
    expect(reported(running(), { ...month, status: 'trialing' })).toMatchObject({ status: 'trialing', period: -1 });
  });
});

describe('a first charge at the provider', () => {
  test('makes an active subscription past due while the charge is collected, and is looked up within the hour', () => {
    const next = reported(waiting(), { ...month, isCollecting: true });
    expect(next).toMatchObject({ status: 'past_due', reason: 'created', charge: { lookAt: iso(NOON + 2 * HOUR_MS) } });
    expect(next.retryAt).toBeUndefined();
  });

  test('leaves a paused subscription paused while the charge is collected', () => {
    expect(reported(waiting(), { ...month, status: 'paused', isCollecting: true }).status).toBe('paused');
  });

  test('keeps the time of the cancellation while a reactivation is pending', () => {
    const was = waiting('reactivate', { status: 'canceled', canceledAt: iso(NOON - DAY_MS) });
    const pending = reported(was, { ...month, isCollecting: true });
    expect(pending).toMatchObject({ status: 'past_due', reason: 'reactivated', canceledAt: iso(NOON - DAY_MS) });
    const paid = reported(pending, { ...month, isPaid: true, paidUntil: seconds(END) });
    expect(paid).toMatchObject({ status: 'active', reason: 'activated' });
    expect([paid.canceledAt, paid.charge]).toEqual([undefined, undefined]);
  });

  test('is closed when the provider has collected it', () => {
    expect(reported(waiting(), month)).toMatchObject({ status: 'active', charge: undefined });
    const failedNow = reported(waiting('create', { status: 'past_due' }), { ...month, status: 'past_due', retryAt: 5 });
    expect([failedNow.charge === undefined, failedNow.retryAt]).toEqual([false, undefined]);
  });

  test('does not make an active subscription past due if the charge is a renewal', () => {
    expect(reported(running(), { ...month, isCollecting: true }).status).toBe('active');
  });

  test('is expected until it is abandoned', () => {
    const { charge } = waiting();
    expect(awaitsFirstCharge(charge)).toBe(true);
    expect(awaitsFirstCharge(charge && { ...charge, abandoned: true })).toBe(false);
    expect(awaitsFirstCharge(charge && { ...charge, cause: 'renew' })).toBe(false);
    expect(awaitsFirstCharge(undefined)).toBe(false);
  });
});

describe('the period of a report', () => {
  test('is stored with its start and end', () => {
    const next = reported(running(), { ...nextMonth, paidUntil: seconds(NEXT_END), isPaid: true }, END);
    expect(next).toMatchObject({
      ...{ currentPeriodStart: iso(END), currentPeriodEnd: iso(NEXT_END), paidUntil: iso(NEXT_END) },
      ...{ reason: 'renewed', version: 4, period: 0 },
    });
    for (const report of [{ currentPeriodStart: seconds(END) }, { currentPeriodEnd: seconds(NEXT_END) }]) {
      expect(reported(running(), report)).toMatchObject({ currentPeriodStart: iso(NOON), currentPeriodEnd: iso(END) });
    }
  });

  test('counts from the first period after a trial, and never backward', () => {
    expect(reported(trial(1, { billingOwner: 'provider', status: 'trialing' }), month).period).toBe(0);
    expect(reported(running({ period: 4 }), nextMonth).period).toBe(4);
  });

  test.each([
    ['start', { ...month, currentPeriodStart: seconds(NOON + DAY_MS) }],
    ['end', { ...month, currentPeriodEnd: seconds(END + DAY_MS) }],
  ])('causes an update if its %s has moved', (_, report) => {
    expect(reported(running(), report)).toMatchObject({ reason: 'updated', version: 4 });
  });

  test('is paid only through an invoice', () => {
    expect(reported(running(), nextMonth).paidUntil).toBe(iso(END));
    expect(reported(running(), { ...month, paidUntil: seconds(END - DAY_MS) }).paidUntil).toBe(iso(END));
    expect(reported(running({ paidUntil: undefined }), month).paidUntil).toBeUndefined();
  });

  test('is paid while the subscription is active if the subscription costs nothing', () => {
    const free = running({ totalCents: 0 });
    expect(reported(free, nextMonth).paidUntil).toBe(iso(NEXT_END));
    expect(reported(free, { ...nextMonth, status: 'past_due' }).paidUntil).toBe(iso(END));
  });
});

describe('the start of the active time', () => {
  const fresh = (fields: Partial<Subscription> = {}) =>
    running({ activeSince: undefined, paidUntil: undefined, ...fields });
  const trialEnd = iso(NOON);

  test('is the start of the first active period', () => {
    expect(reported(fresh(), { status: 'active' }).activeSince).toBe(iso(NOON));
    const next = reported(fresh(), nextMonth);
    expect(next).toMatchObject({ activeSince: iso(END), reason: 'activated' });
    expect(reported(running(), nextMonth).activeSince).toBe(iso(NOON));
  });

  test('is the start of the first paid period after a trial', () => {
    expect(reported(fresh({ trialEnd }), month).activeSince).toBeUndefined();
    expect(reported(fresh({ trialEnd }), { ...month, isPaid: true }).activeSince).toBe(iso(NOON));
    expect(reported(fresh({ trialEnd }), { ...month, isPaid: false }).activeSince).toBeUndefined();
    expect(reported(fresh({ trialEnd }), { ...month, paidUntil: seconds(END) }).activeSince).toBe(iso(NOON));
  });

  test('is absent while the subscription is past due', () => {
    expect(reported(fresh(), { ...month, status: 'past_due' }).activeSince).toBeUndefined();
  });
});

describe('the retries of the provider', () => {
  const pastDue = running({ status: 'past_due', retryAt: iso(NOON + DAY_MS) });

  test.each([
    ['the former time if none is reported', undefined, iso(NOON + DAY_MS)],
    ['no time if the provider plans none', null, undefined],
    ['the reported time', seconds(NOON + 2 * DAY_MS), iso(NOON + 2 * DAY_MS)],
  ])('have the next time: %s', (_, retryAt, expected) => {
    const next = reported(pastDue, { ...month, status: 'past_due', retryAt });
    expect(next.retryAt).toBe(expected);
    expect(next.reason).toBe(retryAt === undefined ? undefined : 'payment_failed');
  });

  test('end when the failure ends', () => {
    expect(reported(pastDue, month).retryAt).toBeUndefined();
  });
});

describe('a scheduled cancellation at the provider', () => {
  test.each([
    [false, true, 'cancel_scheduled'],
    [true, false, 'reactivated'],
  ])('changes from %s to %s with the reason %s', (before, after, reason) => {
    const next = reported(running({ cancelAtPeriodEnd: before }), { ...month, cancelAtPeriodEnd: after });
    expect(next).toMatchObject({ cancelAtPeriodEnd: after, reason, version: 4 });
  });

  test('stays unchanged if it is not reported', () => {
    expect(reported(running({ cancelAtPeriodEnd: true }), month)).toMatchObject({
      cancelAtPeriodEnd: true,
      version: 3,
    });
  });
});

describe("the provider's id of a subscription", () => {
  test('is stored from the first report that contains it, and counts as an update', () => {
    const next = reported(running({ providerSubscriptionId: undefined }), { ...month, subscriptionId: 'sub_9' });
    expect(next).toMatchObject({ providerSubscriptionId: 'sub_9', reason: 'updated', version: 4 });
    expect(reported(running({ providerSubscriptionId: undefined }), month).version).toBe(3);
  });

  test('is one cause of an update, and the end of a renewal’s charge is another', () => {
    const { charge } = waiting();
    const was = running({ charge: charge && { ...charge, cause: 'renew' } });
    expect(reported(was, { ...month, isCollecting: true })).toMatchObject({ status: 'active', reason: 'updated' });
  });

  test('is never replaced', () => {
    const next = reported(running(), { ...month, subscriptionId: 'sub_9' });
    expect(next).toMatchObject({ providerSubscriptionId: 'sub_1', version: 3 });
  });
});

describe('a subscription on hold without a method', () => {
  const held = running({ held: { finalAt: iso(END) } });
  const paused = { ...month, status: 'paused' } as const;

  test('stays active until its paid time ends, and readers do not see the pause', () => {
    expect(reported(held, paused)).toMatchObject({ status: 'active', version: 3 });
    expect(reported(held, { status: 'paused' })).toMatchObject({ status: 'active', version: 3 });
    const last = { ...paused, currentPeriodStart: seconds(END) - 1 };
    expect(reported(held, last).status).toBe('active');
  });

  test('is past due after its paid time', () => {
    const unpaid = { ...nextMonth, status: 'paused' } as const;
    expect(reported(held, unpaid)).toMatchObject({ status: 'past_due', reason: 'payment_method_unavailable' });
    const unknown = { ...held, paidUntil: undefined };
    expect(reported(unknown, unpaid).status).toBe('past_due');
    expect(reported(unknown, paused).status).toBe('active');
  });

  test('is past due after its paid time if the provider pauses it and begins no further period', () => {
    expect(reported(held, { status: 'paused' }, END - 1).status).toBe('active');
    expect(reported(held, { status: 'paused' }, END)).toMatchObject({
      status: 'past_due',
      reason: 'payment_method_unavailable',
    });
  });

  test('is paused after its trial until another method is set', () => {
    const held = trial(10, {
      ...{ billingOwner: 'provider', status: 'trialing', providerSubscriptionId: 'sub_1' },
      held: { finalAt: iso(END) },
    });
    const pausedAt = (now: number) => reported(held, { status: 'paused' }, now);
    expect(pausedAt(NOON + 10 * DAY_MS - 1)).toMatchObject({ status: 'trialing', held: { finalAt: iso(END) } });
    expect(pausedAt(NOON + 10 * DAY_MS)).toMatchObject({ status: 'paused', held: held.held, reason: 'paused' });
    expect(reported({ ...held, trialEnd: undefined }, { status: 'paused' }).status).toBe('trialing');
  });

  test('follows any report except a pause, which counts only without a hold', () => {
    expect(reported(held, { ...month, status: 'canceled' }).status).toBe('canceled');
    expect(reported(running(), paused).status).toBe('paused');
  });
});

describe('a report about an ended subscription', () => {
  const canceled = markCanceled(running(), NOON);

  test('changes nothing', () => {
    expect(reported(canceled, nextMonth)).toBe(canceled);
    const declined = subscription({ billingOwner: 'provider', status: 'declined' });
    expect(reported(declined, { ...nextMonth, paidUntil: seconds(NEXT_END) })).toBe(declined);
  });

  test('records a payment from before the end, and keeps the status', () => {
    const next = reported(canceled, { ...nextMonth, paidUntil: seconds(NEXT_END) });
    expect(next).toMatchObject({
      ...{ status: 'canceled', reason: 'renewed', paidUntil: iso(NEXT_END), version: canceled.version + 1 },
      ...{ currentPeriodStart: iso(END), currentPeriodEnd: iso(NEXT_END), canceledAt: iso(NOON) },
    });
  });

  test.each([
    ['active', 'active'],
    ['trialing', 'trialing'],
    ['paused', 'paused'],
    ['past_due', 'past_due'],
  ] as const)('reactivates the subscription only if its payer requested it: %s', (status, to) => {
    const asked = waiting('reactivate', { status: 'canceled', providerSubscriptionId: 'sub_1' });
    expect(reported(asked, { ...month, status })).toMatchObject({ status: to, reason: 'reactivated' });
    const { charge } = asked;
    const given = { ...asked, charge: charge && { ...charge, abandoned: true as const } };
    expect(reported(given, { ...month, status })).toBe(given);
  });
});

describe('the hold of a subscription', () => {
  const hold = { finalAt: iso(END) };
  const about = { ...month, subscriptionId: 'sub_1' };

  test('ends only when the provider collects again and a method is set', () => {
    expect(reported(running({ held: hold }), about).held).toBeUndefined();
    const without = { held: hold, paymentMethodId: undefined };
    expect(reported(running(without), about).held).toEqual({ ...hold, isCollecting: true });
    const collecting = running({ ...without, held: { ...hold, isCollecting: true } });
    expect(reported(collecting, { ...about, status: 'paused' }).held).toEqual(hold);
    expect(reported(running({ held: hold }), { ...about, status: 'paused' }).held).toEqual(hold);
  });

  test('does not end with an invoice, which does not prove that the provider collects', () => {
    expect(reported(running({ held: hold }), month).held).toEqual(hold);
    expect(reported(running({ held: hold }), { subscriptionId: 'sub_1', paidUntil: seconds(END) }).held).toEqual(hold);
  });

  test('keeps an already paused subscription paused', () => {
    const paused = running({ status: 'paused', held: hold, paymentMethodId: undefined });
    const unpaid = { ...nextMonth, subscriptionId: 'sub_1', status: 'paused' } as const;
    expect(reported(paused, unpaid, END + HOUR_MS).status).toBe('paused');
    expect(reported({ ...paused, status: 'active' }, unpaid, END + HOUR_MS).status).toBe('past_due');
  });
});

describe('a report about a former subscription', () => {
  const noted = { formerProviderIds: ['sub_0'], providerSubscriptionId: undefined };

  test('is recognized if its provider id differs from the record’s', () => {
    expect(isAboutFormer(running(), 'sub_0')).toBe(true);
    expect(isAboutFormer(running(), 'sub_1')).toBe(false);
    expect(isAboutFormer(running(), undefined)).toBe(false);
  });

  test('is recognized by a canceled provider id if the record has no id or waits for a later id', () => {
    expect(isAboutFormer(running(noted), 'sub_0')).toBe(true);
    expect(isAboutFormer(running(noted), 'sub_9')).toBe(false);
    const canceled = running({ ...noted, status: 'canceled' });
    expect(isAboutFormer(canceled, 'sub_0')).toBe(false);
    expect(isAboutFormer(openCharge(canceled, first, { cause: 'reactivate', now: NOON }), 'sub_0')).toBe(true);
    expect(isAboutFormer(running({ formerProviderIds: ['sub_1'] }), 'sub_1')).toBe(true);
  });
});

describe('the price in a report', () => {
  const price = { amountCents: 500, currency: 'USD' };

  test('replaces the stored price if the seller has changed it', () => {
    expect(reported(running(), { ...month, price })).toMatchObject({ totalCents: 500, subtotalCents: 500 });
  });

  const prices = { subtotalCents: 500, taxCents: 0, discountCents: 0, totalCents: 500 };
  const OTHER_PLANS: readonly (readonly [string, Partial<Subscription>])[] = [
    [
      'is scheduled',
      {
        scheduledChange: {
          id: 'chg_1',
          plan: { ...prices, billingInterval: 'monthly', intervalMultiplier: 1, quantity: 1 },
        },
      },
    ],
    ['is being sent to the provider', { priceUpdate: { id: 'chg_1', claimedAt: iso(NOON), lookAt: iso(NOON) } }],
  ];

  test.each(OTHER_PLANS)('does not replace the current period’s price while another plan %s', (_, fields) => {
    expect(reported(running(fields), { ...month, price })).toMatchObject({ totalCents: 1_900, subtotalCents: 1_900 });
  });
});
