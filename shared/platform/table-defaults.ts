/**
 * @module The default of an owner and kind is one pointer item; `is_default` is computed from it. The last update wins.
 * A read that finds a pointer to a missing record moves the pointer to the newest remaining record.
 */

import type { Clause } from './expression.ts';
import { type Key, type OwnedKind, type Owner, ownerPartition } from './keys.ts';
import type { Item, Table, TransactionStep, Written } from './table.ts';

export const ownerKeyOf = (owner: Owner): string => {
  switch (owner.kind) {
    case 'user':
      return `USER#${owner.userId}`;
    case 'organization':
      return `ORG#${owner.organizationId}`;
    case 'guest':
      return `GUEST#${owner.guestId}`;
  }
};

export interface DefaultSlot {
  readonly owner: Owner;
  readonly kind: OwnedKind;
  /** Set if an owner has one default per variant (an address's type). */
  readonly variant?: string | undefined;
  /** Conditions on the list fields of a record that becomes the default after a removal. */
  readonly successorIf?: readonly Clause[];
}

export const defaultKey = ({ owner, kind, variant }: DefaultSlot): Key => ({
  pk: `OWNER#${ownerKeyOf(owner)}`,
  sk: `DEFAULT#${kind}${variant ? `#${variant}` : ''}`,
});

export const defaultIdOf = (item: Item | undefined): string | undefined => {
  const id = item?.['recordId'];
  return typeof id === 'string' ? id : undefined;
};

export const setDefault = async (table: Table, slot: DefaultSlot, recordId: string): Promise<void> => {
  await table.put({ ...defaultKey(slot), recordId });
};

/** Removes the default if it is `recordId`. */
export const clearDefault = (table: Table, slot: DefaultSlot, recordId: string): Promise<Written> =>
  table.expire(defaultKey(slot), [{ exists: true }, { equals: ['recordId', recordId] }]);

/** `setDefault` as a step of the transaction that stores the record. */
export const defaultStep = (slot: DefaultSlot, recordId: string): TransactionStep => ({
  put: { ...defaultKey(slot), recordId },
});

export const readDefault = async (table: Table, slot: DefaultSlot): Promise<string | undefined> =>
  defaultIdOf(await table.get(defaultKey(slot)));

/**
 * Replaces a removed default by the newest remaining record. The steps fail if another request has changed the default.
 */
export const successorSteps = async (
  table: Table,
  slot: DefaultSlot,
  removedId: string,
): Promise<readonly TransactionStep[]> => {
  if ((await readDefault(table, slot)) !== removedId) return [];
  const newest = await findNewest(table, slot, removedId);
  const guard = [{ equals: ['recordId', removedId] }] as const;
  return newest
    ? [{ update: defaultKey(slot), changes: { set: { recordId: newest } }, if: guard }]
    : [{ delete: defaultKey(slot), if: guard }];
};

interface Removed {
  readonly id: string;
  /** True to delete the pointer if no record remains. Functions without the right to delete let the pointer expire. */
  readonly deletes?: true;
}

/** Makes the newest remaining record the default after a removal. @returns the current default's id, if any */
export const promoteNewest = async (
  table: Table,
  slot: DefaultSlot,
  { id, deletes }: Removed,
): Promise<string | undefined> => {
  const current = await readDefault(table, slot);
  if (current !== id) return current;
  const newest = await findNewest(table, slot, id);
  const [key, guard] = [defaultKey(slot), [{ exists: true }, { equals: ['recordId', id] }] as const];
  const clear = () => (deletes ? table.remove(key, guard) : table.expire(key, guard));
  const written = newest ? await table.update(key, { set: { recordId: newest } }, guard) : await clear();
  if (written.ok) return newest;
  return written.found && defaultIdOf(written.found);
};

const findNewest = async (table: Table, slot: DefaultSlot, exceptId: string): Promise<string | undefined> => {
  const page = await table.queryIndex({
    index: 'owner',
    partition: ownerPartition(slot.owner, slot.kind),
    descending: true,
    filter: [
      ...(slot.variant ? [{ equals: ['f.t', slot.variant] as const }] : []),
      ...(slot.successorIf ?? []),
      ...(slot.owner.kind === 'guest' ? [{ equals: ['f.g', slot.owner.guestId] as const }] : []),
    ],
  });
  return page.items.map((item) => String(item['pk']).split('#')[1]).find((id) => id !== exceptId);
};
