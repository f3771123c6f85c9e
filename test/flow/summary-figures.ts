/** @module Random weeks of a shop, and its figures computed only from lists of records. */

import fc from 'fast-check';
import { expect } from 'vitest';
import { DAY_MS } from '../../shared/core/time.ts';
import { present } from '../builders/present.ts';
import { HOUR_SECONDS, YEAR_SECONDS } from '../builders/seconds.ts';
import { requestErasure, untilErased } from './erasures.ts';
import { confirm, createIntent, signIn, type User } from './flow.ts';
import type { RequestOptions, TestHost } from './host.ts';
import { createCustomer } from './payers.ts';
import { plan } from './plan-changes.ts';
import { refund } from './refunders.ts';
import type { ParsedJson } from './routes.ts';
import { command, type Subscriber, subscriber, trySubscribe } from './subscribers.ts';

const METHODS = [
  ['provider_a', 'pm_card_visa'],
  ['provider_a', 'pm_sim_settles_eur'],
  ['provider_a', 'pm_card_chargeDeclined'],
  ['provider_b', 'SIM-OK'],
  ['provider_c', 'cnon:card-nonce-ok'],
] as const;
const PLANS = [
  { billing_interval: 'monthly' },
  { billing_interval: 'yearly' },
  { billing_interval: 'quarterly', currency: 'EUR' },
  { billing_interval: 'weekly', interval_multiplier: 3 },
  { billing_interval: 'daily', interval_multiplier: 10 },
  { billing_interval: 'monthly', interval_multiplier: 7, currency: 'EUR' },
  { billing_interval: 'monthly', trial_days: 20 },
] as const;

const pick = fc.nat(1_000);
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('pay' as const), of: pick, cents: fc.integer({ min: 100, max: 9_999 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('guest pays' as const),
      of: pick,
      cents: fc.integer({ min: 100, max: 999 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('refund' as const),
      of: pick,
      cents: fc.option(fc.integer({ min: 1, max: 90 })),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('dispute' as const),
      of: pick,
      cents: fc.constantFrom('won', 'lost', 'lost'),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('subscribe' as const), of: pick, cents: fc.nat() }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('change', 'pause', 'resume', 'cancel', 'reactivate'),
      of: pick,
      cents: fc.nat(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('wait' as const), of: fc.integer({ min: 1, max: 9 }), cents: fc.nat() }),
  },
);
type Step = Parameters<Parameters<(typeof step)['map']>[0]>[0];

/** The random steps of a seed, which are the same on every run. */
export const weeksOf = (seed: number, steps: number): readonly Step[] => fc.sample(step, { seed, numRuns: steps });

interface Recurring {
  readonly mrr_cents: number;
  readonly active_subscriptions: number;
  readonly past_due_subscriptions: number;
}

export interface Shop {
  readonly service: TestHost;
  readonly admin: User;
  readonly users: User[];
  readonly subscriptions: { readonly who: Subscriber; readonly id: string }[];
  readonly plans: readonly string[];
  /** Recurring revenue at the end of each visited day, by day and currency. */
  readonly recurring: Map<string, Map<string, Recurring>>;
  /** The payer of each payment, recorded before any erasure. */
  readonly payers: Map<string, string>;
}

export const openShop = async (service: TestHost): Promise<Shop> => {
  const admin = await signIn(service, { is_admin: true, expires_in: YEAR_SECONDS });
  const users = await Promise.all(Array.from({ length: 6 }, () => signIn(service, { expires_in: YEAR_SECONDS })));
  // This user's payments name a customer, so they are deleted with the customer.
  for (const provider_id of ['provider_a', 'provider_b', 'provider_c']) {
    await createCustomer(service, present(users[1]).options, { provider_id });
  }
  const plans: string[] = [];
  for (const [index, fields] of PLANS.entries()) plans.push(await plan(service, 1_499 + 1_000 * index, fields));
  return { service, admin, users, subscriptions: [], plans, recurring: new Map(), payers: new Map() };
};

