/** @module Invariants about failed renewals of service-billed subscriptions. */
import type { History, HistoryItem, HistoryOutage, Oracle } from '../model/history.ts';
import { isOfChange } from '../model/plans.ts';
import { at, recordsOf } from '../model/records.ts';

const RETRY_DAYS = [1, 3, 7, 14];
const DAY_MS = 86_400_000;
const LAST_DAY_MS = 14 * DAY_MS;
/** Clocks of functions differ by some seconds. */
const CLOCKS_MS = 5_000;
const TOLERANCE_MS = 2 * 3_600_000;
/**
 * The longest delay of due work by all faults of a run together. Each table failure and each killed function adds some
 * minutes.
 */
const LATEST_BY_FAULTS_MS = 12 * 3_600_000;

interface Attempt {
  readonly paymentId: string;
  readonly at: number;
  readonly isBySystem: boolean;
  /** True if an earlier attempt at the same payment failed. */
  readonly isRepeated: boolean;
}

interface Span {
  readonly from: number;
  /** The end; Infinity if it is still open. */
  readonly until: number;
}

/** The time from a failed renewal until its subscription is no longer past due. */
interface Lapse extends Span {
  /** The version that ended the dunning. */
  readonly end: HistoryItem | undefined;
}

interface Bill {
  readonly subscriptionId: string;
  /** The versions of the subscription; empty after its removal. */
  readonly versions: readonly HistoryItem[];
  /** True if the subscription now has a payment method. */
  readonly hasMethod: boolean;
  readonly lapses: readonly Lapse[];
  readonly attempts: readonly Attempt[];
  /** The times of attempts under way or with an unknown outcome. */
  readonly open: readonly Span[];
  /** The outage of the collecting provider, if it has one. */
  readonly outage: HistoryOutage | undefined;
  /** The longest delay of due work. */
  readonly delayMs: number;
}

const OPEN = new Set(['processing', 'pending']);

/** The attempts of a payment. A released claim reached no provider, so it does not count. */
const attemptsOf = (id: string, versions: readonly HistoryItem[]): readonly Attempt[] => {
  let isRepeated = false;
  return versions.flatMap((version, index) => {
    const { cause, actor, at: time, status } = version;
    const isNew = cause === 'claim' && versions[index - 1]?.['status'] !== 'processing';
    const attempt = { paymentId: id, at: at(time), isBySystem: actor?.type === 'system', isRepeated };
    if (status === 'failed') isRepeated = true;
    const end = versions.slice(index).find((one) => one['status'] !== 'processing');
    return isNew && end?.['cause'] !== 'release' ? [attempt] : [];
  });
};

const openSpans = (versions: readonly HistoryItem[]): readonly Span[] =>
  versions.flatMap((version, index) => {
    const next = versions[index + 1];
    const until = next ? at(next['at']) : Number.POSITIVE_INFINITY;
    return OPEN.has(version['status']) ? [{ from: at(version['at']), until }] : [];
  });

const lapsesOf = (versions: readonly HistoryItem[]): readonly Lapse[] =>
  versions.flatMap(({ status, was, at: time }, index) => {
    // Excludes first charges, which are pending for a day at most and are not retried.
    if (status !== 'past_due' || (was !== 'active' && was !== 'trialing')) return [];
    const end = versions.slice(index).find((one) => one['status'] !== 'past_due');
    return [{ from: at(time), until: end ? at(end['at']) : Number.POSITIVE_INFINITY, end }];
  });

const billsOf = (history: History): readonly Bill[] => {
  const { payments, subscriptions, versionsOf } = recordsOf(history);
  const withMethod = new Set(
    subscriptions.filter(({ paymentMethodId }) => paymentMethodId !== undefined).map(({ id }) => id),
  );
  const collected = payments.filter(
    (payment) =>
      payment['subscriptionId'] !== undefined && payment['providerInvoiceId'] === undefined && !isOfChange(payment),
  );
  return [...Map.groupBy(collected, ({ subscriptionId }) => String(subscriptionId))].map(([subscriptionId, own]) => {
    const versions = versionsOf(subscriptionId);
    const [{ providerId } = {}] = own;
    return {
      subscriptionId,
      versions,
      hasMethod: withMethod.has(subscriptionId),
      lapses: lapsesOf(versions),
      attempts: own.flatMap(({ id }) => attemptsOf(id, versionsOf(id))).toSorted((a, b) => a.at - b.at),
      open: own.flatMap(({ id }) => openSpans(versionsOf(id))),
      outage: history.outage?.providerId === providerId ? history.outage : undefined,
      delayMs: history.isCalm ? TOLERANCE_MS : LATEST_BY_FAULTS_MS,
    };
  });
};

/** The latest time of a planned retry. During an outage of the provider, a retry waits for the end of the outage. */
const latestOf = (planned: number, { outage, delayMs }: Pick<Bill, 'outage' | 'delayMs'>): number => {
  const isAway = outage !== undefined && planned > outage.from - TOLERANCE_MS;
  return (isAway ? Math.max(planned, outage.until) : planned) + delayMs;
};

/** The planned day whose window contains the time; undefined outside all windows. */
const plannedDay = (first: number, time: number, bill: Bill): number | undefined =>
  RETRY_DAYS.findLast((days) => {
    const planned = first + days * DAY_MS;
    return time >= planned - CLOCKS_MS && time <= latestOf(planned, bill);
  });

/**
 * True soon after another method was set, because setting a method retries immediately. If this retry is interrupted,
 * due work finishes it.
 */
