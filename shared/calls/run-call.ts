/** @module Makes a claimed call for the first time, and records its outcome, for every kind of call. */

import { assertNever } from '../core/errors.ts';
import type { Arrived } from '../core/outcome.ts';
import { type CallKind, type CallParts, type MadeCall, OVER, type RefusedCall } from './call-kind.ts';

/** Makes a claimed call. Takes back the claim if the call certainly did not happen. */
export const makeCall = async <Parts extends CallParts, R, Claim extends R, Report, Found>(
  kind: CallKind<Parts, R, Claim, Report, Found>,
  parts: Parts,
  claimed: Claim,
): Promise<MadeCall<R, Claim>> => {
  const { claim, outcome } = await kind.send(parts, claimed);
  if (outcome.kind === 'not_done') return kind.takeBack(parts, claim, outcome);
  return recordOutcome(kind, { parts, isLate: false }, { claim, outcome });
};

interface Recorded<Parts> {
  readonly parts: Parts;
  /** True if the API request is already over. */
  readonly isLate: boolean;
}

/** Records the outcome of a call. After an unknown outcome, the claim and its next look stay. */
export const recordOutcome = async <Parts extends CallParts, R, Claim extends R, Report, Found>(
  kind: CallKind<Parts, R, Claim, Report, Found>,
  context: Recorded<Parts>,
  { claim, outcome }: { readonly claim: Claim; readonly outcome: Arrived<Report> },
): Promise<MadeCall<R, Claim>> => {
  const { parts, isLate } = context;
  switch (outcome.kind) {
    case 'unknown':
      return { record: claim, open: claim, isUnclear: true, unanswered: { by: 'response', outcome } };
    case 'done': {
      const applied = await kind.apply(parts, claim, { by: 'response', report: outcome.value });
      if (applied.state === 'settled') return { record: applied.record, refusal: applied.refusal };
      if (applied.state !== 'over') return { record: applied.record, open: applied.record };
      return kind.end(parts, applied.record, { cause: 'refused', refusal: OVER, isLate });
    }
    case 'declined':
    case 'refused':
      // Only looks resend calls, so `isLate` means a resend.
      return kind.endsUnread?.(outcome, isLate)
        ? kind.end(parts, claim, { cause: 'refused', refusal: outcome, isLate })
        : recordRefusal(kind, context, { claim, refusal: outcome });
    default:
      return assertNever(outcome);
  }
};

/**
 * A refusal proves only that this send did nothing. An earlier send may have been carried out, so read the provider
 * first. The claim stays while the read fails.
 */
const recordRefusal = async <Parts extends CallParts, R, Claim extends R, Report, Found>(
  kind: CallKind<Parts, R, Claim, Report, Found>,
  { parts, isLate }: Recorded<Parts>,
  { claim, refusal }: { readonly claim: Claim; readonly refusal: RefusedCall },
): Promise<MadeCall<R, Claim>> => {
  const read = await kind.find(parts, claim);
  if (read.kind !== 'done') {
    return { record: claim, open: claim, isUnclear: true, unanswered: { by: 'refusal', outcome: read } };
  }
  const applied = await kind.apply(parts, claim, { by: 'refusal', report: read.value });
  if (applied.state === 'settled') {
    return { record: applied.record, refusal: applied.refusal === OVER ? refusal : applied.refusal };
  }
  if (applied.state === 'open') return { record: applied.record, open: applied.record, isUnclear: true };
  return kind.end(parts, applied.record, { cause: 'refused', refusal, found: read.value, isLate });
};
