/** @module The hold in the next version of a payment, and the prices after a capture. Pure. */

import { FIRST_LOOK_MS, lookTime } from '../../calls/call-times.ts';
import type { Prices } from '../../core/money.ts';
import { DAY_MS, type Instant, instant, iso, MINUTE_MS } from '../../core/time.ts';
import type { ProviderHold } from '../../providers/payment-port.ts';
import type { Payment, PaymentStatus } from '../payment.ts';
import type { ReportedAmount } from '../payment-amounts.ts';
import { blank, holdGroup, versionAfter } from '../payment-fields.ts';
import type { HoldCall, HoldEnd, HoldFailure } from './hold-record.ts';
import { capturesOfNext, pricesInProportion, withHeldSplit } from './several-captures.ts';

/**
 * The fields that are cleared when a hold is captured or ends. The authorized amount and the times of the hold stay.
 */
const OVER = { capturableCents: undefined, holdCall: undefined, holdCheckAt: undefined } as const;

interface HoldMove {
  readonly to: PaymentStatus;
  readonly now: Instant;
  readonly reported?: ReportedAmount | undefined;
}

/** The fields of the hold after a move to a status. Clears the client secret, which a held payment does not need. */
export const holdOfNext = (payment: Payment, move: HoldMove): Partial<Payment> => {
  if (payment.captureMethod !== 'manual') return {};
  switch (move.to) {
    case 'requires_capture':
      return {
        ...remindedAtOnce(payment, heldFields(payment, move), move.now),
        clientSecret: undefined,
        holdEnd: undefined,
      };
    case 'succeeded':
      return { ...capturedFields(payment, move), clientSecret: undefined, holdEnd: undefined };
    case 'canceled':
      return endedFields(payment, move);
    case 'processing':
      return {};
    default:
      return blank(holdGroup);
  }
};

type HeldFields = Pick<
  Payment,
  'authorizedCents' | 'capturableCents' | 'captureBefore' | 'guaranteedUntil' | 'holdCheckAt'
>;

const heldFields = (payment: Payment, { now, reported }: Omit<HoldMove, 'to'>): HeldFields => {
  const { hold, amountCents } = reported ?? {};
  const authorizedCents = authorizedBy(payment, hold) ?? amountCents ?? payment.totalCents;
  const capturable = hold?.capturableCents ?? payment.capturableCents;
  const times = timesOf(payment, hold);
  const isUnchanged = payment.holdCheckAt !== undefined && payment.captureBefore === times.captureBefore;
  return {
    authorizedCents,
    ...times,
    capturableCents: isOwnCapture(payment, capturable)
      ? payment.capturableCents
      : capturable === authorizedCents
        ? undefined
        : capturable,
    holdCheckAt: isUnchanged ? payment.holdCheckAt : firstCheck(times, now),
  };
};

const authorizedBy = (payment: Payment, hold: ProviderHold | undefined): number | undefined =>
  payment.authorizedCents ?? hold?.authorizedCents;

const timesOf = (payment: Payment, hold: ProviderHold | undefined) => ({
  captureBefore: hold?.captureBefore ?? payment.captureBefore,
  guaranteedUntil: hold?.guaranteedUntil ?? payment.guaranteedUntil,
});

/**
 * True if our own capture explains the lower amount, because Square lowers a payment's amount before a partial capture.
 */
const isOwnCapture = ({ holdCall }: Payment, capturable: number | undefined): boolean =>
  holdCall?.kind === 'capture' && holdCall.totalCents === capturable;

const firstCheck = ({ captureBefore }: Pick<Payment, 'captureBefore'>, now: Instant): string =>
  captureBefore === undefined
    ? iso(now + FIRST_LOOK_MS)
    : iso(Math.max(now, instant(captureBefore) - CAPTURE_DUE_BEFORE_MS));

/** The merchant is reminded this long before the hold ends. */
const CAPTURE_DUE_BEFORE_MS = DAY_MS;
const CHECK_AFTER_MS = 5 * MINUTE_MS;

/** After the reminder or an earlier check, the hold is checked shortly after its end, then daily. */
export const nextHoldCheck = ({ captureBefore }: Pick<Payment, 'captureBefore'>, now: Instant): string => {
  const afterEnd = captureBefore === undefined ? 0 : instant(captureBefore) + CHECK_AFTER_MS;
  return iso(afterEnd > now ? afterEnd : now + DAY_MS);
};

/** A hold that ends within a day sends payment.capture_due immediately. */
const remindedAtOnce = (payment: Payment, held: HeldFields, now: Instant): Partial<Payment> =>
  isReminderDue({ ...payment, ...held }, now)
    ? { ...held, captureDueSent: true, holdCheckAt: nextHoldCheck(held, now) }
    : held;

/** True if the hold ends within a day and the merchant has not been reminded. */
export const isReminderDue = ({ captureBefore, captureDueSent }: Payment, now: Instant): boolean => {
  if (captureBefore === undefined || captureDueSent) return false;
  const end = instant(captureBefore);
  return now < end && now >= end - CAPTURE_DUE_BEFORE_MS;
};

const capturedFields = (payment: Payment, { reported }: HoldMove): Partial<Payment> => ({
  ...OVER,
  ...timesOf(payment, reported?.hold),
  authorizedCents: authorizedBy(payment, reported?.hold) ?? payment.totalCents,
  ...(reported?.captures && { captures: capturesOfNext(payment, reported.captures) }),
  ...(payment.status === 'succeeded' ? {} : withHeldSplit(payment, capturedPrices(payment, reported))),
});

