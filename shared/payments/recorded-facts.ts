/**
 * @module The facts in a payment's record and the reads that complete them. A report adds facts to its attempt, and
 * never removes known facts. After its success, its failure or the start of its hold, a payment is read again at most
 * three times, while its facts are incomplete. No request of a payer waits for these reads.
 */

import type { MethodDetails, PaymentFacts } from '../core/payment-facts.ts';
import { DAY_MS, HOUR_MS, type Instant, instant, iso, MINUTE_MS } from '../core/time.ts';
import type { Clause } from '../platform/expression.ts';
import { holdChange } from './holds/hold-versions.ts';
import type { Payment, PaymentStatus, VisiblePayment } from './payment.ts';
import type { ReportedAmount } from './payment-amounts.ts';
import { versionAfter } from './payment-fields.ts';

/** When a payment or a refund with incomplete facts is read again, counted from its outcome. */
const FACT_LOOKS_MS: readonly number[] = [MINUTE_MS, HOUR_MS, DAY_MS];

/** The next read for facts, and the number of earlier reads. Both are undefined if no further read is due. */
export interface FactLooks {
  readonly factsAt?: string | undefined;
  readonly factLooks?: number | undefined;
}

const NO_LOOK = { factsAt: undefined, factLooks: undefined } as const;

export const firstFactLook = (now: Instant): FactLooks => ({ ...NO_LOOK, factsAt: iso(now + (FACT_LOOKS_MS[0] ?? 0)) });

/** The schedule of the reads after the due read for facts, whatever the due read finds. */
export const afterFactLook = ({ factsAt, factLooks = 0 }: FactLooks): FactLooks => {
  const [current, next] = FACT_LOOKS_MS.slice(factLooks, factLooks + 2);
  if (factsAt === undefined || current === undefined || next === undefined) return NO_LOOK;
  return { factsAt: iso(instant(factsAt) - current + next), factLooks: factLooks + 1 };
};

/** A condition that fails if another run has claimed the due read for facts. */
export const sameFactLook = ({ factsAt }: FactLooks): readonly Clause[] => [{ equals: ['factsAt', factsAt ?? null] }];

/** Schedules one read now, for a settlement that differs between an event and the record. */
export const oneFactLook = (now: Instant): FactLooks => ({ factsAt: iso(now), factLooks: FACT_LOOKS_MS.length - 1 });

export type FactFields = Pick<Payment, 'details' | 'decline' | 'settlement' | 'receiptUrl'>;

const hasOutcome = (status: Payment['status']): boolean =>
  status === 'succeeded' || status === 'failed' || status === 'requires_capture';

/** The fields that a report of this status adds to the record. Only a known outcome has facts. */
export const reportedFacts = (status: PaymentStatus, facts: PaymentFacts = {}): FactFields => ({
  ...(hasOutcome(status) && facts.details && { details: facts.details }),
  ...(status === 'failed' && facts.decline && { decline: facts.decline }),
  ...(status === 'succeeded' && facts.settlement && { settlement: facts.settlement }),
  ...(status === 'succeeded' && facts.receiptUrl && { receiptUrl: facts.receiptUrl }),
});

const lacksFacts = (status: Payment['status'], { details, settlement }: FactFields): boolean =>
  hasOutcome(status) && (details === undefined || (status === 'succeeded' && settlement === undefined));

/**
 * The next version's facts, and the schedule of its reads for facts.
 * @param reported the facts of the report behind the version
 */
export const factsOfNext = (
  was: Payment,
  next: Pick<Payment, 'status' | 'attempt'>,
  { reported, now }: { readonly reported: FactFields; readonly now: Instant },
): FactFields & FactLooks => {
  const { status, attempt } = next;
  const isNewOutcome = hasOutcome(status) && (was.status !== status || was.attempt !== attempt);
  const isOfHold = was.status === 'requires_capture' && was.attempt === attempt;
  // A new outcome drops the facts of an earlier attempt, because they say nothing about a later attempt.
  const known: FactFields = isNewOutcome && !isOfHold ? {} : was;
  const details = merged(known.details, reported.details);
  const facts: FactFields = {
    details: details && isMethodErased(was) ? withoutPersonDetails(details) : details,
    decline: status === 'failed' ? merged(known.decline, reported.decline) : undefined,
    settlement: status === 'succeeded' ? merged(known.settlement, reported.settlement) : undefined,
    receiptUrl: status === 'succeeded' && !isMethodErased(was) ? (reported.receiptUrl ?? known.receiptUrl) : undefined,
  };
  if (!lacksFacts(status, facts)) return { ...facts, ...NO_LOOK };
  const looks = isNewOutcome ? firstFactLook(now) : { factsAt: was.factsAt, factLooks: was.factLooks };
  return { ...facts, ...looks };
};

/** Fields omitted in the report keep their known values. */
const merged = <T extends object>(known: T | undefined, reported: T | undefined): T | undefined =>
  known && reported
    ? { ...known, ...Object.fromEntries(Object.entries(reported).filter(([, value]) => value !== undefined)) }
    : (reported ?? known);

interface FactsReport {
  readonly facts?: PaymentFacts | undefined;
  readonly attemptRef: string | undefined;
  readonly failureCode?: Payment['failureCode'];
}

