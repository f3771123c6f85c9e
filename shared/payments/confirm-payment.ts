/** @module Confirms a payment. One conditional write claims the attempt, then the provider is called once. */

import { audienceOf } from '../access/audience.ts';
import { keyOfCaller } from '../access/caller.ts';
import { DomainError } from '../core/errors.ts';
import type { Instant } from '../core/time.ts';
import { isUnderKey, keyMark, replayedFor } from '../http/idempotency.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { paymentMethodRecord } from '../payment-methods/payment-method.ts';
import {
  requireHeld,
  requireOneTime,
  type UsableMethod,
  useHeld,
  useSaved,
  useToken,
} from '../payment-methods/usable-method.ts';
import type { Table, TransactionStep } from '../platform/table.ts';
import type { PaymentProvider } from '../providers/provider.ts';
import type { MoneyDeps } from '../providers/provider-deps.ts';
import { requireTakesVerification, unavailableError } from '../providers/unwrap.ts';
import { makeAttempt } from './charge-call.ts';
import { hasLostPlace } from './discount-of-payment.ts';
import { requireTakesHold } from './holds/takes-hold.ts';
import { heldBy } from './paying-customer.ts';
import { isOfSubscription, type VisiblePayment } from './payment.ts';
import { claimRefusal } from './payment-decisions.ts';
import { type PaymentStore, paymentStore } from './payment-store.ts';
import { type ChosenMethod, claimAttempt, isUnderWay } from './payment-versions.ts';
import { confirmationView, paymentView } from './payment-view.ts';
import { trySaveMethod } from './save-method.ts';
import { withoutDraft } from './update-call.ts';

type ConfirmRequest = ApiRequest<{ id: string }, unknown, ConfirmInput, VisiblePayment>;

export interface ConfirmDeps extends MoneyDeps {
  /**
   * Returns write conditions that hold only while a subscription's payment may be paid.
   * @throws DomainError INVALID_STATE if the subscription no longer waits for the payment
   */
  readonly requireOpenPayment: (table: Table, payment: VisiblePayment) => Promise<readonly TransactionStep[]>;
}

interface ConfirmInput {
  readonly payment_method_id?: string | null | undefined;
  readonly return_url?: string | null | undefined;
  readonly verification_token?: string | undefined;
  readonly off_session?: boolean | null | undefined;
}

export const confirmPayment = async (deps: ConfirmDeps, request: ConfirmRequest): Promise<Reply> => {
  const store = paymentStore(deps.table, deps.now);
  const onlyIf = await conditionsOf(deps, request.record);
  const provider = await deps.providers.require(request.record.providerId, 'payments');
  const verificationToken = request.body.verification_token;
  requireTakesVerification(provider, verificationToken);
  const payment = await withoutDraft({ deps, store, provider }, request.record);
  if (request.body.payment_method_id && claimRefusal(payment) === undefined) {
    await requireOneTime(provider, chooseMethod(provider, request, payment));
  }
  const claim = await claimForCaller(deps, { store, provider, onlyIf }, { ...request, record: payment });
  if (claim.kind === 'standing') return standingReply(claim.payment, request);
  const answer = await makeAttempt({ deps, store, provider }, { ...claim, verificationToken, isAttended: true });
  if (answer.notDone) throw unavailableError(answer.notDone, { payment_id: payment.id });
  if (answer.refusal) throw answer.refusal;
  if (answer.declined) {
    throw new DomainError('PAYMENT_DECLINED', {
      details: { decline_code: answer.declined, payment: paymentView(answer.payment, audienceOf(request.caller)) },
    });
  }
  if (answer.payment.status === 'canceled') throw isCanceled();
  await trySaveMethod(deps, answer.payment);
  const isOpen = isUnderWay(answer.payment.status);
  return { data: confirmationView(answer.payment), status: answer.isUnclear ? 202 : 200, isOpen };
};

/** Replies with the record of a held, paid or already claimed payment. */
const standingReply = (payment: VisiblePayment, { idempotency }: ConfirmRequest): Reply => ({
  data: confirmationView(payment),
  ...(payment.status === 'processing' && { status: 202 }),
  isOpen: isUnderWay(payment.status),
  ...replayedFor(idempotency),
});

const conditionsOf = async (
  { table, requireOpenPayment }: ConfirmDeps,
  payment: VisiblePayment,
): Promise<readonly TransactionStep[]> =>
  isOfSubscription(payment) && payment.status !== 'succeeded' ? requireOpenPayment(table, payment) : [];

