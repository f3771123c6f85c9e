/**
 * @module Erases a person from each kind of record. Each call may stop midway and be repeated, because it first marks
 * the record's ids and notes its e-mail addresses. The copies in logs and events are found by these marks.
 */

import type { Owned } from '../access/record-kind.ts';
import { requireFree } from '../calls/exclusions.ts';
import { DomainError } from '../core/errors.ts';
import { normalizedEmail } from '../core/text.ts';
import { epochSeconds } from '../core/time.ts';
import { type Address, addressRecord } from '../customers/address.ts';
import { type Customer, customerRecord, customerShape } from '../customers/customer.ts';
import { markErased, markUserErased } from '../event-log/erased-events.ts';
import { membershipSchema } from '../memberships/membership.ts';
import { type PaymentMethod, paymentMethodRecord } from '../payment-methods/payment-method.ts';
import { cancelIntent } from '../payments/cancel-intent.ts';
import { isVisiblePayment, type Payment, paymentOf, type VisiblePayment } from '../payments/payment.ts';
import { providerIdsOf } from '../payments/payment-aliases.ts';
import { openCallsOfPayment } from '../payments/payment-decisions.ts';
import { paymentStore } from '../payments/payment-store.ts';
import { blankPayment } from '../payments/payment-versions.ts';
import { blankRefund, type Refund, refundOf } from '../payments/refunds/refund.ts';
import { refundStore } from '../payments/refunds/refund-store.ts';
import { type ItemKind, keyOf, type PayloadKind } from '../platform/keys.ts';
import { ownedRecord } from '../platform/owned-record.ts';
import type { Item, Table } from '../platform/table.ts';
import { requireDone } from '../providers/unwrap.ts';
import { cancelNow } from '../subscriptions/commands/cancel-subscription.ts';
import { removeMethodFrom } from '../subscriptions/commands/change-method.ts';
import { subscriptionsUsing } from '../subscriptions/record/linked-records.ts';
import { isLive, mayExistAtProvider, type Subscription, subscriptionOf } from '../subscriptions/record/subscription.ts';
import { subscriptionStore } from '../subscriptions/record/subscription-store.ts';
import { blankMembershipOf, blankSubscription } from '../subscriptions/record/subscription-versions.ts';
import type { Counted, Subject } from './erasure-job.ts';
import { seekEmails } from './erasure-traces.ts';
import type { RemovalDeps } from './organization-children.ts';
import { removeAddress } from './remove-address.ts';
import { removeCustomer } from './remove-customer.ts';
import { removeMethod } from './remove-method.ts';

export interface Erasing {
  readonly deps: RemovalDeps;
  readonly erasureId: string;
  readonly subject: Subject;
  /** The person's e-mail addresses that are known so far, normalized. */
  readonly emails: readonly string[];
}

/** @returns true if it changed something @throws DomainError while the provider is unavailable or a charge is open */
type Erase = (erasing: Erasing, item: Item) => Promise<boolean>;

interface RecordErasure {
  readonly counted: Counted;
  readonly erase: Erase;
}

/**
 * The kinds with personal data. Disputes and organizations have none, and ended memberships only ids. An erasure job
 * clears its own data.
 */
export type ErasedKind = Exclude<ItemKind, PayloadKind | 'DSP' | 'ORG' | 'LEFT' | 'ERA'>;

/** By sort key, in the order of erasure. Subscriptions end first, so that nothing is charged afterwards. */
export const RECORD_ERASURES: Readonly<Record<ErasedKind, RecordErasure>> = {
  SUB: { counted: 'subscriptions', erase: (erasing, item) => eraseSubscriptionOf(erasing, subscriptionOf(item)) },
  PAY: { counted: 'payments', erase: (erasing, item) => erasePaymentOf(erasing, paymentOf(item)) },
  RFD: { counted: 'refunds', erase: (erasing, item) => eraseRefundOf(erasing, refundOf(item)) },
  PM: {
    counted: 'payment_methods',
    erase: (erasing, item) => removeMethodOf(erasing, paymentMethodRecord.parse(item)),
  },
  CUS: { counted: 'customers', erase: (erasing, item) => removeCustomerOf(erasing, customerRecord.parse(item)) },
  ADDR: { counted: 'addresses', erase: (erasing, item) => removeAddressOf(erasing, addressRecord.parse(item)) },
  MBR: { counted: 'memberships', erase: (erasing, item) => blankMembership(erasing, item) },
};