/**
 * The version with the facts of a report of the same status. A payer may be declined several times in the browser. The
 * record describes one attempt, so the facts of other attempts are ignored.
 * @returns undefined if the report has nothing new
 */
export const withFacts = (
  payment: VisiblePayment,
  { facts, attemptRef }: FactsReport,
  now: Instant,
): VisiblePayment | undefined => {
  if (facts === undefined || attemptReported(payment, { facts, attemptRef }) !== 'recorded') return undefined;
  const next = factsOfNext(payment, payment, { reported: reportedFacts(payment.status, facts), now });
  return containsFacts(factsIn(payment), factsIn(next)) ? undefined : factsVersion(payment, next, now);
};

/**
 * Like `withFacts`, for a read of the provider. The read replaces a pending lookup, unless a draft, a capture or a
 * release is open. A read reports the last attempt, so its facts replace those of an earlier attempt.
 */
export const withFactsRead = (
  payment: VisiblePayment,
  report: FactsReport,
  now: Instant,
): VisiblePayment | undefined => {
  const isLater = report.facts !== undefined && attemptReported(payment, report) === 'other';
  const next = isLater ? ofLaterAttempt(payment, report, now) : withFacts(payment, report, now);
  return next && next.draft === undefined && next.holdCall === undefined
    ? { ...next, reconcileAt: undefined, reconcileStep: undefined }
    : next;
};

/** A failed payment's version with the facts of a later attempt. Late events about earlier attempts are then stale. */
const ofLaterAttempt = (payment: VisiblePayment, report: FactsReport, now: Instant): VisiblePayment => {
  const { attemptRef = payment.attemptRef, failureCode = payment.failureCode, facts } = report;
  const known = { ...payment, details: undefined, decline: undefined };
  const next = factsOfNext(known, payment, { reported: reportedFacts(payment.status, facts), now });
  return {
    ...factsVersion(payment, next, now),
    ...{ attemptRef, failureCode, priorAttemptRefs: attemptRefsOf(payment) },
  };
};

/** A version with new facts in the same status. */
const factsVersion = (payment: VisiblePayment, next: FactFields & FactLooks, now: Instant): VisiblePayment => ({
  ...payment,
  ...next,
  ...versionAfter(payment, 'facts', now),
});

/**
 * The version after a report's facts and its changes to the hold.
 * @param next the version with the facts; undefined if they are known
 * @returns undefined if the report changes neither
 */
export const withHoldChange = (
  { payment, next }: { readonly payment: VisiblePayment; readonly next: VisiblePayment | undefined },
  reported: ReportedAmount,
  now: Instant,
): VisiblePayment | undefined => {
  const held = holdChange(payment, reported, now);
  return held ? { ...(next ?? factsVersion(payment, {}, now)), ...held } : next;
};

const MOST_PRIOR_REFS = 20;

/** The ids of earlier attempts, which late events may be about. */
export const attemptRefsOf = ({ priorAttemptRefs = [], attemptRef }: Payment): string[] | undefined =>
  attemptRef === undefined ? undefined : [...new Set([...priorAttemptRefs, attemptRef])].slice(-MOST_PRIOR_REFS);

/**
 * Whether a report about a failed payment concerns the recorded attempt, an earlier attempt, or another attempt.
 * Without an id, the facts are compared, because an attempt with failed authentication has no charge and no id.
 */
export const attemptReported = (
  payment: VisiblePayment,
  { facts, attemptRef: reported }: FactsReport,
): 'recorded' | 'other' | 'earlier' => {
  const { status, attemptRef, priorAttemptRefs = [] } = payment;
  if (status !== 'failed') return 'recorded';
  if (reported !== undefined && priorAttemptRefs.includes(reported)) return 'earlier';
  const isNamed = attemptRef !== undefined && !priorAttemptRefs.includes(attemptRef);
  if (reported !== undefined && isNamed) return reported === attemptRef ? 'recorded' : 'other';
  const { details, decline } = payment;
  return differs(details, facts?.details) || differs(decline, facts?.decline) ? 'other' : 'recorded';
};

/** True if both have a field with different values. */
export const differs = (known: object | undefined, reported: object | undefined): boolean =>
  Object.entries(known ?? {}).some(([name, value]) => {
    const other: unknown = Reflect.get(reported ?? {}, name);
    if (value === undefined || other === undefined) return false;
    return typeof value === 'object' ? differs(value, Object(other)) : value !== other;
  });

const factsIn = ({ details, decline, settlement, receiptUrl }: FactFields): FactFields => ({
  ...{ details, decline, settlement, receiptUrl },
});

/** True if everything in the report is known already. */
export const containsFacts = (known: unknown, reported: unknown): boolean => {
  if (typeof reported !== 'object' || reported === null) return reported === undefined || reported === known;
  if (typeof known !== 'object' || known === null) return false;
  return Object.entries(reported).every(([name, value]) => containsFacts(Reflect.get(known, name), value));
};

/** True if the holder of the method was erased. */
export const isMethodErased = ({ erasedAt, methodErased }: Payment): boolean =>
  erasedAt !== undefined || methodErased === true;

/** The details without the fields that identify a person's card or account. */
export const withoutPersonDetails = ({
  lastFour: _lastFour,
  expiryMonth: _expiryMonth,
  expiryYear: _expiryYear,
  bankName: _bankName,
  fingerprint: _fingerprint,
  ...kept
}: MethodDetails): MethodDetails => kept;