type Claim =
  | { readonly kind: 'claimed'; readonly claim: VisiblePayment; readonly before: VisiblePayment }
  /** The payment is held or paid, or an earlier request under the same key has claimed the attempt. */
  | { readonly kind: 'standing'; readonly payment: VisiblePayment };

/**
 * Claims the attempt, on the condition that this caller may still act for the payer and charge the method.
 * @throws DomainError INVALID_STATE, PAYMENT_IN_PROGRESS, PAYMENT_METHOD_REQUIRED or INSUFFICIENT_PERMISSIONS
 */
const claimForCaller = async (
  deps: MoneyDeps,
  parts: {
    readonly store: PaymentStore;
    readonly provider: PaymentProvider;
    readonly onlyIf: readonly TransactionStep[];
  },
  request: ConfirmRequest,
): Promise<Claim> => {
  const { store, provider, onlyIf } = parts;
  const { right } = request;
  const claim = (payment: VisiblePayment, resolved?: UsableMethod) =>
    store.change(payment, (current) => {
      const now = deps.now();
      if (isOwnAttempt(current, request, now) || !requireClaimable(current, now)) return undefined;
      const chosen = choose(provider, request, current);
      const method = current === payment ? (resolved ?? chosen.method) : chosen.method;
      if (!provider.can.capturesOnApproval && !method.methodRef) throw new DomainError('PAYMENT_METHOD_REQUIRED');
      requireTakesHold(provider, { ...method, captureMethod: current.captureMethod });
      return {
        next: { ...claimAttempt(current, { ...chosen, method }, now), attemptKey: keyMark(request.idempotency) },
        onlyIf: [...onlyIf, ...method.onlyIf, ...right.onlyIf],
      };
    });
  let claimed = await claim(request.record);
  if (claimed.unmet) {
    await right.requireStill();
    const { method } = choose(provider, request, claimed.record);
    claimed = await claim(
      claimed.record,
      await requireHeld({ table: deps.table, caller: request.caller }, claimed.record, method),
    );
  }
  if (claimed.unmet) throw new DomainError('VERSION_CONFLICT');
  return claimed.isOurs
    ? { kind: 'claimed', claim: claimed.record, before: claimed.was }
    : { kind: 'standing', payment: claimed.record };
};

/** True if the request with this key has claimed the current attempt. */
const isOwnAttempt = (
  { status, attemptKey: key, claimedAt: at }: VisiblePayment,
  { idempotency }: ConfirmRequest,
  now: Instant,
): boolean => isUnderWay(status) && isUnderKey({ key, at }, idempotency, now);

/** @returns false if the payment is held or paid already @throws DomainError INVALID_STATE or PAYMENT_IN_PROGRESS */
const requireClaimable = (payment: VisiblePayment, now: Instant): boolean => {
  const refusal = claimRefusal(payment);
  // A payment whose use of a discount code or place on a payment link has expired counts as canceled, because due work
  // cancels it.
  if (refusal === 'canceled' || hasLostPlace(payment, now)) throw isCanceled();
  if (refusal === 'in progress') throw new DomainError('PAYMENT_IN_PROGRESS');
  return refusal === undefined;
};

const isCanceled = (): DomainError => new DomainError('INVALID_STATE', { message: 'The payment is canceled' });

/** The method and the return URL of the request, by default those of the payment. */
const choose = (provider: PaymentProvider, request: ConfirmRequest, payment: VisiblePayment): ChosenMethod => {
  const method = chooseMethod(provider, request, payment);
  const offSession = isOffSession(request);
  if (offSession && method.paymentMethodId === undefined) {
    throw new DomainError('PAYMENT_METHOD_REQUIRED', { message: 'off_session needs a saved payment method' });
  }
  return {
    method,
    returnUrl: request.body.return_url ?? payment.returnUrl,
    ...(offSession && { offSession: true as const }),
  };
};

/** True if the merchant charges an absent payer. Only an API key that acts for a payer may send `off_session`. */
const isOffSession = ({ body, caller }: Pick<ConfirmRequest, 'body' | 'caller'>): boolean =>
  body.off_session === true && caller.kind !== 'key' && keyOfCaller(caller) !== undefined;

const chooseMethod = (
  provider: PaymentProvider,
  { body, named, caller }: ConfirmRequest,
  payment: VisiblePayment,
): UsableMethod => {
  const saved = named(paymentMethodRecord);
  if (saved) return useSaved(saved, { caller, payer: payment, slot: payment.providerId });
  if (body.payment_method_id) return useToken(provider, body.payment_method_id, payment.providerCustomerId);
  return useHeld(caller, payment, heldBy(payment));
};
