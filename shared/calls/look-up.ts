/**
 * @module Looks up a claimed call with an unknown outcome. `lookUpCall` reads the provider before it sends the call
 * again. `resendCall` sends the call again without a read, for calls that a read does not show.
 */

import type { CallKind, CallParts, LookedUp, LookedUpCall } from './call-kind.ts';
import { isStuckSince, type LookResult, nextLook, RESEND_WITHIN_MS } from './call-times.ts';
import { recordOutcome } from './run-call.ts';

type DueKind<Parts extends CallParts, R, Claim extends R, Report, Found> = CallKind<Parts, R, Claim, Report, Found> &
  LookedUp<Parts, R, Claim>;

/**
 * Looks up a call. An undelivered call is sent again under its own key, by default for half an hour after its claim.
 * Then the call ends.
 */
export const lookUpCall = async <Parts extends CallParts, R, Claim extends R, Report, Found>(
  kind: DueKind<Parts, R, Claim, Report, Found>,
  parts: Parts,
  claim: Claim,
): Promise<LookedUpCall<R>> => {
  const read = await kind.find(parts, claim);
  if (read.kind !== 'done') {
    return lookAgain(kind, parts, claim, { text: 'provider unclear', unanswered: { by: 'look', outcome: read } });
  }
  const found = read.value;
  const applied = await kind.apply(parts, claim, { by: 'look', report: found });
  const end = async (current: Claim): Promise<LookedUpCall<R>> => {
    const ended = await kind.end(parts, current, { cause: 'ended', found, isLate: true });
    return { ...ended, text: kind.statusOf(ended.record) };
  };
  switch (applied.state) {
    case 'settled':
      return { record: applied.record, text: applied.says ?? kind.statusOf(applied.record) };
    case 'open':
      return lookAgain(kind, parts, applied.record, {
        text: 'still under way',
        looked: applied.looked ?? 'still_under_way',
      });
    case 'over':
      return end(applied.record);
    case 'absent': {
      const current = applied.record;
      const isPastResends = parts.deps.now() > kind.claimedAt(current) + (kind.resendWithinMs ?? RESEND_WITHIN_MS);
      return isPastResends || !(await kind.maySend(parts, current)) ? end(current) : resendCall(kind, parts, current);
    }
  }
};

/** Sends a call again under its own key. Reads the provider only after a refusal. */
export const resendCall = async <Parts extends CallParts, R, Claim extends R, Report, Found>(
  kind: DueKind<Parts, R, Claim, Report, Found>,
  parts: Parts,
  claimed: Claim,
): Promise<LookedUpCall<R>> => {
  const { claim, outcome } = await kind.send(parts, claimed);
  // This send did nothing, but an earlier send may have reached the provider since, so the claim stays.
  if (outcome.kind === 'not_done') {
    return lookAgain(kind, parts, claim, { text: 'not sent', unanswered: { by: 'response', outcome } });
  }
  const { open, ...made } = await recordOutcome(kind, { parts, isLate: true }, { claim, outcome });
  const text = kind.statusOf(made.record);
  return open === undefined ? { ...made, text } : lookAgain(kind, parts, open, { ...made, text });
};

interface OpenLook extends Pick<LookedUpCall<unknown>, 'text' | 'unanswered'> {
  readonly looked?: LookResult;
}

/** Sets the next look from the list of look times. Logs a warning if the call is stuck. */
const lookAgain = async <Parts extends CallParts, R, Claim extends R>(
  kind: LookedUp<Parts, R, Claim>,
  parts: Parts,
  claim: Claim,
  { text, unanswered, looked = 'outcome_unknown' }: OpenLook,
): Promise<LookedUpCall<R>> => {
  const { now, log } = parts.deps;
  const since = kind.claimedAt(claim);
  const stuck = isStuckSince(since, looked, now()) ? kind.stuck(claim) : undefined;
  if (stuck) log.warn(stuck[0], { ...stuck[1], reason: looked });
  const changed = await kind.setLook(parts, claim, { ...nextLook(since, kind.step(claim), now()), looked });
  return { record: changed ?? claim, isUnclear: true, unanswered, text };
};
