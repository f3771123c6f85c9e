import { ownerOfRecord } from '../access/owner.ts';
import { type DefaultSlot, defaultIdOf, defaultKey, promoteNewest, readDefault } from '../table/defaults.ts';
import type { Owner } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { type Address, addressRecord } from './address.ts';

/** One default address an owner and type. */
export type AddressType = Address['type'];

const slotFor = (owner: Owner, type: AddressType): DefaultSlot => ({ owner, kind: 'ADDR', variant: type });

export const addressDefaultSlot = (address: Address): DefaultSlot => {
  const owner = ownerOfRecord(address);
  if (!owner) throw new Error('an address without an owner');
  return slotFor(owner, address.type);
};

export const isDefaultAddress = async (table: Table, address: Address): Promise<boolean> =>
  (await readDefault(table, addressDefaultSlot(address))) === address.id;

export interface Pointer {
  readonly slot: DefaultSlot;
  readonly type: AddressType;
  readonly id: string;
}

/** What an owner's default pointers of these types say, in one read. */
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
 * The ids of the defaults that pointers lead to. Where one leads nowhere, it is repaired to the newest remaining address.
 * @param known ids that need no look-up
 */
export const followPointers = async (
  table: Table,
  pointers: readonly Pointer[],
  known: ReadonlySet<string>,
): Promise<ReadonlySet<string>> => {
  const unsure = pointers.filter(({ id }) => !known.has(id));
  const items = await table.getMany(
    unsure.map(({ id }) => addressRecord.key(id)),
    { consistent: true },
  );
  const dangling = unsure.filter(({ type }, index) => {
    const item = items[index];
    return (item && addressRecord.parse(item))?.type !== type;
  });
  const promoted = await Promise.all(dangling.map(({ slot, id }) => promoteNewest(table, slot, id)));
  const sound = pointers.filter((pointer) => !dangling.includes(pointer)).map(({ id }) => id);
  return new Set([...sound, ...promoted.filter((id) => id !== undefined)]);
};