const oneOf = <T>(list: readonly T[], of: number): T | undefined => list[of % Math.max(1, list.length)];

const pay = async ({ service, users }: Shop, { of, cents }: { of: number; cents: number }): Promise<void> => {
  const user = oneOf(users, of);
  const [provider_id, payment_method_id] = oneOf(METHODS, cents) ?? METHODS[0];
  if (!user) return;
  const currency = cents % 4 === 0 && provider_id === 'provider_a' ? 'EUR' : 'USD';
  const fields = { total_cents: cents, currency, provider_id, payment_method_id };
  const { id } = await createIntent(service, user, fields);
  await confirm(service, id, user.options);
};

/** A guest pays. The few guests return with the same e-mail addresses. */
const payAsGuest = async ({ service }: Shop, { of, cents }: { of: number; cents: number }): Promise<void> => {
  const guest_data = { email: GUESTS[of % GUESTS.length], name: 'Gus' };
  const body = { total_cents: cents, currency: 'USD', provider_id: 'provider_a', payment_method_id: 'pm_card_visa' };
  const made = await service.post('/payments/intents', { ...body, guest_data }, {});
  expect(made).toMatchObject({ status: 201 });
  const { id, guest_token: guestToken } = made.body;
  expect(await confirm(service, id, { guestToken })).toMatchObject({ status: 200 });
};
const GUESTS = ['gus@example.com', 'Gus@example.com', 'gina@example.com', 'gaby@example.com'];

const subscribeOne = async (shop: Shop, { of, cents }: { of: number; cents: number }): Promise<void> => {
  const { service, plans, subscriptions } = shop;
  const token = ['pm_card_visa', 'pm_card_chargeCustomerFail'][Number(of % 4 === 0)] ?? '';
  const who = await subscriber(service, token);
  shop.users.push(who.user);
  const made = await trySubscribe(service, who, {
    ...{ subtotal_cents: undefined, total_cents: undefined, currency: undefined, billing_interval: undefined },
    product_id: oneOf(plans, cents),
  });

  if (made.status === 201) subscriptions.push({ who, id: made.body.id });
};

const changeOne = async (
  { service, subscriptions, plans }: Shop,
  { do: name, of, cents }: { do: string; of: number; cents: number },
) => {
  const held = oneOf(subscriptions, of);
  if (!held) return;
  if (name === 'change') {
    await service.post(`/subscriptions/${held.id}/change`, { product_id: oneOf(plans, cents) }, held.who.options);
    return;
  }
  const body = name === 'cancel' ? { at_period_end: cents % 2 === 0 } : {};
  const known = ['cancel', 'reactivate', 'pause', 'resume'] as const;
  const wanted = known.find((one) => one === name);
  if (wanted) await command(service, held.who, { id: held.id, name: wanted, body });
};

export const live = async (shop: Shop, taken: Step): Promise<void> => {
  const { service, admin } = shop;
  await service.advance(2 * HOUR_SECONDS);
  switch (taken.do) {
    case 'pay':
      await pay(shop, taken);
      break;
    case 'guest pays':
      await payAsGuest(shop, taken);
      break;
    case 'subscribe':
      await subscribeOne(shop, taken);
      break;
    case 'wait':
      await lookDaily(shop, taken.of);
      break;
    case 'refund':
    case 'dispute': {
      const paid = oneOf(
        (await everyOf(shop, '/admin/payments')).filter(({ status }) => status === 'succeeded'),
        taken.of,
      );
      if (!paid) break;
      if (taken.do === 'refund') {
        await refund(service, paid.id, {
          ...admin.options,
          body: taken.cents === null ? {} : { amount_cents: taken.cents },
        });
      } else {
        const path = `/_local/simulator/payments/${paid.id}/disputes`;
        await service.request('POST', path, {
          body: JSON.stringify({ amount: Math.min(90, paid.total_cents), status: taken.cents }),
        });
      }
      break;
    }
    default:
      await changeOne(shop, taken);
  }
  await service.settle();
};

