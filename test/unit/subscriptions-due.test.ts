import { describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, iso, MINUTE_MS } from '../../shared/core/time.ts';
import { openCharge } from '../../shared/subscriptions/billing/subscription-charge.ts';
import { type Charge, STORED_STATUSES, type Subscription } from '../../shared/subscriptions/record/subscription.ts';
import { dueStep, nextSubscriptionDue } from '../../shared/subscriptions/record/subscription-due.ts';
import {
  firstChargeEnds,
  hasOpenAttempt,
  isFirst,
  noticeTime,
  requireSubscriptionTransition,
  SUBSCRIPTION_TRANSITIONS,
} from '../../shared/subscriptions/record/subscription-states.ts';
import { NOON } from '../builders/payment.ts';
import { subscription, trial } from '../builders/subscription.ts';

const END = NOON + 31 * DAY_MS;
const active = (fields: Partial<Subscription> = {}): Subscription =>
  subscription({ status: 'active', currentPeriodEnd: iso(END), paidUntil: iso(END), ...fields });
const charge = (fields: Partial<Charge> = {}): Charge => {
  const period = { anchor: iso(NOON), period: 1, start: END, end: END + 30 * DAY_MS };
  const opened = openCharge(active(), period, { cause: 'renew', now: END }).charge;
  if (!opened) throw new Error('no charge');
  return { ...opened, lookAt: undefined, ...fields };
};
const failed = { retryAt: iso(END + DAY_MS), finalAt: iso(END + 14 * DAY_MS) };
const transfer = {
  paymentMethodId: 'pmt_2',
  methodRef: 'pm_2',
  providerCustomerId: 'cus_2',
  claimedAt: iso(NOON),
  lookAt: iso(NOON + HOUR_MS),
};

/** The first due step and its time. */
const dueOf = (one: Subscription): readonly [string | undefined, string | undefined] => {
  const at = nextSubscriptionDue(one);
  if (at === undefined) return [undefined, undefined];
  expect(dueStep(one, Date.parse(at) - 1)).toBeUndefined();
  return [dueStep(one, Date.parse(at)), at];
};

describe('the due step of a subscription', () => {
  test.each<[string, Subscription, string | undefined, number | undefined]>([
    ['active until its period ends', active(), 'bill', END],
    ['active, canceled at the end', active({ cancelAtPeriodEnd: true }), 'cancel', END],
    ['live, and not yet confirmed by a read', active({ unconfirmedSince: iso(NOON) }), 'confirm', NOON + MINUTE_MS],
    [
      'ended, and not yet confirmed by a read',
      active({ status: 'canceled', unconfirmedSince: iso(NOON) }),
      undefined,
      undefined,
    ],
    ['past due, canceled at the end', active({ status: 'past_due', cancelAtPeriodEnd: true }), 'cancel', END],
    ['in a short trial', trial(2, { status: 'trialing', trialNoticed: true }), 'bill', NOON + 2 * DAY_MS],
    [
      'active, with an open attempt',
      active({ charge: charge({ lookAt: iso(END + MINUTE_MS) }) }),
      'check charge',
      END + MINUTE_MS,
    ],
    [
      'active, with an open attempt, canceled at the end',
      active({ charge: charge({ lookAt: iso(END + MINUTE_MS) }), cancelAtPeriodEnd: true }),
      'check charge',
      END + MINUTE_MS,
    ],
    ['a failed renewal', active({ status: 'past_due', charge: charge(failed) }), 'retry', END + DAY_MS],
    [
      'a failed renewal without retries',
      active({ status: 'past_due', charge: charge({ finalAt: failed.finalAt }) }),
      'end dunning',
      END + 14 * DAY_MS,
    ],
    ['a failed renewal without a further step', active({ status: 'past_due', charge: charge() }), undefined, undefined],
    ['active, with the charge of a failed renewal', active({ charge: charge(failed) }), undefined, undefined],
    ['past due without a charge', active({ status: 'past_due' }), undefined, undefined],
    ['paused', active({ status: 'paused' }), undefined, undefined],
    ['canceled', active({ status: 'canceled' }), undefined, undefined],
    [
      'canceled, with an open attempt',
      active({ status: 'canceled', charge: charge({ lookAt: iso(END) }) }),
      'check charge',
      END,
    ],
    [
      'creating',
      subscription({ charge: charge({ lookAt: iso(NOON + MINUTE_MS), cause: 'create' }) }),
      'check charge',
      NOON + MINUTE_MS,
    ],
    ['moving to another customer', active({ transfer }), 'transfer', NOON + HOUR_MS],
    [
      'moving to another customer, before anything else',
      active({ transfer, charge: charge({ lookAt: iso(NOON) }) }),
      'transfer',
      NOON + HOUR_MS,
    ],
    ['billed by the provider', active({ billingOwner: 'provider' }), undefined, undefined],
    [
      'billed by the provider, with a planned lookup',
      active({ billingOwner: 'provider', syncAt: iso(END + HOUR_MS) }),
      'sync',
      END + HOUR_MS,
    ],
    [
      'billed by the provider, and ended',
      active({ billingOwner: 'provider', status: 'canceled', syncAt: iso(END + HOUR_MS) }),
      undefined,
      undefined,
    ],
    [
      'held without a method, and past due',
      active({ billingOwner: 'provider', status: 'past_due', held: { finalAt: iso(END + 14 * DAY_MS) } }),
      'end dunning',
      END + 14 * DAY_MS,
    ],
    [
      'held without a method, and not past due',
      active({ billingOwner: 'provider', held: { finalAt: iso(END + 14 * DAY_MS) } }),
      undefined,
      undefined,
    ],
  ])('is correct: %s', (...[, one, step, at]) => {
    expect(dueOf(one)).toEqual([step, at === undefined ? undefined : iso(at)]);
  });

  test('is the first due step of the list, and the earliest time decides when it is due', () => {
    const start = iso(NOON);
    const pending = active({
      status: 'past_due',
      charge: charge({ cause: 'create', start, lookAt: iso(NOON + HOUR_MS) }),
    });
    expect(dueOf(pending)).toEqual(['check charge', iso(NOON + HOUR_MS)]);
    expect(dueStep(pending, NOON + 23 * HOUR_MS)).toBe('expire first charge');
  });

  test('expires a first charge that has been pending for 23 hours, but no renewal', () => {
    const first = charge({ cause: 'resume', start: iso(NOON) });
    expect(firstChargeEnds(first)).toBe(NOON + 23 * HOUR_MS);
    expect(dueOf(active({ status: 'past_due', charge: first }))).toEqual([
      'expire first charge',
      iso(NOON + 23 * HOUR_MS),
    ]);
    const renewal = charge({ start: iso(NOON), ...failed });
    expect(dueOf(active({ status: 'past_due', charge: renewal }))[0]).toBe('retry');
    expect(dueOf(active({ status: 'canceled', charge: first }))).toEqual([undefined, undefined]);
  });
});

