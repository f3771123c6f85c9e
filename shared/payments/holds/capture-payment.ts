/** @module Captures a held payment once, in whole or in part. The provider releases the rest. */

import { audienceOf } from '../../access/audience.ts';
import { requireFree } from '../../calls/exclusions.ts';
import { DomainError, invalid } from '../../core/errors.ts';
import { derivePrices, type Prices } from '../../core/money.ts';
import { type Instant, instant, iso } from '../../core/time.ts';
import { keyMark, replayedFor } from '../../http/idempotency.ts';
import type { ApiRequest, Reply } from '../../http/request.ts';
import type { PaymentProvider } from '../../providers/provider.ts';
import type { MoneyDeps } from '../../providers/provider-deps.ts';
import { requireReport } from '../../providers/unwrap.ts';
import { storeReading } from '../apply-reading.ts';
import type { IntentParts } from '../create-intent.ts';
import type { VisiblePayment } from '../payment.ts';
import { openCallsOfPayment } from '../payment-decisions.ts';
import { paymentStore } from '../payment-store.ts';
import { providerReference } from '../payment-versions.ts';
import { paymentView } from '../payment-view.ts';
import { trySaveMethod } from '../save-method.ts';
import type { CaptureBody } from './capture-request.ts';
import { hasHoldCall, isOwnHoldCall, makeHoldCall } from './hold-call.ts';
import { capturableOf, claimHoldCall, pricesOfTotal } from './hold-versions.ts';
import { claimByMerchant, isNotHeld, requireMerchantOfHold } from './may-end-hold.ts';

type CaptureRequest = Pick<
  ApiRequest<{ id: string }, unknown, CaptureBody, VisiblePayment>,
  'body' | 'caller' | 'record'
> &
  Partial<Pick<ApiRequest, 'idempotency'>>;

export const capturePayment = async (deps: MoneyDeps, request: CaptureRequest): Promise<Reply> => {
  const { body, record, idempotency } = request;
  const right = await requireMerchantOfHold(deps.table, record, request);
  const store = paymentStore(deps.table, deps.now);
  const provider = await deps.providers.require(record.providerId, 'payments');
  const parts: IntentParts = { deps, store, provider };
  const payment = await readIfOver(parts, record);
  const isOwn = (current: VisiblePayment): boolean =>
    isOwnHoldCall(current, 'capture', { request: idempotency, now: deps.now() });
  if (payment.status === 'requires_capture' && !isOwn(payment)) {
    requireCapturable(payment);
    await requireExpressible(provider, payment, capturePrices(payment, body));
  }
  const decide = (current: VisiblePayment): VisiblePayment | undefined => {
    if (isOwn(current) || isCapturedAs(current, body)) return undefined;
    requireCapturable(current);
    const { totalCents, taxCents, discountCents } = capturePrices(current, body);
    return claimHoldCall(current, {
      ...{ kind: 'capture', totalCents, taxCents, discountCents },
      claimedAt: iso(deps.now()),
      key: keyMark(idempotency),
    });
  };
  const claimed = await claimByMerchant(store, payment, { right, decide });
  if (!claimed.isOurs || !hasHoldCall(claimed.record)) return standingReply(claimed.record, request);
  const captured = await makeHoldCall(parts, claimed.record);
  await trySaveMethod(deps, captured);
  return replyOf(captured, request, capturePrices(claimed.was, body).totalCents);
};

/** Replies with the record of a payment already captured or being captured. */
const standingReply = (payment: VisiblePayment, { caller, idempotency }: CaptureRequest): Reply => ({
  data: paymentView(payment, audienceOf(caller)),
  ...(payment.status === 'requires_capture' && { status: 202 }),
  ...replayedFor(idempotency),
});

/** Reads the provider if the hold should have ended. The provider may still hold the amount. */
const readIfOver = async (parts: IntentParts, payment: VisiblePayment): Promise<VisiblePayment> => {
  const { deps, store, provider } = parts;
  if (payment.status !== 'requires_capture' || payment.holdCall || !isPast(payment.captureBefore, deps.now())) {
    return payment;
  }
  const report = requireReport(await provider.findPayment(providerReference(payment)), { payment_id: payment.id });
  return (await storeReading(deps, store, { payment, report, cause: 'answer' })).payment;
};

const isPast = (at: string | undefined, now: Instant): boolean => at !== undefined && instant(at) <= now;

