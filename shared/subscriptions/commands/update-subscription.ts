/** @module Changes a subscription's payment method, metadata and billing address. */

import { requireSameOwner } from '../../access/may-charge.ts';
import { type DomainError, invalid } from '../../core/errors.ts';
import { type Address, addressRecord } from '../../customers/address.ts';
import type { BillingAddressBody } from '../../customers/address-requests.ts';
import { canonicalJson } from '../../http/idempotency.ts';
import { nextMetadata } from '../../http/metadata.ts';
import type { ApiRequest, Reply } from '../../http/request.ts';
import { paymentMethodRecord } from '../../payment-methods/payment-method.ts';
import { type UsableMethod, useSaved } from '../../payment-methods/usable-method.ts';
import type { StoreDeps } from '../../platform/table.ts';
import type { BillingDeps } from '../billing/biller.ts';
import { isProviderBilled, type Subscription, type VisibleSubscription } from '../record/subscription.ts';
import type { UpdateSubscriptionBody } from '../record/subscription-requests.ts';
import { hasOpenAttempt } from '../record/subscription-states.ts';
import { subscriptionStore } from '../record/subscription-store.ts';
import { edit } from '../record/subscription-versions.ts';
import { commandView } from '../record/subscription-view.ts';
import { changeMethod } from './change-method.ts';

/** Changes payment method and metadata. A new method is charged immediately if the subscription is past due. */
export const updateSubscription = async (
  deps: BillingDeps,
  request: ApiRequest<unknown, unknown, UpdateSubscriptionBody, VisibleSubscription>,
): Promise<Reply> => {
  const { record, body } = request;
  requireChange(request);
  const method = chooseMethod(request);
  // Check the metadata first, because changing the method may call the provider and charge.
  nextMetadata(record, body);
  const changed = method ? await changeMethod(deps, record, { method, right: request.right.onlyIf }) : record;
  const isCharged =
    method !== undefined && (isProviderBilled(record) || method.paymentMethodId !== record.paymentMethodId);
  const isDecline = isCharged && changed.status === 'past_due' && !hasOpenAttempt(changed.charge);
  return { data: commandView(await storeMetadata(deps, changed, body)), isDecline };
};

/**
 * Requires that the request changes something. Runs after the check for read-only fields, because the error of that
 * check is clearer.
 * @throws DomainError VALIDATION_ERROR
 */
const requireChange = ({ body, sendsBack }: ApiRequest<unknown, unknown, UpdateSubscriptionBody>): void => {
  if (sendsBack || body.payment_method_id !== undefined || body.metadata !== undefined) return;
  throw invalid([{ path: '', rule: 'required', message: 'needs payment_method_id or metadata' }]);
};

/**
 * The requested method. It must be the caller's own, even if an organization pays. A key that acts for an organization
 * may use the organization's method.
 * @throws DomainError VALIDATION_ERROR for a method that is not the caller's own, or is not saved
 */
const chooseMethod = ({
  record,
  body,
  named,
  caller,
}: ApiRequest<unknown, unknown, UpdateSubscriptionBody, VisibleSubscription>): UsableMethod | undefined => {
  if (!body.payment_method_id) return undefined;
  const saved = named(paymentMethodRecord);
  if (!saved) throw invalidMethodError('saved', 'must be a saved payment method; save it first');
  if (saved.organizationId !== undefined && caller.kind !== 'organization')
    throw invalidMethodError('owner', 'must be your own payment method');
  return useSaved(saved, { caller, payer: record, slot: record.providerId });
};

const invalidMethodError = (rule: string, message: string): DomainError =>
  invalid([{ path: 'payment_method_id', rule, message }]);

const storeMetadata = async (
  deps: BillingDeps,
  subscription: Subscription,
  body: UpdateSubscriptionBody,
): Promise<Subscription> => {
  if (!body.metadata) return subscription;
  return subscriptionStore(deps.table).change(subscription, (current) => {
    const next = nextMetadata(current, body);
    if (canonicalJson(next) === canonicalJson(current.metadata ?? {})) return current;
    return edit(current, { reason: 'updated', now: deps.now() }, { metadata: next });
  });
};

/** Links or unlinks a billing address. */
export const linkSubscriptionAddress = async (
  deps: StoreDeps,
  { record, named }: ApiRequest<unknown, unknown, BillingAddressBody, VisibleSubscription>,
): Promise<Reply> => {
  const address: Address | undefined = named(addressRecord);
  if (address) requireSameOwner(address, record.organizationId);
  const linked = await subscriptionStore(deps.table).change(record, (current) =>
    current.billingAddressId === address?.id
      ? current
      : edit(current, { reason: 'billing_address_changed', now: deps.now() }, { billingAddressId: address?.id }),
  );
  return { data: commandView(linked) };
};