/**
 * The prices after a capture. Several captures share the hold's tax and discount in proportion. The prices of our own
 * request apply to a single capture of the requested total. Other prices are derived from the total.
 */
const capturedPrices = (payment: Payment, { amountCents, captures }: Partial<ReportedAmount> = {}): Prices => {
  const { holdCall: call } = payment;
  if (captures && amountCents !== undefined) return pricesInProportion(payment, amountCents);
  if (call?.kind === 'capture' && (amountCents === undefined || amountCents === call.totalCents)) {
    const { totalCents, taxCents, discountCents } = call;
    return { totalCents, taxCents, discountCents, subtotalCents: totalCents - taxCents + discountCents };
  }
  return pricesOfTotal(payment, amountCents ?? payment.totalCents);
};

/** The prices for another total. The tax and the discount stay, unless the total is too small for them. */
export const pricesOfTotal = ({ taxCents, discountCents }: Payment, totalCents: number): Prices => {
  const subtotalCents = totalCents - taxCents + discountCents;
  return subtotalCents < 0
    ? { totalCents, subtotalCents: totalCents, taxCents: 0, discountCents: 0 }
    : { totalCents, subtotalCents, taxCents, discountCents };
};

const endedFields = (payment: Payment, { now, reported }: HoldMove): Partial<Payment> => {
  const { hold } = reported ?? {};
  const authorizedCents = authorizedBy(payment, hold);
  if (authorizedCents === undefined) return OVER;
  const times = timesOf(payment, hold);
  const endedAt = hold?.endedAt === undefined ? now : instant(hold.endedAt);
  return { ...OVER, ...times, authorizedCents, clientSecret: undefined, holdEnd: endOf(payment, times, endedAt) };
};

const endOf = ({ holdCall }: Payment, { captureBefore }: Pick<Payment, 'captureBefore'>, endedAt: Instant): HoldEnd => {
  if (captureBefore !== undefined && endedAt >= instant(captureBefore)) return 'expired';
  return holdCall?.kind === 'release' ? 'released' : 'provider';
};

/** The hold's fields changed by a report while the payment stays held; undefined if nothing changes. */
export const holdChange = (payment: Payment, reported: ReportedAmount, now: Instant): HeldFields | undefined => {
  if (payment.status !== 'requires_capture' || !reported.hold) return undefined;
  const next = heldFields(payment, { now, reported });
  if (isDeclinedLater(payment, reported)) return undefined;
  const isSame =
    next.capturableCents === payment.capturableCents &&
    next.captureBefore === payment.captureBefore &&
    next.guaranteedUntil === payment.guaranteedUntil;
  return isSame ? undefined : next;
};

/**
 * True if the bank has declined a pending capture, so the amount is capturable again. Only a read shows this, because
 * an event may be older than the capture.
 */
const isDeclinedLater = ({ holdCall, capturableCents }: Payment, { hold }: ReportedAmount): boolean =>
  holdCall?.kind === 'capture' && capturableCents === 0 && hold !== undefined && hold.capturableCents > 0;

/** The version after the bank declined a pending capture; undefined if the read shows no decline. */
export const declinedLater = <P extends Payment>(payment: P, reported: ReportedAmount, now: Instant): P | undefined => {
  if (!isDeclinedLater(payment, reported)) return undefined;
  const code = reported.hold?.captureDeclined ?? 'do_not_honor';
  const next = withoutHoldCall(payment, now, { call: 'capture', reason: 'declined', code });
  return { ...next, ...holdChange(next, reported, now) };
};

/** The amount that can be captured now, in minor units. */
export const capturableOf = ({ status, capturableCents, authorizedCents, totalCents }: Payment): number =>
  status === 'requires_capture' ? (capturableCents ?? authorizedCents ?? totalCents) : 0;

/** The common fields of a version that changes only a claimed call or the reminder. */
const callVersion = (payment: Payment, now: Instant) =>
  ({ ...versionAfter(payment, 'capture', now), holdFailure: undefined }) as const;

/** Claims a capture or a release. Only one may be under way. Commit the claim before the provider call. */
export const claimHoldCall = <P extends Payment>(payment: P, holdCall: HoldCall): P => {
  const now = instant(holdCall.claimedAt);
  return {
    ...payment,
    ...callVersion(payment, now),
    holdCall,
    reconcileAt: iso(lookTime(now, 0)),
    reconcileStep: 0,
  };
};

/**
 * The payment after a capture or a release that certainly did not happen. The hold can be captured again.
 * @param failure set if the API response left the outcome open, so an event reports the failure
 */
export const withoutHoldCall = <P extends Payment>(payment: P, now: Instant, failure?: HoldFailure): P => ({
  ...payment,
  ...callVersion(payment, now),
  holdFailure: failure,
  holdCall: undefined,
  reconcileAt: undefined,
  reconcileStep: undefined,
  ...(payment.holdCall?.kind === 'capture' && { failedCaptures: (payment.failedCaptures ?? 0) + 1 }),
});

/** The version that reminds the merchant. */
export const remindOfCapture = <P extends Payment>(payment: P, now: Instant): P => ({
  ...payment,
  ...callVersion(payment, now),
  cause: 'capture_due',
  captureDueSent: true,
  holdCheckAt: nextHoldCheck(payment, now),
});