describe('the notice of a trial’s end', () => {
  test.each([
    [10, NOON + 7 * DAY_MS],
    [3, NOON],
    [2, NOON],
  ])('is due three days before the end of a trial of %i days, or immediately if the trial is shorter', (days, at) => {
    const one = trial(days, { status: 'trialing' });
    expect(noticeTime(one)).toBe(at);
    expect(dueOf(one)).toEqual(['trial notice', iso(at)]);
  });

  test('is due only once, and only in a trial', () => {
    expect(dueOf(trial(10, { status: 'trialing', trialNoticed: true }))[0]).toBe('bill');
    expect(dueOf(trial(10, { status: 'active' }))[0]).toBe('bill');
    expect(dueOf(trial(10, { status: 'trialing', billingOwner: 'provider' }))[0]).toBe('trial notice');
    expect(noticeTime(subscription())).toBeUndefined();
    expect(dueOf(subscription({ status: 'trialing', currentPeriodEnd: iso(END) }))).toEqual(['bill', iso(END)]);
  });
});

describe('the transitions of a subscription', () => {
  /** Every legal change by its cause, as `from > to`. */
  const LEGAL: Readonly<Record<string, readonly string[]>> = {
    open: ['creating > trialing', 'creating > active'],
    charge: [
      ...[
        'creating > active',
        'creating > past_due',
        'creating > declined',
        'trialing > active',
        'trialing > past_due',
      ],
      ...['active > past_due', 'past_due > active', 'paused > active', 'paused > past_due'],
      ...['canceled > active', 'canceled > past_due'],
    ],
    dunning: ['trialing', 'active', 'past_due'].flatMap((from) => [`${from} > canceled`, `${from} > paused`]),
    trial: ['trialing > paused'],
    cancel: ['trialing', 'active', 'past_due', 'paused'].map((from) => `${from} > canceled`),
    pause: ['active > paused', 'past_due > paused'],
    resume: ['paused > active'],
    reactivate: ['canceled > active', 'canceled > trialing', 'canceled > paused'],
    provider: ['creating', 'trialing', 'active', 'past_due', 'paused'].flatMap((from) =>
      ['trialing', 'active', 'past_due', 'canceled', 'paused'].map((to) => `${from} > ${to}`),
    ),
  };

  test('have exactly these causes', () => {
    const changes = Object.entries(SUBSCRIPTION_TRANSITIONS).flatMap(([from, causes]) =>
      Object.entries(causes).flatMap(([cause, states]) => states.map((to) => `${cause}: ${from} > ${to}`)),
    );
    const legal = Object.entries(LEGAL).flatMap(([cause, all]) => all.map((change) => `${cause}: ${change}`));
    expect(changes.toSorted()).toEqual(legal.toSorted());
  });

  test.each(STORED_STATUSES)('are not stored without a cause: from %s', (from) => {
    for (const to of STORED_STATUSES) {
      const store = () => requireSubscriptionTransition(from, to);
      const isLegal = Object.values(LEGAL).some((all) => all.includes(`${from} > ${to}`));
      if (from === to || isLegal) expect(store).not.toThrow();
      else expect(store).toThrow(`no transition of a subscription from ${from} to ${to}`);
    }
  });
});

describe('a charge of a subscription', () => {
  test.each(['create', 'reactivate', 'resume'] as const)('is a first charge if the payer waits for it: %s', (cause) => {
    expect([isFirst(charge({ cause })), isFirst(charge())]).toEqual([true, false]);
  });

  test('has an open attempt until its outcome is known', () => {
    expect(hasOpenAttempt(charge({ lookAt: iso(END) }))).toBe(true);
    expect([hasOpenAttempt(charge()), hasOpenAttempt(undefined)]).toEqual([false, false]);
  });
});
