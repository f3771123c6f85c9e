import { requireSameOwner } from '../../access/use.ts';
import { type Address, addressRecord } from '../../addresses/address.ts';
import { type DomainError, invalid } from '../../core/errors.ts';
import { metadataSchema } from '../../http/fields.ts';
import type { Reply } from '../../http/reply.ts';
import type { ApiRequest } from '../../http/request.ts';
import { canonicalJson } from '../../idempotency/idempotency.ts';
import { paymentMethodRecord } from '../../payment-methods/payment-method.ts';
import { type UsableMethod, useSaved } from '../../payment-methods/use.ts';
import type { Table } from '../../table/table.ts';
import type { BillingDeps } from '../billing/biller.ts';
import { subscriptionStore } from '../record/store.ts';
import type { Subscription, VisibleSubscription } from '../record/subscription.ts';
import { edit } from '../record/versions.ts';
import { commandView } from '../record/view.ts';
import { changeMethod } from './change-method.ts';
import type { BillingAddressBody, UpdateSubscriptionBody } from './requests.ts';

/** Changes payment method and metadata. A new method on a subscription that is past due is tried at once. */
export const updateSubscription = async (
  deps: BillingDeps,
  request: ApiRequest<unknown, unknown, UpdateSubscriptionBody, VisibleSubscription>,
): Promise<Reply> => {
  const { record, body } = request;
  const method = chooseMethod(request);
  // Every check comes before the method is changed: that may call the provider, and charge what is past due.
  nextMetadata(record, body);
  const paying = method ? await changeMethod(deps, record, method) : record;
  return { data: commandView(await withMetadata(deps, paying, body)) };
};

/**
 * The method that the request names: the caller's own, even where an organization pays.
 * @throws DomainError VALIDATION_ERROR for an organization's, or for anything but a saved method
 */
const chooseMethod = ({
  record,
  body,
  named,
  caller,
}: ApiRequest<unknown, unknown, UpdateSubscriptionBody, VisibleSubscription>): UsableMethod | undefined => {
  if (!body.payment_method_id) return undefined;
  const saved = named(paymentMethodRecord);
  if (!saved) throw refusedMethod('saved', 'must be a saved payment method: save it first');
  if (saved.organizationId !== undefined) throw refusedMethod('owner', 'must be a payment method of your own');
  return useSaved(saved, { caller, payer: record, slot: record.providerId });
};

const refusedMethod = (rule: string, message: string): DomainError =>
  invalid([{ path: 'payment_method_id', rule, message }]);

const withMetadata = async (
  deps: BillingDeps,
  subscription: Subscription,
  body: UpdateSubscriptionBody,
): Promise<Subscription> => {
  if (!body.metadata) return subscription;
  return subscriptionStore(deps.table).change(subscription, (current) => {
    const next = nextMetadata(current, body);
    if (canonicalJson(next) === canonicalJson(current.metadata ?? {})) return current;
    return edit(current, 'updated', deps.now(), { metadata: next });
  });
};

type Metadata = NonNullable<Subscription['metadata']>;

/** @throws DomainError VALIDATION_ERROR where what is sent and what is stored come to too much. */
const nextMetadata = (
  { metadata: stored = {} }: Subscription,
  { metadata: sent, metadata_mode: mode }: UpdateSubscriptionBody,
): Metadata => {
  if (!sent) return stored;
  return mode === 'replace' ? sent : merged(stored, sent);
};

/** A null value deletes its key. */
const merged = (stored: Metadata, sent: Metadata): Metadata => {
  const kept = Object.entries({ ...stored, ...sent }).filter(([, value]) => value !== null);
  const checked = metadataSchema.safeParse(Object.fromEntries(kept));
  if (checked.success) return checked.data;
  throw invalid(checked.error.issues.map(({ message }) => ({ path: 'metadata', rule: 'too_big', message })));
};

/** Links or unlinks a billing address. */
export const linkSubscriptionAddress = async (
  deps: { readonly table: Table; readonly now: () => number },
  { record, named }: ApiRequest<unknown, unknown, BillingAddressBody, VisibleSubscription>,
): Promise<Reply> => {
  const address: Address | undefined = named(addressRecord);
  if (address) requireSameOwner(address, record.organizationId);
  const linked = await subscriptionStore(deps.table).change(record, (current) =>
    current.billingAddressId === address?.id
      ? current
      : edit(current, 'billing_address_changed', deps.now(), { billingAddressId: address?.id }),
  );
  return { data: commandView(linked) };
};
