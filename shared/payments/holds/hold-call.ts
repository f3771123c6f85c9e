/**
 * @module The capture or the release of a hold, as a claimed call. At most one of them is under way, every send has the
 * same key, and an unknown outcome is looked up. A refusal says only that the provider did nothing, so the payment is
 * read.
 */

import { assertNever, DomainError } from '../../core/errors.ts';
import type { Arrived, NotDone, Outcome } from '../../core/outcome.ts';
import { type Instant, instant, iso } from '../../core/time.ts';
import { type IdempotentRequest, isUnderKey } from '../../http/idempotency.ts';
import type { HoldsPort } from '../../providers/hold-port.ts';
import type { ProviderPayment, ReportedStatus } from '../../providers/payment-port.ts';
import type { PaymentProvider } from '../../providers/provider.ts';
import { decideReading } from '../apply-reading.ts';
import { lookUp, makeClaimedCall, NOT_REACHED } from '../claimed-call.ts';
import type { IntentParts } from '../create-intent.ts';
import type { VisiblePayment } from '../payment.ts';
import { nextLook, warnIfStuck } from '../payment-due.ts';
import { isAhead } from '../payment-states.ts';
import { providerReference } from '../payment-versions.ts';
import type { HoldCall, HoldFailure } from './hold-record.ts';
import { holdChange, withoutHoldCall } from './hold-versions.ts';

/** A payment whose capture or release was claimed. */
export type HoldClaim = VisiblePayment & { readonly holdCall: HoldCall };

export const hasHoldCall = (payment: VisiblePayment): payment is HoldClaim => payment.holdCall !== undefined;

/** True if the request with this key has claimed the current call; a repeat then shows the record. */
export const isOwnHoldCall = (
  { holdCall }: VisiblePayment,
  kind: HoldCall['kind'],
  { request, now }: { readonly request: IdempotentRequest | undefined; readonly now: Instant },
): boolean => holdCall?.kind === kind && isUnderKey({ key: holdCall.key, at: holdCall.claimedAt }, request, now);

export interface HoldResult {
  readonly payment: VisiblePayment;
  /** The hold stays, because the provider has refused the call. */
  readonly refusal?: DomainError;
  /** The hold stays, because the call certainly did not happen. */
  readonly notDone?: NotDone;
}

/** @throws DomainError UNSUPPORTED_PROVIDER if the slot's provider holds no amounts */
const holdsOf = ({ holds }: PaymentProvider): HoldsPort => {
  if (!holds) throw new DomainError('UNSUPPORTED_PROVIDER');
  return holds;
};

/** Makes a claimed call for the first time. */
export const makeHoldCall = (parts: IntentParts, claim: HoldClaim): Promise<HoldResult> =>
  makeClaimedCall<ProviderPayment, HoldResult>({
    send: () => send(parts, claim),
    record: (outcome) => record(parts, claim, outcome),
    takeBack: async (notDone) => {
      const payment = await takeBack(parts, claim);
      return payment.holdCall || payment.status !== 'requires_capture' ? { payment } : { payment, notDone };
    },
  });

/** Due work. @returns the result for the log */
export const lookUpHoldCall = (parts: IntentParts, looked: HoldClaim): Promise<string> => {
  // What was read may have made a new version.
  let claim = looked;
  const { kind: call } = looked.holdCall;
  let found: ProviderPayment | undefined;
  return lookUp<ProviderPayment, ProviderPayment>(parts.deps.now, {
    claimedAt: instant(claim.holdCall.claimedAt),
    find: () => parts.provider.findPayment(providerReference(claim)),
    store: async (report) => {
      const { payment, isEnd } = await storeReport(parts, claim, report);
      if (!isSameCall(payment, claim)) return payment.status;
      claim = payment;
      if (isEnd) return (await takeBack(parts, claim, { failure: { call, reason: 'not_done' } })).status;
      found = report;
      if (report.status === 'requires_capture' && !isCapturing(report)) return NOT_REACHED;
      await lookAgain(parts, claim);
      return 'still under way';
    },
    maySend: async () => true,
    send: () => send(parts, claim),
    record: async (outcome) => {
      const { payment } = await record({ ...parts, isLate: true }, claim, outcome);
      if (isSameCall(payment, claim)) await lookAgain(parts, payment);
      return payment.status;
    },
    fail: async () => (await takeBack(parts, claim, { found, failure: { call, reason: 'not_done' } })).status,
    lookAgain: () => lookAgain(parts, claim),
  });
};

/** True if a capture has reached the provider, which has not decided on it yet. Only PayPal delays a capture. */
const isCapturing = ({ hold }: ProviderPayment): boolean => hold?.capturableCents === 0;

const send = ({ provider }: IntentParts, claim: HoldClaim): Promise<Outcome<ProviderPayment>> => {
  const { id, holdCall, providerIntentId = '', providerPaymentId = providerIntentId, failedCaptures = 0 } = claim;
  const known = { ...providerReference(claim), providerPaymentId };
  switch (holdCall.kind) {
    case 'capture':
      return holdsOf(provider).capture({
        ...known,
        paymentId: id,
        authorizedCents: claim.authorizedCents ?? claim.totalCents,
        amountCents: holdCall.totalCents,
        currency: claim.currency,
        idempotencyKey: `${id}:capture:${failedCaptures + 1}`,
      });
    case 'release':
      return holdsOf(provider).release({ ...known, idempotencyKey: `${id}:release:${instant(holdCall.claimedAt)}` });
    default:
      return assertNever(holdCall);
  }
};