/** True if the record is the person's own, or an organization's record that the person made. */
const isOf = (subject: Subject, { userId, guestEmail }: Pick<Owned, 'userId' | 'guestEmail'>): boolean =>
  subject.kind === 'user'
    ? userId === subject.userId
    : guestEmail !== undefined && normalizedEmail(guestEmail) === normalizedEmail(subject.email);

/** True if the stored record contains the person's erasable data. */
export const isPersonsRecord = (subject: Subject, emails: readonly string[], item: Item): boolean => {
  const { userId, guestEmail, email } = item;
  const owned = { userId: textOf(userId), guestEmail: textOf(guestEmail) };
  const known = textOf(email);
  return isOf(subject, owned) || (known !== undefined && emails.includes(normalizedEmail(known)));
};

const inProgress = (): DomainError => new DomainError('PAYMENT_IN_PROGRESS');

const eraseSubscriptionOf = async (erasing: Erasing, subscription: Subscription | undefined): Promise<boolean> => {
  const { deps, subject } = erasing;
  if (!subscription || !isOf(subject, subscription)) return false;
  const isPersonal = subscription.organizationId === undefined;
  // The subscription must end before it is blanked. Until then, the person may reactivate the subscription, and a
  // charge may be open.
  const runs =
    isPersonal &&
    subscription.status !== 'declined' &&
    (isLive(subscription) || subscription.charge || subscription.change);
  if (!runs && blankSubscription(subscription, deps.now()) === subscription) return false;
  const { id, providerSubscriptionId, formerProviderIds = [] } = subscription;
  await noteRecord(erasing, subscription, [id, providerSubscriptionId, ...formerProviderIds]);
  const ended = isPersonal ? await end(deps, subscription) : subscription;
  if (ended.status === 'creating' || ended.transfer) throw inProgress();
  const blanked = await subscriptionStore(deps.table).change(ended, (current) =>
    blankSubscription(current, deps.now()),
  );
  await blankMembershipOf(deps.table, blanked);
  return true;
};

/**
 * Cancels the subscription immediately, unless it is over.
 * @throws DomainError PAYMENT_IN_PROGRESS while a charge's outcome is unknown
 */
const end = async (deps: RemovalDeps, subscription: Subscription): Promise<Subscription> => {
  const isOver = !isLive(subscription) && subscription.charge === undefined && subscription.change === undefined;
  if (isOver || subscription.status === 'creating') return subscription;
  const ended = subscription.status === 'declined' ? subscription : await cancelNow(deps, subscription);
  if (mayExistAtProvider(ended) || (ended.status === 'canceled' && ended.charge)) throw inProgress();
  return ended;
};

const OPEN: readonly Payment['status'][] = ['created', 'requires_payment_method', 'pending'];

const erasePaymentOf = async (erasing: Erasing, payment: Payment): Promise<boolean> => {
  const { deps, subject } = erasing;
  if (!isOf(subject, payment)) return false;
  if (!isVisiblePayment(payment)) throw inProgress();
  if (blankPayment(payment, deps.now()) === payment) return false;
  const isPersonal = payment.organizationId === undefined;
  const { id, providerInvoiceId, attemptRef, priorAttemptRefs = [] } = payment;
  const attempts = [attemptRef, ...priorAttemptRefs];
  await noteRecord(erasing, payment, [id, ...providerIdsOf(payment), providerInvoiceId, ...attempts]);
  const store = paymentStore(deps.table, deps.now);
  const settled = isPersonal && OPEN.includes(payment.status) ? await cancelOpen(deps, payment) : payment;
  const { isOurs } = await store.change(settled, (current) => {
    requireFree('payment erasure', openCallsOfPayment(current));
    if (isPersonal && OPEN.includes(current.status)) throw inProgress();
    return blankPayment(current, deps.now());
  });
  return isOurs;
};

const cancelOpen = async (deps: RemovalDeps, payment: VisiblePayment): Promise<VisiblePayment> => {
  const store = paymentStore(deps.table, deps.now);
  const provider = await deps.providers.require(payment.providerId, 'payments');
  return cancelIntent({ deps, store, provider }, payment, 'cancel');
};

/**
 * Marks the refund's ids and blanks the refund. The ids are marked because a refund's event may not name the payment.
 */
const eraseRefundOf = async (erasing: Erasing, refund: Refund): Promise<boolean> => {
  const { deps, subject } = erasing;
  if (!isOf(subject, refund) || refund.organizationId !== undefined) return false;
  await noteRecord(erasing, refund, [refund.id, refund.providerRefundId]);
  if (blankRefund(refund, deps.now()) === refund) return false;
  const { isOurs } = await refundStore(deps).change(refund, 'erasure', (current) => blankRefund(current, deps.now()));
  return isOurs;
};

