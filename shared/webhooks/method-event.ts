/** @module Applies a provider's event about a payment method or its set-up. */

import { assertNever } from '../core/errors.ts';
import { isIdOf } from '../core/ids.ts';
import type { ProviderSlot } from '../core/settings.ts';
import { type Customer, customerShape } from '../customers/customer.ts';
import { learnProviderId } from '../customers/learn-provider-id.ts';
import { type PaymentMethod, paymentMethodShape } from '../payment-methods/payment-method.ts';
import { findAlias } from '../platform/alias.ts';
import { isStale } from '../platform/owned-record.ts';
import { versionedRecord } from '../platform/versioned-record.ts';
import type { ProviderEvent } from '../providers/event-port.ts';
import { requireDone } from '../providers/unwrap.ts';
import { type RemoveMethodDeps, refreshSetup, removeMethod } from '../removal/remove-method.ts';
import { type EventResult, type InboundEvent, ignored, refreshRecord } from './inbound-event.ts';

type MethodEvent = InboundEvent<'payment_method.attached' | 'payment_method.detached' | 'payment_method.updated'>;

/**
 * `updated` refreshes the fields of the card. `detached` removes the method. `attached` confirms the method and ends
 * its set-up. An event about a method without a record here may still report the provider's id of the customer. That id
 * is stored, so that a deletion of the customer finds the method.
 */
export const applyMethodEvent = async (
  deps: RemoveMethodDeps,
  { slot, type, event }: MethodEvent,
): Promise<EventResult> => {
  const store = versionedRecord(deps, paymentMethodShape);
  const alias = await findAlias(deps.table, slot, event.object.id);
  const found = alias?.kind === 'PM' ? await store.load(alias.id) : undefined;
  // If the ids differ, the payer has since entered another card in the set-up.
  const method = found?.providerMethodId === event.object.id ? found : undefined;
  if (!method) {
    if (type === 'payment_method.updated') return { kind: 'early' };
    const owner = type === 'payment_method.attached' ? await learnCustomer(deps, slot, event) : undefined;
    return owner
      ? { kind: 'applied', reason: 'customer id stored', owner }
      : ignored({}, 'no such payment method here');
  }
  switch (type) {
    case 'payment_method.attached':
      if (isStale(method, event)) return ignored(method, 'stale');
      return method.setup ? applyToSetup(deps, method) : ignored(method, 'known');
    case 'payment_method.detached':
      return detach(deps, method, event);
    case 'payment_method.updated': {
      const provider = await deps.providers.require(slot, 'methods');
      return refreshRecord(deps, method, {
        ...{ shape: paymentMethodShape, name: 'payment method', event },
        factsOf: ({ object }, known) => factsOf(object.method ?? {}, known),
        readFacts: async (known) =>
          factsOf(requireDone(await provider.findMethod(known.providerMethodId), 'id'), known),
      });
    }
  }
};

const CLOCKS_DIFFER_SECONDS = 60;

/**
 * Removes a detached method, because a detachment is final. Ignores an event that is older than the record, because
 * such an event is about an earlier record of the method.
 */
const detach = async (deps: RemoveMethodDeps, method: PaymentMethod, event: ProviderEvent): Promise<EventResult> => {
  const isEarlier = isStale({ createdAt: method.createdAt }, { createdAt: event.createdAt + CLOCKS_DIFFER_SECONDS });
  if (isEarlier) return ignored(method, 'stale');
  await removeMethod(deps, method, { atProvider: false });
  return { kind: 'applied', reason: 'payment method removed', owner: method };
};

/**
 * Applies an event about a set-up. The event names our method. The provider is read and decides, so the order of events
 * does not matter.
 */
export const applySetupEvent = async (
  deps: RemoveMethodDeps,
  { slot, event: { object } }: InboundEvent<'setup_intent.succeeded' | 'setup_intent.failed'>,
): Promise<EventResult> => {
  const store = versionedRecord(deps, paymentMethodShape);
  const methodId = object.ourMethodId ?? '';
  const method = isIdOf('payment_method', methodId) ? await store.load(methodId) : undefined;
  if (method?.providerId !== slot) return ignored({}, 'no such payment method here');
  return method.setup?.id === object.id ? applyToSetup(deps, method) : ignored(method, 'no such open set-up');
};

const applyToSetup = async (deps: RemoveMethodDeps, method: PaymentMethod): Promise<EventResult> => {
  const progress = await refreshSetup(deps, method);
  switch (progress) {
    case 'completed':
      return { kind: 'applied', reason: 'payment method set up', owner: method };
    case 'failed':
      return { kind: 'applied', reason: 'set-up failed', owner: method };
    case 'over':
      return { kind: 'applied', reason: 'payment method removed', owner: method };
    case 'unchanged':
      return ignored(method, 'no change');
    default:
      return assertNever(progress);
  }
};

/** @returns the customer, if the event is the first to contain the provider's id of the customer */
const learnCustomer = async (
  deps: RemoveMethodDeps,
  slot: ProviderSlot,
  { object: { methodOf } }: ProviderEvent,
): Promise<Customer | undefined> => {
  const id = methodOf?.ourCustomerId;
  if (!methodOf || id === undefined || !isIdOf('customer', id)) return undefined;
  const customer = await versionedRecord(deps, customerShape).load(id);
  if (customer?.providerId !== slot) return undefined;
  const { providerCustomerId } = customer;
  const learned = await learnProviderId(deps, { customerId: id, providerCustomerId }, methodOf);
  return learned.providerCustomerId === providerCustomerId ? undefined : customer;
};

type MethodFacts = Pick<
  PaymentMethod,
  'cardBrand' | 'lastFour' | 'expiryMonth' | 'expiryYear' | 'funding' | 'country' | 'fingerprint'
>;

const factsOf = (reported: Partial<MethodFacts>, known: PaymentMethod): MethodFacts => ({
  cardBrand: reported.cardBrand ?? known.cardBrand,
  lastFour: reported.lastFour ?? known.lastFour,
  expiryMonth: reported.expiryMonth ?? known.expiryMonth,
  expiryYear: reported.expiryYear ?? known.expiryYear,
  funding: reported.funding ?? known.funding,
  country: reported.country ?? known.country,
  fingerprint: reported.fingerprint ?? (isOtherNumber(reported, known) ? undefined : known.fingerprint),
});

/** True if the card number has changed. The known fingerprint belongs to the earlier number. */
const isOtherNumber = ({ lastFour }: Partial<MethodFacts>, known: PaymentMethod): boolean =>
  lastFour !== undefined && lastFour !== known.lastFour;