/** True if the payment has succeeded with this amount. @throws DomainError INVALID_STATE for another amount */
const isCapturedAs = (payment: VisiblePayment, body: CaptureBody): boolean => {
  if (payment.status !== 'succeeded') return false;
  const { totalCents } = payment;
  // If the request has only a total, the totals alone are compared, without the payment's tax and discount.
  const prices = namesSplit(body) ? payment : { ...payment, taxCents: 0, discountCents: 0 };
  if (!namesPrice(body) || capturePrices(prices, body).totalCents === totalCents) return true;
  throw isCaptured(totalCents);
};

const isCaptured = (capturedCents: number): DomainError =>
  new DomainError('INVALID_STATE', {
    message: 'The payment was captured with another amount',
    details: { reason: 'captured', captured_cents: capturedCents },
  });

/** @throws DomainError INVALID_STATE or PAYMENT_IN_PROGRESS */
const requireCapturable = (payment: VisiblePayment): void => {
  if (payment.status !== 'requires_capture') throw isNotHeld(payment);
  requireFree('capture', openCallsOfPayment(payment));
  // If nothing is left of the hold, a capture is under way at the provider, for example from its dashboard.
  if (capturableOf(payment) === 0) throw new DomainError('PAYMENT_IN_PROGRESS');
};

const namesPrice = (body: CaptureBody): boolean => Object.values(body).some((cents) => cents !== undefined);

/**
 * The prices after the capture. A body without prices captures everything. Otherwise, an omitted price is the payment's
 * own, except that a total without a subtotal sets the subtotal.
 * @throws DomainError AMOUNT_TOO_SMALL, PRICING_MISMATCH or CAPTURE_EXCEEDS_AUTHORIZATION
 */
const capturePrices = (payment: VisiblePayment, body: CaptureBody): Prices => {
  const capturable = payment.status === 'succeeded' ? payment.totalCents : capturableOf(payment);
  if (!namesPrice(body)) return pricesOfTotal(payment, capturable);
  const total = body.total_cents ?? body.amount_cents;
  if (total === 0) throw new DomainError('AMOUNT_TOO_SMALL');
  const { subtotal_cents: subtotal, tax_cents: tax, discount_cents: discount } = body;
  if (total !== undefined && total - payment.taxCents + payment.discountCents < 0 && !namesSplit(body)) {
    const message = 'The total is less than the tax of the payment; send subtotal, tax and discount';
    throw new DomainError('PRICING_MISMATCH', { message });
  }
  const prices = derivePrices({
    ...body,
    subtotal_cents: subtotal ?? (total === undefined ? payment.subtotalCents : undefined),
    tax_cents: tax ?? payment.taxCents,
    discount_cents: discount ?? payment.discountCents,
  });
  if (payment.status === 'requires_capture' && prices.totalCents > capturable) throw exceeds(capturable);
  return prices;
};

const namesSplit = ({ subtotal_cents: subtotal, tax_cents: tax, discount_cents: discount }: CaptureBody): boolean =>
  subtotal !== undefined || tax !== undefined || discount !== undefined;

const exceeds = (capturableCents: number): DomainError =>
  new DomainError('CAPTURE_EXCEEDS_AUTHORIZATION', { details: { capturable_cents: capturableCents } });

/** Refuses a partial amount that is not a multiple of the provider's unit in this currency. */
const requireExpressible = async (
  provider: PaymentProvider,
  { currency, authorizedCents }: VisiblePayment,
  { totalCents }: Prices,
): Promise<void> => {
  if (totalCents === authorizedCents) return;
  const refusal = await provider.checkAmount({ amountCents: totalCents, currency });
  if (refusal?.kind !== 'not expressible') return;
  const message = `must be a multiple of ${refusal.multipleOf} in ${currency} at ${provider.slot}`;
  throw invalid([{ path: 'total_cents', rule: 'multiple_of', message }]);
};

const replyOf = (payment: VisiblePayment, { caller }: CaptureRequest, wantedCents: number): Reply => {
  const data = paymentView(payment, audienceOf(caller));
  if (payment.status === 'requires_capture') return { data, status: 202 };
  if (payment.status !== 'succeeded') throw isNotHeld(payment);
  if (payment.totalCents !== wantedCents) throw isCaptured(payment.totalCents);
  return { data };
};
