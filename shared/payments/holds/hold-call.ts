/**
 * @module The capture and the release of a hold, as a kind of call. A payment has at most one such call under way.
 * Every send of a claimed call has the same key.
 */

import { type CallKind, type CallResult, type LookedUp, OVER } from '../../calls/call-kind.ts';
import { lookUpCall } from '../../calls/look-up.ts';
import { makeCall } from '../../calls/run-call.ts';
import { assertNever, DomainError } from '../../core/errors.ts';
import type { Outcome } from '../../core/outcome.ts';
import { instant, iso } from '../../core/time.ts';
import { type IdempotentRequest, isUnderKey } from '../../http/idempotency.ts';
import type { HoldsPort } from '../../providers/hold-port.ts';
import type { ProviderPayment, ReportedStatus } from '../../providers/payment-port.ts';
import type { PaymentProvider } from '../../providers/provider.ts';
import { declinedError, unavailableError } from '../../providers/unwrap.ts';
import { decideReading } from '../apply-reading.ts';
import type { IntentParts } from '../create-intent.ts';
import type { VisiblePayment } from '../payment.ts';
import { isAhead } from '../payment-states.ts';
import { providerReference } from '../payment-versions.ts';
import type { HoldCall, HoldFailure } from './hold-record.ts';
import { holdChange, withoutHoldCall } from './hold-versions.ts';

/** A payment with a claimed capture or release. */
export type HoldClaim = VisiblePayment & { readonly holdCall: HoldCall };

export const hasHoldCall = (payment: VisiblePayment): payment is HoldClaim => payment.holdCall !== undefined;

/** True if this request's key has claimed the current call. The repeated request then gets the record. */
export const isOwnHoldCall = (
  { holdCall }: VisiblePayment,
  kind: HoldCall['kind'],
  { request, now }: { readonly request: IdempotentRequest | undefined; readonly now: number },
): boolean => holdCall?.kind === kind && isUnderKey({ key: holdCall.key, at: holdCall.claimedAt }, request, now);

/** Makes a claimed call for the first time. @throws DomainError if the hold is unchanged */
export const makeHoldCall = async (parts: IntentParts, claim: HoldClaim): Promise<VisiblePayment> => {
  const result = await makeCall(HOLD_CALL, parts, claim);
  const error = errorOf(result);
  if (error) throw error;
  return result.record;
};

/** Looks up a claimed call, as due work. @returns the result for the log */
export const lookUpHoldCall = async (parts: IntentParts, claim: HoldClaim): Promise<string> =>
  (await lookUpCall(HOLD_CALL, parts, claim)).text;

const errorOf = ({ record: { id }, refusal, notDone }: CallResult<VisiblePayment>): DomainError | undefined => {
  if (notDone) return unavailableError(notDone, { payment_id: id });
  if (refusal?.kind === 'declined') return declinedError(refusal);
  if (refusal === OVER) return new DomainError('PROVIDER_ERROR', { details: { payment_id: id } });
  return refusal && new DomainError('PROVIDER_ERROR', { details: { provider_code: refusal.reason } });
};