/** Removes the person's method. An organization that pays with it loses the method. */
const removeMethodOf = async (erasing: Erasing, method: PaymentMethod | undefined): Promise<boolean> => {
  const { deps, subject } = erasing;
  if (!method || method.organizationId !== undefined || !isOf(subject, method)) return false;
  await noteRecord(erasing, method, [method.id, method.providerMethodId, method.setup?.id]);
  for (const subscription of await subscriptionsUsing(deps.table, 'PM', method.id)) {
    if (!isOf(subject, subscription) || subscription.organizationId !== undefined) {
      await removeMethodFrom(deps, subscription, method.id);
    }
  }
  await removeMethod(deps, method, { atProvider: true });
  return true;
};

const removeCustomerOf = async (erasing: Erasing, customer: Customer | undefined): Promise<boolean> => {
  const { deps, subject } = erasing;
  if (!customer) return false;
  if (customer.organizationId !== undefined) return clearCustomerEmail(erasing, customer);
  if (!isOf(subject, customer)) return false;
  await noteRecord(erasing, customer, [customer.id, customer.providerCustomerId]);
  await removeCustomer({ ...deps, deleteHistory: false }, customer, { atProvider: true });
  return true;
};

/** Clears the e-mail address of an organization's customer if the address belongs to the erased member. */
const clearCustomerEmail = async ({ deps, emails, subject }: Erasing, customer: Customer): Promise<boolean> => {
  const { email } = customer;
  if (subject.kind !== 'user' || email === undefined || !emails.includes(normalizedEmail(email))) return false;
  const provider = await deps.providers.require(customer.providerId, 'customers');
  const startedAt = deps.now();
  const outcome = await provider.updateCustomer({
    customerId: customer.providerCustomerId,
    ...{ email: undefined, name: undefined, phone: undefined },
    cleared: ['email'],
    // A new key per try, because a member may have sent the address again since the last try.
    idempotencyKey: `${customer.id}:erase:${startedAt}`,
  });
  requireDone(outcome, 'email');
  const knownAt = Math.max(customer.knownAt ?? 0, epochSeconds(startedAt));
  await ownedRecord(deps, customerShape).revise(customer, { email: undefined, knownAt });
  return true;
};

const removeAddressOf = async ({ deps, subject }: Erasing, address: Address | undefined): Promise<boolean> => {
  if (!address || address.organizationId !== undefined || !isOf(subject, address)) return false;
  await removeAddress(deps, address);
  return true;
};

/** Blanks a membership that was written from an earlier version of its subscription. */
const blankMembership = async ({ deps: { table }, subject }: Erasing, item: Item): Promise<boolean> => {
  const membership = membershipSchema.parse(item);
  if (!isOf(subject, membership)) return false;
  if (membership.userEmail === undefined && membership.guestEmail === undefined) return false;
  const blanked = await table.update(keyOf(item), { remove: ['userEmail', 'guestEmail'] }, [
    { exists: true },
    { equals: ['version', membership.version] },
  ]);
  return blanked.ok;
};

interface Named {
  readonly userId?: string | undefined;
  readonly organizationId?: string | undefined;
  readonly userEmail?: string | undefined;
  readonly guestEmail?: string | undefined;
  readonly email?: string | undefined;
}

/** Marks a personal record's ids. An organization's record continues, so only its events until now are blanked. */
const noteRecord = async (
  { deps, erasureId }: Erasing,
  { userEmail, guestEmail, email, userId, organizationId }: Named,
  ids: readonly (string | undefined)[],
): Promise<void> => {
  await Promise.all([
    organizationId === undefined ? markErased(deps, erasureId, ids) : markUserErased(deps, userId ?? ''),
    seekEmails(deps.table, erasureId, [userEmail, guestEmail, email]),
  ]);
};

/** Removes an expired item of the person. The stores treat expired items as absent and no longer change them. */
export const removeExpired = async (table: Table, subject: Subject, item: Item): Promise<boolean> => {
  const { userId, guestEmail } = { userId: textOf(item['userId']), guestEmail: textOf(item['guestEmail']) };
  if (!isOf(subject, { userId, guestEmail })) return false;
  return (await table.remove(keyOf(item), [{ has: 'pk' }])).ok;
};

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
