import type { ProviderSlot } from '../../core/settings.ts';
import { iso } from '../../core/time.ts';
import { type Customer, customerShape } from '../../customers/customer.ts';
import type { ProviderEvent } from '../../providers/port/events.ts';
import { isStale } from '../../providers/port/events.ts';
import { type RemoveCustomerDeps, removeCustomer } from '../../removal/customer.ts';
import { findAlias } from '../../table/alias.ts';
import { recordStore } from '../../table/record-store.ts';
import type { EventResult, OwnerIds } from './result.ts';

type CustomerEventType = 'customer.created' | 'customer.updated' | 'customer.deleted';

export const isCustomerEvent = (type: ProviderEvent['type']): type is CustomerEventType =>
  type?.startsWith('customer.') ?? false;

const COMMIT_TRIES = 5;

export const applyCustomerEvent = async (
  deps: RemoveCustomerDeps,
  slot: ProviderSlot,
  event: ProviderEvent,
  type: CustomerEventType,
): Promise<EventResult> => {
  const store = recordStore(deps.table, deps.now, customerShape);
  const alias = await findAlias(deps.table, slot, event.object.id);
  for (let tries = 0; tries < COMMIT_TRIES; tries += 1) {
    const customer = alias?.kind === 'CUS' ? await store.load(alias.id) : undefined;
    if (!customer) return type === 'customer.updated' ? { kind: 'early' } : nothing({}, 'no such customer here');
    if (type === 'customer.created') return nothing(customer, 'known');
    if (type === 'customer.deleted') {
      await removeCustomer(deps, customer, { atProvider: false });
      return { kind: 'applied', reason: 'customer removed', owner: customer };
    }
    if (isStale(customer, event)) return nothing(customer, 'stale');
    const next = refreshed(customer, event, iso(deps.now()));
    const changes = next.version !== customer.version;
    if (!changes && event.createdAt === customer.knownAt) return nothing(customer, 'no change');
    if (!(await store.commit(customer, next))) continue;
    return changes
      ? { kind: 'applied', reason: 'customer refreshed', owner: customer }
      : nothing(customer, 'no change');
  }
  throw new Error('too many writers at once');
};

const nothing = (owner: OwnerIds, reason: string): EventResult => ({ kind: 'ignored', reason, owner });

/** E-mail, name and phone as the provider has them, and since when; a new version only where something differs. */
const refreshed = (customer: Customer, { object, createdAt: knownAt }: ProviderEvent, at: string): Customer => {
  const email = object.customer?.email?.toLowerCase() ?? customer.email;
  const name = object.customer?.name ?? customer.name;
  const phone = object.customer?.phone ?? customer.phone;
  const same = email === customer.email && name === customer.name && phone === customer.phone;
  if (same) return { ...customer, knownAt };
  return { ...customer, email, name, phone, knownAt, version: customer.version + 1, updatedAt: at };
};