const HOLD_CALL: CallKind<IntentParts, VisiblePayment, HoldClaim, ProviderPayment> &
  LookedUp<IntentParts, VisiblePayment, HoldClaim> = {
  send: async (parts, claim) => ({ claim, outcome: await send(parts.provider, claim) }),
  find: ({ provider }, claim) => provider.findPayment(providerReference(claim)),

  apply: async (parts, claim, { by, report }) => {
    const { payment, isOver } = await storeReport(parts, claim, report);
    if (!isSameCall(payment, claim)) return { state: 'settled', record: payment };
    if (isOver) return { state: 'over', record: payment };
    const isUntouched = by === 'refusal' ? report.status === 'requires_capture' : !isCapturing(report);
    return isUntouched
      ? { state: 'absent', record: payment }
      : { state: 'open', record: payment, looked: 'outcome_unknown' };
  },

  end: async (parts, claim, { cause, refusal, found, isLate }) => {
    const failure: HoldFailure = {
      call: claim.holdCall.kind,
      ...(refusal?.kind === 'declined' ? { reason: 'declined', code: refusal.code } : { reason: 'not_done' }),
    };
    // If the provider still holds an amount, store that amount, because the call may have lowered it.
    const held = found?.status === 'requires_capture' ? found : undefined;
    const record = await dropClaim(parts, claim, { held, failure: isLate ? failure : undefined });
    return { record, ...(cause === 'refused' && record.status === 'requires_capture' && { refusal }) };
  },

  takeBack: async (parts, claim, notDone) => {
    const record = await dropClaim(parts, claim);
    return { record, ...(!record.holdCall && record.status === 'requires_capture' && { notDone }) };
  },

  claimedAt: ({ holdCall }) => instant(holdCall.claimedAt),
  step: ({ reconcileStep = 0 }) => reconcileStep,
  maySend: async () => true,
  setLook: async ({ store }, claim, { at, step }) => {
    await store.reschedule(claim, iso(at), step);
    return undefined;
  },
  stuck: ({ id, providerId }) => ['payment stuck', { payment_id: id, provider: providerId }],
  statusOf: ({ status }) => status,
};

/**
 * True unless the amount is still capturable. While PayPal delays a capture, the capturable amount of the hold is 0.
 */
const isCapturing = ({ status, hold }: ProviderPayment): boolean =>
  status !== 'requires_capture' || hold?.capturableCents === 0;

/** @throws DomainError UNSUPPORTED_PROVIDER if the provider cannot hold amounts */
const holdsOf = ({ holds }: PaymentProvider): HoldsPort => {
  if (!holds) throw new DomainError('UNSUPPORTED_PROVIDER');
  return holds;
};

const send = (provider: PaymentProvider, claim: HoldClaim): Promise<Outcome<ProviderPayment>> => {
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

interface Stored {
  readonly payment: VisiblePayment;
  /** True if the report has a final status but a wrong amount. The report is then not stored. */
  readonly isOver: boolean;
}

/**
 * Stores a report. If the payment has changed since the claim, stores the report only if its status is ahead of the
 * payment's.
 */
const storeReport = async (
  { deps, store }: IntentParts,
  claim: HoldClaim,
  report: ProviderPayment,
): Promise<Stored> => {
  let isOver = false;
  const { record: payment } = await store.change(claim, (current) => {
    isOver = false;
    if (current !== claim && !isAhead(current.status, report.status)) return undefined;
    const reading = decideReading(deps, { payment: current, report, cause: 'answer' });
    isOver = reading.outcome === 'mismatch' && FINAL.includes(report.status);
    return reading.outcome === 'store' ? { next: reading.next, by: 'read' } : undefined;
  });
  return { payment, isOver };
};

/** The final statuses at the provider. */
const FINAL: readonly ReportedStatus[] = ['succeeded', 'canceled', 'failed'];

interface Dropped {
  readonly held?: ProviderPayment | undefined;
  /** Set if an event must report the failure. */
  readonly failure?: HoldFailure | undefined;
}

const dropClaim = async (
  { deps, store }: IntentParts,
  claim: HoldClaim,
  { held, failure }: Dropped = {},
): Promise<VisiblePayment> => {
  const { record } = await store.change(claim, (current) => {
    if (!isSameCall(current, claim)) return undefined;
    const next = withoutHoldCall(current, deps.now(), failure);
    return { ...next, ...(held && holdChange(next, held, deps.now())) };
  });
  return record;
};

const isSameCall = (payment: VisiblePayment, { holdCall }: HoldClaim): payment is HoldClaim =>
  payment.holdCall?.kind === holdCall.kind && payment.holdCall.claimedAt === holdCall.claimedAt;