const isAfterNewMethod = ({ versions, delayMs }: Bill, time: number): boolean =>
  versions.some(
    ({ cause, at: changed }) =>
      cause === 'method_changed' && at(changed) - CLOCKS_MS <= time && time < at(changed) + delayMs,
  );

const hoursSince = (first: number, time: number): number => Math.round((time - first) / 3_600_000);

/**
 * The time of the failure from which the days of the retry are counted. If the subscription has no versions, it is the
 * payment's first failure.
 */
const firstFailure = (history: History, { versions, lapses }: Bill, attempt: Attempt): number | undefined => {
  const lapse = lapses.find(({ from, until }) => attempt.at > from + CLOCKS_MS && attempt.at <= until + CLOCKS_MS);
  if (lapse || versions.length > 0 || !attempt.isRepeated) return lapse?.from;
  const failed = recordsOf(history)
    .versionsOf(attempt.paymentId)
    .find(({ status }) => status === 'failed');
  return failed && at(failed['at']);
};

const unplanned = (history: History, bill: Bill): readonly string[] => {
  const used = new Set<string>();
  return bill.attempts.flatMap((attempt) => {
    const { paymentId, at: time, isBySystem, isRepeated } = attempt;
    const first = firstFailure(history, bill, attempt);
    if (!isBySystem || (first === undefined && !isRepeated) || isAfterNewMethod(bill, time)) return [];
    if (first === undefined) return [`${paymentId} was tried again, and no renewal was past due`];
    const day = plannedDay(first, time, bill);
    if (day === undefined) return [`${paymentId} was tried again ${hoursSince(first, time)} h after its first failure`];
    const window = `${first} ${day}`;
    if (used.has(window)) return [`${paymentId} was tried twice on day ${day}`];
    used.add(window);
    return [];
  });
};

export const dunningDays: Oracle = {
  sentence: 'A failed renewal is retried 1, 3, 7 and 14 days later, and not in between',
  atRestOnly: false,
  violations: (history) => billsOf(history).flatMap((bill) => unplanned(history, bill)),
};

const HARD_DECLINES = new Set(['lost_card', 'stolen_card']);

/** True if the card was lost or stolen or no method exists. Then no retry runs until another method is set. */
const isWithoutMethod = ({ versions, hasMethod }: Bill, time: number): boolean => {
  const last = versions.findLast(
    ({ cause, failureCode, at: changed }) =>
      at(changed) < time - CLOCKS_MS &&
      (failureCode !== undefined || cause === 'payment_method_unavailable' || cause === 'method_changed'),
  );
  // The method was removed, for example because its owner left the organization.
  const isRemoved = !hasMethod && last === versions.findLast(({ cause }) => cause === 'method_changed');
  if (last === undefined) return false;
  return isRemoved || last['cause'] === 'payment_method_unavailable' || HARD_DECLINES.has(last['failureCode']);
};

export const hardDeclinesStop: Oracle = {
  sentence: 'A renewal whose card was lost or stolen is not retried until the method changes',
  atRestOnly: false,
  violations: (history) =>
    billsOf(history).flatMap((bill) =>
      bill.attempts
        .filter(({ at: time, isBySystem }) => {
          const isRetry = bill.lapses.some(({ from, until }) => time > from + CLOCKS_MS && time <= until);
          return isBySystem && isRetry && isWithoutMethod(bill, time) && !isAfterNewMethod(bill, time);
        })
        .map(({ paymentId, at: time }) => `${paymentId} was tried again at ${new Date(time).toISOString()}`),
    ),
};

const missedDays = (history: History, bill: Bill, { from, until, end }: Lapse): readonly number[] => {
  // If dunning ended after the last retry, every retry must have run.
  const isGivenUp = end?.['cause'] === 'payment_failed';
  return RETRY_DAYS.filter((days) => {
    const planned = from + days * DAY_MS;
    const latest = latestOf(planned, bill);
    if (latest > Math.min(until, history.now) && !isGivenUp) return false;
    const isTried = bill.attempts.some(({ at: time }) => time >= planned - CLOCKS_MS && time <= latest);
    const isUnderWay = bill.open.some((one) => one.from <= planned && one.until > planned);
    // `until` excludes the version at the end of dunning, which has a failure code of its own.
    return !isTried && !isUnderWay && !isWithoutMethod(bill, Math.min(latest, until));
  });
};

export const dunningHappens: Oracle = {
  sentence: 'At rest a failed renewal has been retried on each planned day that has passed',
  atRestOnly: true,
  violations: (history) =>
    billsOf(history).flatMap((bill) =>
      bill.lapses.flatMap((lapse) =>
        missedDays(history, bill, lapse).map((day) => `${bill.subscriptionId} was not retried on day ${day}`),
      ),
    ),
};

export const dunningEnds: Oracle = {
  sentence: 'A renewal is past due for 14 days: not longer, and not given up before',
  atRestOnly: false,
  violations: (history) =>
    billsOf(history).flatMap((bill) =>
      bill.lapses.flatMap(({ from, until, end }) => {
        const last = from + LAST_DAY_MS;
        const attempts = bill.open.filter((one) => one.from <= last + bill.delayMs && one.until > last);
        const latest = Math.max(latestOf(last, bill), ...attempts.map((one) => one.until + bill.delayMs));
        const days = Math.round((Math.min(until, history.now) - from) / DAY_MS);
        if (Math.min(until, history.now) > latest) return [`${bill.subscriptionId} was past due for ${days} days`];
        return end?.['cause'] === 'payment_failed' && until < last - CLOCKS_MS
          ? [`${bill.subscriptionId} was given up after ${days} days`]
          : [];
      }),
    ),
};
