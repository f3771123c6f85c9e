import { requireStanding, standingKeys, standingOf } from '../access/access.ts';
import type { Caller } from '../access/caller.ts';
import { DomainError, notFound } from '../core/errors.ts';
import { isIdOf } from '../core/ids.ts';
import { type Key, productKey, projectKey, recordKey } from '../table/keys.ts';
import type { Item, Table } from '../table/table.ts';

/** Everything that a request names beside itself, read in one BatchGet and checked before anything is stored. */
export interface NamedReferences {
  readonly organizationId: string | undefined;
  readonly projectId: string | undefined;
  readonly productId: string | undefined;
  readonly customerId: string | undefined;
  readonly billingAddressId: string | undefined;
  /** Our id of a saved method, or a token of the provider. */
  readonly paymentMethod: string | undefined;
}

export interface CheckedReferences {
  readonly paymentMethodId: string | undefined;
  readonly methodRef: string | undefined;
}

/** @throws DomainError RESOURCE_NOT_FOUND or one of the organization's refusals. */
export const checkReferences = async (
  table: Table,
  caller: Caller,
  named: NamedReferences,
): Promise<CheckedReferences> => {
  const savedMethod =
    named.paymentMethod && isIdOf('payment_method', named.paymentMethod) ? named.paymentMethod : undefined;
  const organizationId = named.organizationId;
  if (organizationId !== undefined && caller.kind !== 'session') throw new DomainError('GUEST_NOT_ALLOWED');
  const standing =
    organizationId !== undefined && caller.kind === 'session' ? standingKeys(caller, organizationId) : [];
  const records = recordsOf(named, savedMethod);
  const keys: readonly Key[] = [...standing, ...records.map(({ key }) => key)];
  const items: readonly (Item | undefined)[] = keys.length === 0 ? [] : await table.getMany(keys, { consistent: true });
  if (organizationId !== undefined) {
    requireStanding(standingOf(organizationId, items[0], items[1]), 'canManagePayments');
  }
  for (const [index, { resource }] of records.entries()) {
    if (items[standing.length + index] === undefined) throw notFound(resource);
  }
  return { paymentMethodId: savedMethod, methodRef: savedMethod ? undefined : named.paymentMethod };
};

const recordsOf = (named: NamedReferences, savedMethod: string | undefined) =>
  [
    { resource: 'project', key: named.projectId && projectKey(named.projectId) },
    { resource: 'product', key: named.productId && productKey(named.productId) },
    { resource: 'customer', key: named.customerId && recordKey('CUS', named.customerId) },
    { resource: 'address', key: named.billingAddressId && recordKey('ADDR', named.billingAddressId) },
    { resource: 'payment_method', key: savedMethod && recordKey('PM', savedMethod) },
  ].flatMap(({ resource, key }) => (key ? [{ resource, key }] : []));
