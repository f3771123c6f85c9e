/** @module Invariants about provider-billed subscriptions. */
import { actingPerson } from '../model/acting.ts';
import type { History, HistoryItem, HistoryJson, Oracle } from '../model/history.ts';
import { actsOnSubscriptions, INVOICE_PAID, PRICING } from '../model/outside.ts';
import { planVersions } from '../model/plans.ts';
import { at, recordsOf } from '../model/records.ts';

const secondOf = (time: string | null | undefined): number | null =>
  time === null || time === undefined ? null : Math.floor(at(time) / 1_000);

type Fields = Readonly<Record<string, unknown>>;

interface Both {
  readonly here: HistoryItem;
  readonly there: HistoryJson;
  /** True if the plan has changed or had a scheduled change. */
  readonly isReplanned: boolean;
  /** True if a seller has changed the price at the provider. */
  readonly isPricedThere: boolean;
}

/** True if the provider's trial only covers paid time. Such a trial is neither a trial nor a period here. */
const isBridged = ({ here, there, isReplanned }: Both): boolean =>
  (isStartedAgain(here) && there.trial_end !== null) ||
  (isReplanned && there.status === 'trialing' && here['status'] !== 'trialing');

const isStartedAgain = (here: HistoryItem): boolean => (here['formerProviderIds'] ?? []).length > 0;

/** The scheduled end here and at the provider, which stores a date separately from the flag `cancel_at_period_end`. */
const endOf = ({ here, there }: Both): readonly [Fields, Fields] => [
  { ends: here['cancelAtPeriodEnd'], at: there.cancel_at === null ? null : secondOf(here['cancelAt']) },
  { ends: there.cancel_at_period_end || there.cancel_at !== null, at: secondOf(there.cancel_at) },
];

const timesOf = (both: Both): readonly [Fields, Fields] => {
  const { here, there, isReplanned } = both;
  if (isBridged(both)) return [{}, {}];
  const { currentPeriodStart, currentPeriodEnd, trialEnd } = here;
  // A restarted record keeps the end of its first trial, even if it was canceled before its creation at the provider.
  // After a change of interval, the provider shows a trial until the end of the paid time.
  const isOver = trialEnd !== undefined && at(trialEnd) <= at(there.created_at);
  const hasOwnTrial = !isStartedAgain(here) && !isReplanned && !isOver;
  return [
    {
      from: secondOf(currentPeriodStart),
      until: secondOf(currentPeriodEnd),
      trial: hasOwnTrial && secondOf(trialEnd),
    },
    {
      from: secondOf(there.current_period_start),
      until: secondOf(there.current_period_end),
      trial: hasOwnTrial && secondOf(there.trial_end),
    },
  ];
};

/** The collection fields of a past-due subscription. */
const billingOf = ({ here, there }: Both): readonly [Fields, Fields] =>
  here['status'] === 'past_due' && here['held'] === undefined
    ? [{ unpaid: here['isUnpaid'] === true }, { unpaid: there.status === 'unpaid' }]
    : [{}, {}];

/** The provider's price for the next renewal, which includes a scheduled change. */
const priceOf = ({ here, there, isPricedThere }: Both): readonly [Fields, Fields] => {
  const { totalCents, scheduledChange, currency } = here;
  if (scheduledChange && isPricedThere) return [{}, {}];
  return [
    { price: scheduledChange?.plan.totalCents ?? totalCents, currency },
    { price: there.amount, currency: there.currency },
  ];
};

const PARTS = [endOf, timesOf, billingOf, priceOf];
const LIVE = new Set(['trialing', 'active', 'past_due', 'paused']);

const differenceOf = (both: Both): readonly string[] =>
  PARTS.flatMap((part) => {
    const [here, there] = part(both).map((fields) => JSON.stringify(fields));
    return here === there ? [] : [`${both.here['id']} says ${here}, ${both.there.id} ${there}`];
  });

export const nativeFieldsAgree: Oracle = {
  sentence:
    'At rest period, trial, end and price of a subscription that its provider bills are those that it has there',
  atRestOnly: true,
  violations: (history) => {
    const rows = new Map(history.ledger.subscriptions.map((row) => [row.id, row] as const));
    const acts = actsOnSubscriptions(history);
    return recordsOf(history).subscriptions.flatMap((here) => {
      const there = rows.get(here['providerSubscriptionId']);
      const isCompared = there && LIVE.has(here['status']) && there.status !== 'canceled';
      const isPricedThere = (acts.get(here['id']) ?? []).some(({ name }) => name === PRICING);
      const isReplanned = planVersions(history, here['id']).length > 0;
      return isCompared ? differenceOf({ here, there, isReplanned, isPricedThere }) : [];
    });
  },
};

/** The number of paid invoices for the period, including periods started by the provider within it. */
const paidInvoices = (history: History, { providerSubscriptionId }: HistoryItem, end: string): number => {
  const paid = history.ledger.invoices.filter(
    ({ subscription, status, amount }) => subscription === providerSubscriptionId && status === 'paid' && amount > 0,
  );
  const own = paid.find(({ period_end }) => at(period_end) === at(end));
  return paid.filter(
    ({ period_start, period_end }) => at(period_start) < at(end) && at(period_end) > at(own?.period_start),
  ).length;
};

/** Finds versions that report the same payment twice. Two versions with one period end need two paid invoices. */
const renewedTwice = (history: History, subscription: HistoryItem): readonly string[] => {
  const renewals = recordsOf(history)
    .versionsOf(subscription['id'])
    .filter(({ cause }) => cause === 'renewed');
  return [...Map.groupBy(renewals, ({ periodEnd }) => String(periodEnd))].flatMap(([end, same]) =>
    same.slice(Math.max(1, paidInvoices(history, subscription, end))).map((again) => `${end} at ${again['at']}`),
  );
};

export const renewedOnce: Oracle = {
  sentence: 'A renewal or recovery of a subscription is announced once',
  atRestOnly: false,
  violations: (history: History) =>
    recordsOf(history).subscriptions.flatMap((subscription) =>
      renewedTwice(history, subscription).map((line) => `${subscription['id']} was renewed again until ${line}`),
    ),
};

/** True if a person paused the subscription here. A pause on the provider's dashboard keeps the debt. */
const isPausedHere = ({ status }: HistoryItem, versions: readonly HistoryItem[]): boolean =>
  status === 'paused' && actingPerson(versions.findLast(({ cause }) => cause === 'paused')?.['actor'])?.type === 'user';

export const nothingOwedAfterEnd: Oracle = {
  sentence: 'At rest no invoice is open at the provider for a subscription that was canceled, or paused here',
  atRestOnly: true,
  violations: (history) => {
    const { acts, ledger } = history;
    const byHand = new Set(acts.filter(({ name }) => name === INVOICE_PAID).map(({ path }) => path.split('/').at(-1)));
    const open = Map.groupBy(
      ledger.invoices.filter(({ id, status }) => status === 'open' && !byHand.has(id)),
      ({ subscription }) => subscription,
    );
    const { subscriptions, versionsOf } = recordsOf(history);
    return subscriptions.flatMap((one) => {
      const { id, status, providerSubscriptionId, formerProviderIds = [] } = one;
      if (status !== 'canceled' && !isPausedHere(one, versionsOf(id))) return [];
      return [providerSubscriptionId, ...formerProviderIds]
        .flatMap((theirs) => open.get(theirs) ?? [])
        .map((invoice) => `${invoice.id} of ${id} is open, and ${id} is ${status}`);
    });
  },
};
