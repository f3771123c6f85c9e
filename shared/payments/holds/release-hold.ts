/** @module Releases a held payment, which is then canceled. */

import { audienceOf } from '../../access/audience.ts';
import { requireFree } from '../../calls/exclusions.ts';
import { iso } from '../../core/time.ts';
import { keyMark, replayedFor } from '../../http/idempotency.ts';
import type { ApiRequest, Reply } from '../../http/request.ts';
import type { MoneyDeps } from '../../providers/provider-deps.ts';
import type { IntentParts } from '../create-intent.ts';
import type { VisiblePayment } from '../payment.ts';
import { openCallsOfPayment } from '../payment-decisions.ts';
import { paymentView } from '../payment-view.ts';
import { hasHoldCall, isOwnHoldCall, makeHoldCall } from './hold-call.ts';
import { claimHoldCall } from './hold-versions.ts';
import { claimByMerchant, isNotHeld, requireMerchantOfHold } from './may-end-hold.ts';

/** @throws DomainError INSUFFICIENT_PERMISSIONS, PAYMENT_IN_PROGRESS, INVALID_STATE, or the provider's refusal */
export const releaseHold = async (
  parts: IntentParts & { readonly deps: MoneyDeps },
  payment: VisiblePayment,
  { caller, idempotency }: Pick<ApiRequest, 'caller'> & Partial<Pick<ApiRequest, 'idempotency'>>,
): Promise<Reply> => {
  const { deps, store } = parts;
  const right = await requireMerchantOfHold(deps.table, payment, { caller });
  const decide = (current: VisiblePayment): VisiblePayment | undefined => {
    const repeat = { request: idempotency, now: deps.now() };
    if (current.status === 'canceled' || isOwnHoldCall(current, 'release', repeat)) return undefined;
    if (current.status !== 'requires_capture') throw isNotHeld(current);
    requireFree('release', openCallsOfPayment(current));
    return claimHoldCall(current, { kind: 'release', claimedAt: iso(deps.now()), key: keyMark(idempotency) });
  };
  const { record, isOurs } = await claimByMerchant(store, payment, { right, decide });
  const released = isOurs && hasHoldCall(record) ? await makeHoldCall(parts, record) : record;
  const reply = {
    data: paymentView(released, audienceOf(caller)),
    ...(isOurs ? {} : replayedFor(idempotency)),
  };
  if (released.status === 'requires_capture') return { ...reply, status: 202 };
  if (released.status !== 'canceled') throw isNotHeld(released);
  return reply;
};
