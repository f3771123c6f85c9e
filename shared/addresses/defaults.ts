import { ownerOfRecord } from '../access/record-kind.ts';
import { type DefaultSlot, defaultIdOf, defaultKey, promoteNewest, readDefault } from '../table/defaults.ts';
import type { Owner } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { type Address, addressRecord } from './address.ts';

/** An owner has one default address per type. */
export type AddressType = Address['type'];

const slotFor = (owner: Owner, type: AddressType): DefaultSlot => ({ owner, kind: 'ADDR', variant: type });

export const addressDefaultSlot = (address: Address): DefaultSlot => {
  const owner = ownerOfRecord(address);
  if (!owner) throw new Error('the address has no owner');
  return slotFor(owner, address.type);
};

export const isDefaultAddress = async (table: Table, address: Address): Promise<boolean> =>
  (await readDefault(table, addressDefaultSlot(address))) === address.id;

export interface Pointer {
  readonly slot: DefaultSlot;
  readonly type: AddressType;
  readonly id: string;
}

/** Reads an owner's default pointers of these types in one request. */
export const readPointers = async (
  table: Table,
  owner: Owner,
  types: readonly AddressType[],
): Promise<readonly Pointer[]> => {
  const slots = types.map((type) => ({ type, slot: slotFor(owner, type) }));
  const items = await table.getMany(
    slots.map(({ slot }) => defaultKey(slot)),
    { consistent: true },
  );
  return slots.flatMap(({ slot, type }, index) => {
    const id = defaultIdOf(items[index]);
    return id === undefined ? [] : [{ slot, type, id }];
  });
};

/**
 * The ids of the defaults that pointers lead to. Repairs a pointer to a missing address: the newest remaining address
 * becomes the default. @param known ids of existing addresses, which need no read
 */
export const followPointers = async (
  table: Table,
  pointers: readonly Pointer[],
  known: ReadonlySet<string>,
): Promise<ReadonlySet<string>> => {
  const unchecked = pointers.filter(({ id }) => !known.has(id));
  const items = await table.getMany(
    unchecked.map(({ id }) => addressRecord.key(id)),
    { consistent: true },
  );
  const dangling = unchecked.filter(({ type }, index) => {
    const item = items[index];
    return (item && addressRecord.parse(item))?.type !== type;
  });
  const promoted = await Promise.all(dangling.map(({ slot, id }) => promoteNewest(table, slot, { id })));
  const valid = pointers.filter((pointer) => !dangling.includes(pointer)).map(({ id }) => id);
  return new Set([...valid, ...promoted.filter((id) => id !== undefined)]);
};
