import { expect } from 'vitest';
import { endpoints, triggers } from '../../functions/api/catalogue.ts';
import type { Catalogue } from '../../infra/local/host/assemble.ts';
import { type Handler, loadEntry } from '../../infra/local/machine/invoke.ts';
import { DAY_MS, MINUTE_MS } from '../../shared/core/time.ts';
import { type Interval, oracleStart } from '../builders/calendar-oracle.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { itemsOf, PATIENT, signIn } from './flow.ts';
import { startTestHost, type TestHost } from './host.ts';
import type { ParsedJson } from './routes.ts';
import { command, OWN_BILLING, payer, type Subscriber, subscribe } from './subscribers.ts';

/**
 * Years of billing by the clock. An independent calendar and the provider's ledger confirm each charge, its time and
 * its amount. Every sweep runs three times concurrently, and each of its messages is delivered twice concurrently.
 */
export interface BillingPlan {
  /** Creation times of the subscriptions, as ISO dates with a time of day. */
  readonly anchors: readonly string[];
  readonly days: number;
  readonly groups: readonly SubscriptionGroup[];
}

export interface SubscriptionGroup {
  readonly interval: Interval;
  readonly multiplier: number;
  /** Number of subscriptions per anchor. */
  readonly count: number;
  readonly trialDays?: number;
  /** When the subscription is canceled, in days after its creation, and how. */
  readonly cancelAfter?: { readonly days: number; readonly atPeriodEnd: boolean };
}

interface Made {
  readonly id: string;
  readonly group: SubscriptionGroup;
  readonly amount: number;
  /** The start of the subscription's first period. */
  readonly anchor: string;
  readonly createdAt: string;
  endsAt?: string;
}

const after = (iso: string, days: number): string => new Date(Date.parse(iso) + days * DAY_MS).toISOString();

/** @returns the number of charges, after checking all of them */
export const billByTheClock = async (plan: BillingPlan): Promise<number> => {
  const service = await startTestHost({ frozen: true, env: { ...OWN_BILLING, ...PATIENT }, catalogue: RACING });
  try {
    await service.webhookMode('drop');
    const made: Made[] = [];
    await service.moveTo(plan.anchors[0] ?? '');
    const user = await signIn(service, { expires_in: 366 * DAY_SECONDS });
    const who = await payer(service, user.options);
    for (const anchor of plan.anchors) {
      await service.moveTo(anchor);
      for (const group of plan.groups) made.push(...(await makeAll(service, who, group)));
    }
    // The sweep at this full minute finds every period that started before.
    const endsAt = sweptAt(after(plan.anchors.at(-1) ?? '', plan.days));
    await cancelOnTheWay(service, user.userId, made);
    await moveOn(service, endsAt);
    return await countCharges(service, made, endsAt);
  } finally {
    await service.stop();
  }
};

/** Moves the clock in steps, because a single long move would exceed the client's time limit. */
const moveOn = async (service: TestHost, until: string): Promise<void> => {
  for (let at = after(new Date(service.now()).toISOString(), STEP_DAYS); at < until; at = after(at, STEP_DAYS)) {
    await service.moveTo(at);
  }
  await service.moveTo(until);
};
const STEP_DAYS = 100;

const three =
  (handler: Handler): Handler =>
  async (event, context) =>
    Promise.all([handler(event, context), handler(event, context), handler(event, context)]);

const twice =
  (handler: Handler): Handler =>
  async (event, context) => {
    const [answer] = await Promise.all([handler(event, context), handler(event, context)]);
    return answer;
  };

/** Repeats each sweep and each run of due work. Without stream consumers, nothing else changes the subscriptions. */
const RACING: Catalogue = {
  endpoints,
  triggers: triggers.filter(({ kind }) => kind !== 'stream'),
  load: async (id) => {
    const handler = await loadEntry(id);
    if (id === 'workers.sweep-due') return three(handler);
    return id === 'workers.run-due' ? twice(handler) : handler;
  },
};

let prices = 0;

const makeAll = async (service: TestHost, who: Subscriber, group: SubscriptionGroup): Promise<Made[]> => {
  const all: Made[] = [];
  for (let index = 0; index < group.count; index += 1) {
    prices += 1;
    const amount = 100 + prices;
    const made = await subscribe(service, who, {
      total_cents: amount,
      billing_interval: group.interval,
      interval_multiplier: group.multiplier,
      trial_days: group.trialDays ?? 0,
    });
    const anchor = made.trial_end ?? made.created_at;
    all.push({ id: made.id, group, amount, anchor, createdAt: made.created_at });
  }
  return all;
};

/** Cancels the subscriptions whose group has `cancelAfter`, in order of time, and notes the end of each. */
const cancelOnTheWay = async (service: TestHost, userId: string, made: readonly Made[]): Promise<void> => {
  const canceled = made.flatMap((one) => {
    const { cancelAfter: cancel } = one.group;
    return cancel ? [{ one, cancel, at: after(one.createdAt, cancel.days) }] : [];
  });
  for (const { one, cancel, at } of canceled.sort((a, b) => (a.at < b.at ? -1 : 1))) {
    await service.moveTo(at);
    const { options } = await signIn(service, { user_id: userId, expires_in: DAY_SECONDS });
    const who = { options, names: { customer_id: '', payment_method_id: '', provider_id: '' } };
    const answer = await command(service, who, {
      id: one.id,
      name: 'cancel',
      body: { cancel_at_period_end: cancel.atPeriodEnd },
    });
    expect(answer.status).toBe(200);
    one.endsAt = cancel.atPeriodEnd ? answer.body.current_period_end : at;
  }
};

/** The start times of the subscription's periods before `until`, or before its end. */
const dueOf = ({ anchor, group, endsAt }: Made, until: string): string[] => {
  const end = endsAt !== undefined && endsAt < until ? endsAt : until;
  const due: string[] = [];
  for (let period = 0; ; period += 1) {
    const start = oracleStart(anchor, group, period);
    if (start >= end) return due;
    due.push(start);
  }
};

/** A sweep runs at each full minute. */
const sweptAt = (due: string): string => new Date(Math.ceil(Date.parse(due) / MINUTE_MS) * MINUTE_MS).toISOString();

const countCharges = async (service: TestHost, made: readonly Made[], until: string): Promise<number> => {
  const payments = (await itemsOf(service, 'PAY#')).filter(({ sk }) => sk === 'PAY');
  const { charges } = await service.ledger();
  const bySubscription = Map.groupBy(payments, ({ subscriptionId }) => subscriptionId);
  for (const one of made) {
    const theirs: ParsedJson[] = bySubscription.get(one.id) ?? [];
    const taken = theirs
      .map(({ createdAt, sort, status, totalCents }) => ({ at: createdAt ?? sort.slice(0, 24), status, totalCents }))
      .sort((a, b) => (a.at < b.at ? -1 : 1));
    // The create request charges the first period, unless a trial precedes it. For any other period, the first sweep
    // after the period's start charges it.
    const expected = dueOf(one, until).map((due) => ({
      at: due === one.createdAt ? due : sweptAt(due),
      status: 'succeeded',
      totalCents: one.amount,
    }));
    expect({ group: one.group, anchor: one.anchor, taken }).toEqual({
      group: one.group,
      anchor: one.anchor,
      taken: expected,
    });
  }
  const ours = payments.map(({ pk, totalCents }) => `${pk.slice(4)} ${totalCents} succeeded`);
  const theirs = charges.map(({ payment_id, amount, status }) => `${payment_id} ${amount} ${status}`);
  expect(theirs.sort()).toEqual(ours.sort());
  return charges.length;
};
