import type { Caller } from '../access/caller.ts';
import { derivedId } from '../core/ids.ts';
import { iso } from '../core/time.ts';
import type { ProviderSlot } from '../settings.ts';
import type { Owner } from '../table/keys.ts';
import { recordItem, recordStore } from '../table/record-store.ts';
import { atProvider, customerAlias, ownerFieldsOf } from './create.ts';
import { customerShape } from './customer.ts';
import type { ProviderRecordDeps } from './deps.ts';
import {
  customerPointerKey,
  type OwnerCustomer,
  ownerCustomerOf,
  pointAtCustomer,
  pointerStep,
} from './owner-customer.ts';

/** The owner's customer at a provider; made where the provider needs one and there is none. */
export const ensureCustomer = async (
  deps: ProviderRecordDeps,
  options: {
    readonly slot: ProviderSlot;
    readonly owner: Owner;
    readonly caller: Caller;
    /** The record that it is made for: a repeat for the same record makes the same customer. */
    readonly forId: string;
    readonly known: OwnerCustomer | undefined;
  },
): Promise<OwnerCustomer> => {
  const { slot, owner, caller, forId, known } = options;
  if (known) return known;
  const provider = await deps.providers.having(slot, 'customers');
  const at = iso(deps.now());
  const customer = await atProvider(provider, {
    id: derivedId('customer', forId),
    version: 1,
    createdAt: at,
    updatedAt: at,
    providerId: slot,
    email: caller.kind === 'anonymous' ? undefined : caller.email,
    name: caller.kind === 'guest' ? caller.name : undefined,
    phone: caller.kind === 'guest' ? caller.phone : undefined,
    ...ownerFieldsOf(owner, caller),
  });
  const made = { customerId: customer.id, providerCustomerId: customer.providerCustomerId };
  const alias = customerAlias(customer);
  const first = { put: recordItem(customerShape, customer), if: [{ absent: true }] } as const;
  if ((await deps.table.transact([first, alias, pointerStep(owner, customer)])).ok) return made;
  // Where two came at once, the first stands for both; the other stays a customer of the same owner.
  await recordStore(deps.table, deps.now, customerShape).insertOrFind(customer, [alias]);
  await pointAtCustomer(deps.table, owner, customer);
  const pointer = ownerCustomerOf(await deps.table.get(customerPointerKey(owner, slot)));
  return pointer ?? made;
};
