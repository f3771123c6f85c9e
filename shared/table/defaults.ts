import { type ItemKind, type Key, type Owner, ownerPartition } from './keys.ts';
import type { Item, Table, TransactionStep } from './table.ts';

/**
 * An owner's default of a kind is a pointer alone: one update, the last wins, and `is_default` is computed. A pointer that
 * leads nowhere is repaired, when read, to the newest remaining record.
 */
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
  readonly kind: ItemKind;
  /** Where an owner has one default a variant (an address's type). */
  readonly variant?: string | undefined;
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

/** The same, as a step of the write that stores the record. */
export const defaultStep = (slot: DefaultSlot, recordId: string): TransactionStep => ({
  put: { ...defaultKey(slot), recordId },
});

export const readDefault = async (table: Table, slot: DefaultSlot): Promise<string | undefined> =>
  defaultIdOf(await table.get(defaultKey(slot)));

/**
 * Steps of the write that removes a record: the newest remaining one takes over as the default; none where it is not the
 * default. They hold only as long as nobody else has set another.
 */
export const successorSteps = async (
  table: Table,
  slot: DefaultSlot,
  goneId: string,
): Promise<readonly TransactionStep[]> => {
  if ((await readDefault(table, slot)) !== goneId) return [];
  const newest = await newestOf(table, slot, goneId);
  const guard = [{ equals: ['recordId', goneId] }] as const;
  return newest
    ? [{ update: defaultKey(slot), changes: { set: { recordId: newest } }, if: guard }]
    : [{ delete: defaultKey(slot), if: guard }];
};

/** After `goneId` is no more: the newest remaining record takes over, where there is one. */
export const promoteNewest = async (table: Table, slot: DefaultSlot, goneId: string): Promise<string | undefined> => {
  const current = await readDefault(table, slot);
  if (current !== goneId) return current;
  const newest = await newestOf(table, slot, goneId);
  const guard = [{ equals: ['recordId', goneId] }] as const;
  const written = newest
    ? await table.update(defaultKey(slot), { set: { recordId: newest } }, guard)
    : await table.remove(defaultKey(slot), guard);
  if (written.ok) return newest;
  return written.found && defaultIdOf(written.found);
};

const newestOf = async (table: Table, slot: DefaultSlot, exceptId: string): Promise<string | undefined> => {
  const page = await table.queryIndex({
    index: 'owner',
    partition: ownerPartition(slot.owner, slot.kind),
    descending: true,
    filter: [
      ...(slot.variant ? [{ equals: ['f.t', slot.variant] as const }] : []),
      ...(slot.owner.kind === 'guest' ? [{ equals: ['f.g', slot.owner.guestId] as const }] : []),
    ],
  });
  return page.items.map((item) => String(item['pk']).split('#')[1]).find((id) => id !== exceptId);
};