/** Moves the clock day by day, and records each day's recurring revenue. */
const lookDaily = async (shop: Shop, days: number): Promise<void> => {
  const { service } = shop;
  for (let day = 0; day < days; day += 1) {
    const intoDay = service.now() % DAY_MS;
    await service.advance(Math.floor((DAY_MS - intoDay) / 1_000) - 1);
    await service.settle();
    shop.recurring.set(
      dayOf(new Date(service.now()).toISOString()),
      recurringOf(await everyOf(shop, '/admin/subscriptions')),
    );
    await service.advance(HOUR_SECONDS);
    await service.settle();
  }
};

/** Erases a paying user and a paying guest. */
export const erasePeople = async (shop: Shop): Promise<void> => {
  const { service, admin, payers } = shop;
  for (const payment of await everyOf(shop, '/admin/payments')) payers.set(payment.id, payerOf(payment));
  for (const body of [{ user_id: shop.users[0]?.userId }, { email: 'gus@example.com' }]) {
    const { id } = await requestErasure(service, admin.options, body);
    await untilErased(service, admin.options, { id });
  }
};

/** Deletes all customers of a person, with their payments and refunds. @returns the number of deleted payments */
export const deleteCustomers = async (shop: Shop): Promise<number> => {
  const { service, users } = shop;
  const user = users[1];
  if (!user) return 0;
  const before = (await everyOf(shop, '/admin/payments')).length;
  const { body } = await service.get('/customers', user.options);
  for (const { id } of body) {
    expect(await service.request('DELETE', `/customers/${id}`, user.options)).toMatchObject({ status: 204 });
  }
  await service.settle();
  return before - (await everyOf(shop, '/admin/payments')).length;
};

const dayOf = (time: string): string => time.slice(0, 10);

/** All records of a list from the last 200 days. Without `from`, a list covers 30 days. */
const everyOf = async ({ service, admin }: Pick<Shop, 'service' | 'admin'>, path: string): Promise<ParsedJson[]> => {
  const records: ParsedJson[] = [];
  const from = dayOf(new Date(service.now() - 200 * DAY_MS).toISOString());
  let cursor = '';
  do {
    const { status, body } = await listed(service, `${path}?limit=100&from=${from}${cursor}`, admin.options);
    expect({ status, body }).toMatchObject({ status: 200 });
    records.push(...body.data);
    const next = body.meta.next_cursor ?? null;
    cursor = next === null ? '' : `&cursor=${next}`;
  } while (cursor !== '');
  return records;
};

const listed = (
  service: TestHost,
  path: string,
  options: RequestOptions,
): Promise<{ status: number; body: ParsedJson }> => service.request('GET', path, options);

const payerOf = ({ organization_id, user_id, guest_email }: ParsedJson): string =>
  organization_id ?? user_id ?? String(guest_email).toLowerCase();

const PER_MONTH: Readonly<Record<string, readonly [number, number]>> = {
  daily: [365, 12],
  weekly: [52, 12],
  monthly: [1, 1],
  quarterly: [1, 3],
  yearly: [1, 12],
};

/** The number of parts of a cent. It is divisible by the months of every interval times any multiplier up to ten. */
const PARTS = 1_814_400n;

const recurringOf = (subscriptions: readonly ParsedJson[]): Map<string, Recurring> => {
  const found = new Map<string, { parts: bigint; active: number; pastDue: number }>();
  for (const { status, currency, total_cents, billing_interval, interval_multiplier } of subscriptions) {
    const sums = found.get(currency) ?? { parts: 0n, active: 0, pastDue: 0 };
    found.set(currency, sums);
    if (status === 'active') sums.active += 1;
    if (status === 'past_due') sums.pastDue += 1;
    if (status !== 'active' && status !== 'past_due') continue;
    const [periods, months] = PER_MONTH[billing_interval] ?? [1, 1];
    sums.parts += (BigInt(total_cents) * PARTS * BigInt(periods)) / BigInt(months * interval_multiplier);
  }
  return new Map(
    [...found].map(([currency, { parts, active, pastDue }]) => [
      currency,
      {
        mrr_cents: Number((2n * parts + PARTS) / (2n * PARTS)),
        active_subscriptions: active,
        past_due_subscriptions: pastDue,
      },
    ]),
  );
};