interface RecordParts extends IntentParts {
  /** Set if the request has ended. An event then reports that the call did not happen. */
  readonly isLate?: true;
}

/** An unknown outcome leaves the claim, and its next lookup. */
const record = async (parts: RecordParts, claim: HoldClaim, outcome: Arrived<ProviderPayment>): Promise<HoldResult> => {
  switch (outcome.kind) {
    case 'unknown':
      return { payment: claim };
    case 'done':
      return recordDone(parts, claim, outcome.value);
    case 'declined':
      return recordRefusal(parts, claim, {
        refusal: new DomainError('PAYMENT_DECLINED', { details: { decline_code: outcome.code } }),
        failure: { call: claim.holdCall.kind, reason: 'declined', code: outcome.code },
      });
    case 'refused':
      return recordRefusal(parts, claim, {
        refusal: new DomainError('PROVIDER_ERROR', { details: { provider_code: outcome.reason } }),
        failure: { call: claim.holdCall.kind, reason: 'not_done' },
      });
    default:
      return assertNever(outcome);
  }
};

const recordDone = async (parts: RecordParts, claim: HoldClaim, report: ProviderPayment): Promise<HoldResult> => {
  const { payment, isEnd } = await storeReport(parts, claim, report);
  if (!isEnd || !isSameCall(payment, claim)) return { payment };
  return refuse(parts, claim, {
    refusal: new DomainError('PROVIDER_ERROR', { details: { payment_id: claim.id } }),
    failure: { call: claim.holdCall.kind, reason: 'not_done' },
  });
};

interface Refusal {
  readonly refusal: DomainError;
  readonly failure: HoldFailure;
  /** What the provider says of the hold. */
  readonly found?: ProviderPayment;
}

/** Reads what has become of the hold. If it stands, the claim is taken back, so that it can be captured again. */
const recordRefusal = async (parts: RecordParts, claim: HoldClaim, refused: Refusal): Promise<HoldResult> => {
  const read = await parts.provider.findPayment(providerReference(claim));
  if (read.kind !== 'done') return { payment: claim };
  const { payment, isEnd } = await storeReport(parts, claim, read.value);
  if (!isSameCall(payment, claim)) return { payment };
  if (isEnd) return refuse(parts, claim, refused);
  return read.value.status === 'requires_capture'
    ? refuse(parts, claim, { ...refused, found: read.value })
    : { payment };
};

/** Takes the claim back. An event reports this if the request has ended. */
const refuse = async (
  parts: RecordParts,
  claim: HoldClaim,
  { refusal, failure, found }: Refusal,
): Promise<HoldResult> => {
  const payment = await takeBack(parts, claim, { found, failure: parts.isLate && failure });
  return payment.status === 'requires_capture' ? { payment, refusal } : { payment };
};

interface Stored {
  readonly payment: VisiblePayment;
  /** True if the report says that the hold is over, and has another amount, so that it is quarantined. */
  readonly isEnd: boolean;
}

/** Stores a report, unless the payment has moved further since. */
const storeReport = async (
  { deps, store }: IntentParts,
  claim: HoldClaim,
  report: ProviderPayment,
): Promise<Stored> => {
  let isEnd = false;
  const { record: payment } = await store.change(claim, (current) => {
    isEnd = false;
    if (current !== claim && !isAhead(current.status, report.status)) return undefined;
    const reading = decideReading(deps, { payment: current, report, cause: 'answer' });
    isEnd = reading.outcome === 'mismatch' && OVER.includes(report.status);
    return reading.outcome === 'store' ? { next: reading.next, by: 'read' } : undefined;
  });
  return { payment, isEnd };
};

/** No later report of the provider changes these. */
const OVER: readonly ReportedStatus[] = ['succeeded', 'canceled', 'failed'];

interface TakenBack {
  /** The provider's report of the hold. The call may have lowered its amount. */
  readonly found?: ProviderPayment | undefined;
  /** Set if an event reports the failure. */
  readonly failure?: HoldFailure | undefined;
}

const takeBack = async (
  { deps, store }: IntentParts,
  claim: HoldClaim,
  { found, failure }: TakenBack = {},
): Promise<VisiblePayment> => {
  const { record: stands } = await store.change(claim, (current) => {
    if (!isSameCall(current, claim)) return undefined;
    const next = withoutHoldCall(current, deps.now(), failure);
    return { ...next, ...(found && holdChange(next, found, deps.now())) };
  });
  return stands;
};

const isSameCall = (payment: VisiblePayment, { holdCall }: HoldClaim): payment is HoldClaim =>
  payment.holdCall?.kind === holdCall.kind && payment.holdCall.claimedAt === holdCall.claimedAt;

const lookAgain = async ({ deps, store }: IntentParts, payment: VisiblePayment): Promise<void> => {
  const { holdCall, reconcileStep = 0 } = payment;
  if (!holdCall) return;
  warnIfStuck(deps, payment, 'outcome_unknown');
  const { at, step } = nextLook(instant(holdCall.claimedAt), reconcileStep, deps.now());
  await store.reschedule(payment, iso(at), step);
};
