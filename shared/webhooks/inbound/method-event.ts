import { isIdOf } from '../../core/ids.ts';
import type { ProviderSlot } from '../../core/settings.ts';
import { type Customer, customerShape } from '../../customers/customer.ts';
import { learnProviderId } from '../../customers/learn-provider-id.ts';
import { type PaymentMethod, paymentMethodShape } from '../../payment-methods/payment-method.ts';
import type { ProviderEvent } from '../../providers/port/events.ts';
import { type RemoveMethodDeps, removeMethod } from '../../removal/payment-method.ts';
import { findAlias } from '../../table/alias.ts';
import { isStale, recordStore } from '../../table/record-store.ts';
import { type EventResult, type InboundEvent, ignored } from './inbound-event.ts';
import { refreshRecord } from './refresh-record.ts';

type MethodEvent = InboundEvent<'payment_method.attached' | 'payment_method.detached' | 'payment_method.updated'>;

/**
 * updated refreshes brand, last four and expiry; detached removes the method; attached confirms it. A method without a
 * record here can still tell the provider's id of its customer, so that a deletion of the customer finds the method.
 */
export const applyMethodEvent = async (
  deps: RemoveMethodDeps,
  { slot, type, event }: MethodEvent,
): Promise<EventResult> => {
  const store = recordStore(deps.table, deps.now, paymentMethodShape);
  const alias = await findAlias(deps.table, slot, event.object.id);
  const method = alias?.kind === 'PM' ? await store.load(alias.id) : undefined;
  if (!method) {
    if (type === 'payment_method.updated') return { kind: 'early' };
    const owner = type === 'payment_method.attached' ? await learnCustomer(deps, slot, event) : undefined;
    return owner
      ? { kind: 'applied', reason: 'customer id stored', owner }
      : ignored({}, 'no such payment method here');
  }
  if (isStale(method, event)) return ignored(method, 'stale');
  switch (type) {
    case 'payment_method.attached':
      return ignored(method, 'known');
    case 'payment_method.detached':
      await removeMethod(deps, method, { atProvider: false });
      return { kind: 'applied', reason: 'payment method removed', owner: method };
    case 'payment_method.updated':
      return refreshRecord(method, {
        store,
        event,
        name: 'payment method',
        factsOf: (known) => factsOf(event, known),
        now: deps.now,
      });
  }
};

/** @returns the customer, if the event tells its id first */
const learnCustomer = async (
  deps: RemoveMethodDeps,
  slot: ProviderSlot,
  { object: { methodOf } }: ProviderEvent,
): Promise<Customer | undefined> => {
  const id = methodOf?.ourCustomerId;
  if (!methodOf || id === undefined || !isIdOf('customer', id)) return undefined;
  const customer = await recordStore(deps.table, deps.now, customerShape).load(id);
  if (customer?.providerId !== slot) return undefined;
  const { providerCustomerId } = customer;
  const learned = await learnProviderId(deps, { customerId: id, providerCustomerId }, methodOf);
  return learned.providerCustomerId === providerCustomerId ? undefined : customer;
};

const factsOf = ({ object: { method } }: ProviderEvent, known: PaymentMethod): Partial<PaymentMethod> => ({
  cardBrand: method?.cardBrand ?? known.cardBrand,
  lastFour: method?.lastFour ?? known.lastFour,
  expiryMonth: method?.expiryMonth ?? known.expiryMonth,
  expiryYear: method?.expiryYear ?? known.expiryYear,
});