interface Figures {
  count: number;
  amount_cents: number;
  refunded_count: number;
  refunded_cents: number;
  lost_cents: number;
  new_payers: number;
  readonly settled: Map<string, { fee: number; net: number }>;
}

const halfUp = (top: number, bottom: number): number => Math.floor((2 * top + bottom) / (2 * bottom));

interface Days {
  readonly rows: Map<string, Figures>;
  readonly rowAt: (time: string, currency: string) => Figures;
}

const noDays = (): Days => {
  const rows = new Map<string, Figures>();
  const rowAt = (time: string, currency: string): Figures => {
    const key = `${dayOf(time)} ${currency}`;
    const none = { count: 0, amount_cents: 0, refunded_count: 0, refunded_cents: 0, lost_cents: 0, new_payers: 0 };
    const row = rows.get(key) ?? { ...none, settled: new Map() };
    rows.set(key, row);
    return row;
  };
  return { rows, rowAt };
};

const settle = (row: Figures, currency: string, { fee = 0, net = 0 }): void => {
  const sums = row.settled.get(currency) ?? { fee: 0, net: 0 };
  row.settled.set(currency, { fee: sums.fee + fee, net: sums.net + net });
};

/** The currency, fee and net amount of a settlement. Without a settlement, the net amount is the amount itself. */
const settledOf = ({ settlement, currency }: ParsedJson, amount: number) =>
  settlement === null
    ? { currency, fee: 0, net: amount }
    : { currency: settlement.currency, fee: settlement.fee_cents, net: settlement.net_cents };

const addPayments = ({ rowAt }: Days, shop: Shop, paid: readonly ParsedJson[]): void => {
  const seen = new Set<string>();
  for (const payment of paid.toSorted((one, other) => (one.completed_at < other.completed_at ? -1 : 1))) {
    const row = rowAt(payment.completed_at, payment.currency);
    row.count += 1;
    row.amount_cents += payment.total_cents;
    const settled = settledOf(payment, payment.total_cents);
    settle(row, settled.currency, settled);
    const payer = shop.payers.get(payment.id) ?? payerOf(payment);
    if (!seen.has(payer)) row.new_payers += 1;
    seen.add(payer);
  }
};

const addRefunds = ({ rowAt }: Days, refunds: readonly ParsedJson[]): void => {
  for (const one of refunds.filter(({ status }) => status === 'succeeded')) {
    const row = rowAt(one.completed_at, one.currency);
    row.refunded_count += 1;
    row.refunded_cents += one.amount_cents;
    const settled = settledOf(one, -one.amount_cents);
    settle(row, settled.currency, settled);
  }
};

const addLosses = ({ rowAt }: Days, paid: readonly ParsedJson[], disputes: readonly ParsedJson[]): void => {
  for (const one of disputes.filter(({ status }) => status === 'lost')) {
    const row = rowAt(one.closed_at, one.currency);
    row.lost_cents += one.amount_cents;
    const payment = paid.find(({ id }) => id === one.payment_id);
    const { currency, fee, net } = settledOf(payment, payment.total_cents);
    const isSame = currency === payment.currency;
    const loss = isSame ? one.amount_cents : halfUp(one.amount_cents * (fee + net), payment.total_cents);
    settle(row, currency, { net: -loss });
  }
};

/** The figures per day, from the records. @returns by day and currency */
const figuresOf = async (shop: Shop): Promise<Map<string, Figures>> => {
  const payments = await everyOf(shop, '/admin/payments');
  const paid = payments.filter(({ status }) => status === 'succeeded');
  const days = noDays();
  addPayments(days, shop, paid);
  addRefunds(days, await everyOf(shop, '/refunds'));
  addLosses(days, paid, await everyOf(shop, '/disputes'));
  return days.rows;
};

