/**
 * @module Saves a method entered by the payer on a subscription's hosted page, and makes it the subscription's own. An
 * open payment is charged with the new method first, so a declined method does not replace the current method.
 */

import * as z from 'zod';
import { ownerOfRecord, type RecordKind } from '../access/record-kind.ts';
import { isOurId } from '../core/ids.ts';
import { textAt } from '../core/rows.ts';
import { customerPointerKey } from '../customers/customer.ts';
import { idUnderKey } from '../http/create-once.ts';
import { tokenText, verificationTokenSchema } from '../http/fields.ts';
import type { IdempotentRequest } from '../http/idempotency.ts';
import { pageGone } from '../http/link-caller.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { createMethod } from '../payment-methods/create-method.ts';
import { type PaymentMethod, paymentMethodRecord, paymentMethodShape } from '../payment-methods/payment-method.ts';
import { requireOneTime, useSaved } from '../payment-methods/usable-method.ts';
import { findCollectedPayment } from '../payments/collect-payment.ts';
import { type ConfirmDeps, confirmPayment } from '../payments/confirm-payment.ts';
import type { VisiblePayment } from '../payments/payment.ts';
import { findAlias } from '../platform/alias.ts';
import { versionedRecord } from '../platform/versioned-record.ts';
import type { MethodDeps } from '../providers/provider-deps.ts';
import type { BillingDeps } from '../subscriptions/billing/biller.ts';
import { findOpenPayment } from '../subscriptions/billing/open-payment.ts';
import { changeMethod } from '../subscriptions/commands/change-method.ts';
import { followOpenPayment } from '../subscriptions/commands/follow-payment.ts';
import { noteOnSubscription } from '../subscriptions/commands/note-on-subscription.ts';
import type { VisibleSubscription } from '../subscriptions/record/subscription.ts';
import { hasOpenAttempt } from '../subscriptions/record/subscription-states.ts';
import { stateReply } from './cancel-page.ts';
import type { PaymentPageDeps } from './page-of-payment.ts';
import { declinedOnPage, pageRefusal } from './page-refusal.ts';
import { pageUrl } from './page-settings.ts';

export const pageMethodBody = z
  .object({
    provider_payment_method_token: tokenText(255).describe(
      "The one-time token that the provider's library made in the browser. The id of a stored method gets 404.",
    ),
    verification_token: verificationTokenSchema.describe(
      "The proof of the payer's authentication that the provider's library made in the browser (Square). Used once and not stored.",
    ),
  })
  .meta({ id: 'PageMethod', description: 'The token of the new payment method.' });

type MethodInput = z.output<typeof pageMethodBody>;
type PageRequest = ApiRequest<unknown, unknown, MethodInput, VisibleSubscription>;
type PageMethodDeps = ConfirmDeps & MethodDeps & BillingDeps & PaymentPageDeps;

export const changePageMethod = async (deps: PageMethodDeps, request: PageRequest): Promise<Reply> => {
  const { record } = request;
  await requireNewToken(deps, request);
  const method = await saveOf(deps, request);
  if (!method.setup) return (await pay(deps, request, method)) ?? stateReply(deps, record);
  await versionedRecord(deps, paymentMethodShape).setTimes(method, {
    setup: { ...method.setup, subscriptionId: record.id },
  });
  await noteOnSubscription(deps, record, { wantedMethodId: method.id });
  return stateReply(deps, record, { status: 202 });
};

/**
 * Accepts a new token, or the token saved by an earlier request under the same key.
 * @throws DomainError RESOURCE_NOT_FOUND for a stored method
 */
const requireNewToken = async (deps: PageMethodDeps, { record, body, idempotency }: PageRequest): Promise<void> => {
  const { provider_payment_method_token: token } = body;
  const provider = await deps.providers.require(record.providerId, 'methods');
  if (isOurId(token) || provider.isStoredMethod(token)) throw pageGone();
  const underKey = idempotency && (await idUnderKey(deps, 'payment_method', ofMethod(idempotency).scope));
  const alias = await findAlias(deps.table, record.providerId, token);
  if (alias && alias.id !== underKey) throw pageGone();
  const { providerCustomerId } = record;
  const held = { methodRef: token, providerCustomerId };
  await requireOneTime(provider, held, async () => idempotency !== undefined).catch(pageRefusal);
};

/** Derives the method's idempotency scope, because the request's own scope is already in use. */
const ofMethod = (request: IdempotentRequest): IdempotentRequest => ({ ...request, scope: `${request.scope}:method` });

/** Saves the method for the owner of the subscription. */
const saveOf = async (deps: PageMethodDeps, request: PageRequest): Promise<PaymentMethod> => {
  const { record, body, idempotency } = request;
  const owner = ownerOfRecord(record);
  if (!owner) throw pageGone();
  const pointer = await deps.table.get(customerPointerKey(owner, record.providerId));
  const { data } = await createMethod(deps, {
    ...request,
    idempotency: idempotency && ofMethod(idempotency),
    owner,
    alongside: [pointer],
    named: () => undefined,
    body: { ...body, provider_id: record.providerId, is_default: false },
  }).catch(pageRefusal);
  const method = await versionedRecord(deps, paymentMethodShape).load(textAt(data, 'id') ?? '');
  if (!method) throw new Error('the method that was saved is missing');
  return method;
};

/** Pays an open payment, or sets the subscription's method. @returns a reply only if the payment's outcome is open */
const pay = async (deps: PageMethodDeps, request: PageRequest, method: PaymentMethod): Promise<Reply | undefined> => {
  const { record, caller, right } = request;
  const open = await findOpenPayment(deps, record);
  if (open) return payOpen(deps, request, { open, method });
  const usable = useSaved(method, { caller, payer: record, slot: record.providerId });
  const changed = await changeMethod(deps, record, { method: usable, right: right.onlyIf });
  const isDeclined = changed.status === 'past_due' && !hasOpenAttempt(changed.charge);
  if (isDeclined) throw declinedOnPage(changed.charge?.failureCode);
  return undefined;
};

interface ToPay {
  readonly open: VisiblePayment;
  readonly method: PaymentMethod;
}

const payOpen = async (
  deps: PageMethodDeps,
  request: PageRequest,
  { open, method }: ToPay,
): Promise<Reply | undefined> => {
  const record = await noteOnSubscription(deps, request.record, { wantedMethodId: method.id });
  try {
    await confirmPayment(deps, {
      ...request,
      record: open,
      params: { id: open.id },
      body: { payment_method_id: method.id, return_url: open.returnUrl ?? pageUrl(deps.pages) },
      // The cast is sound, because a confirmation refers only to payment methods.
      named: <T>(kind: RecordKind<T>) => (kind.resource === paymentMethodRecord.resource ? (method as T) : undefined),
    });
  } catch (error) {
    await noteOnSubscription(deps, record, { wantedMethodId: undefined });
    return pageRefusal(error);
  }
  const paid = await findCollectedPayment(deps, open.id);
  if (paid?.status !== 'succeeded') return stateReply(deps, record, { status: 202 });
  await followOpenPayment(deps, { paymentId: open.id, subscriptionId: record.id });
  return undefined;
};