const shownRow = ({ settled, ...figures }: Figures) => ({
  ...figures,
  settlements: [...settled]
    .filter(([, { fee, net }]) => fee !== 0 || net !== 0)
    .map(([currency, { fee, net }]) => ({ currency, fee_cents: fee, net_cents: net }))
    .toSorted((one, other) => (one.currency < other.currency ? -1 : 1)),
});

const added = (rows: readonly Figures[]): Figures => {
  const settled = new Map<string, { fee: number; net: number }>();
  for (const row of rows) {
    for (const [currency, { fee, net }] of row.settled) {
      const sums = settled.get(currency) ?? { fee: 0, net: 0 };
      settled.set(currency, { fee: sums.fee + fee, net: sums.net + net });
    }
  }
  const sum = (name: Exclude<keyof Figures, 'settled'>): number => rows.reduce((total, row) => total + row[name], 0);
  return {
    count: sum('count'),
    amount_cents: sum('amount_cents'),
    refunded_count: sum('refunded_count'),
    refunded_cents: sum('refunded_cents'),
    lost_cents: sum('lost_cents'),
    new_payers: sum('new_payers'),
    settled,
  };
};

const NO_RECURRING: Recurring = { mrr_cents: 0, active_subscriptions: 0, past_due_subscriptions: 0 };

/**
 * Expects that the summary of the last days equals the records in rows, totals, previous period and recurring revenue.
 * @returns the number of compared recurring revenues, one per day and currency
 */
export const expectFigures = async (shop: Shop, days: number): Promise<number> => {
  const { service, admin } = shop;
  await service.settle();
  const now = service.now();
  const today = dayOf(new Date(now).toISOString());
  const dayAgo = (count: number): string => dayOf(new Date(Date.parse(today) - count * DAY_MS).toISOString());
  const [from, start] = [dayAgo(days - 1), dayAgo(2 * days - 1)];
  const { status, body } = await listed(service, `/admin/summary?from=${from}&to=${today}`, admin.options);
  expect({ status, body }).toMatchObject({ status: 200 });
  const rows = [...(await figuresOf(shop))].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const within = rows.filter(([key]) => dayOf(key) >= from);
  expect(body.data).toEqual(
    within.map(([key, figures]) => ({ period: dayOf(key), currency: key.slice(-3), ...shownRow(figures) })),
  );
  expect(body.meta.before).toEqual({ from: start, to: dayAgo(days) });
  const present = recurringOf(await everyOf(shop, '/admin/subscriptions'));
  for (const { currency, before, ...total } of body.meta.totals) {
    const own = rows.filter(([key]) => key.endsWith(currency));
    const sumOf = (first: string, last: string) =>
      shownRow(added(own.filter(([key]) => dayOf(key) >= first && dayOf(key) <= last).map(([, row]) => row)));
    expect({ currency, ...total }).toEqual({
      currency,
      ...sumOf(from, today),
      ...(present.get(currency) ?? NO_RECURRING),
    });
    expect({ currency, before }).toEqual({
      currency,
      before: {
        ...sumOf(start, dayAgo(days)),
        ...(shop.recurring.get(dayAgo(days))?.get(currency) ?? {
          mrr_cents: before.mrr_cents,
          active_subscriptions: before.active_subscriptions,
          past_due_subscriptions: before.past_due_subscriptions,
        }),
      },
    });
  }
  const shown = body.meta.subscriptions
    .filter(({ period }: ParsedJson) => shop.recurring.has(period))
    .map(({ period, currency, ...recurring }: ParsedJson) => [`${currency} ${period}`, recurring]);
  const noted = [...shop.recurring].flatMap(([period, sums]) =>
    [...sums].map(([currency, recurring]) => ({ period, currency, recurring })),
  );
  const counting = noted
    .filter(
      ({ period, recurring }) =>
        period >= from && recurring.mrr_cents + recurring.active_subscriptions + recurring.past_due_subscriptions > 0,
    )
    .map(({ period, currency, recurring }): [string, Recurring] => [`${currency} ${period}`, recurring])
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  expect(shown).toEqual(counting);
  return counting.length;
};
