/**
 * @module Aliases map a provider's id to our record. Several ids may map to the same record, such as an order and its
 * capture.
 */

import * as z from 'zod';
import { aliasKey, keyOf, type OwnedKind } from './keys.ts';
import type { Item, Table, TransactionStep } from './table.ts';

/**
 * The kinds of records with aliases. Addresses do not exist at providers, and our id of a dispute derives from the
 * provider's id.
 */
type AliasedKind = Exclude<OwnedKind, 'ADDR' | 'DSP'>;
const KINDS = { PAY: 'PAY', PM: 'PM', CUS: 'CUS', SUB: 'SUB', RFD: 'RFD' } as const satisfies {
  readonly [Kind in AliasedKind]: Kind;
};
const aliasSchema = z.object({ kind: z.enum(KINDS), id: z.string() });
export type Alias = Readonly<z.infer<typeof aliasSchema>>;

const aliasItem = ({ providerId, externalId }: ExternalId, { kind, id }: Alias): Item => ({
  ...aliasKey(providerId, externalId),
  kind,
  id,
});

/** Parses an alias item. */
export const aliasOf = (item: Item): Alias => aliasSchema.parse(item);

export interface ExternalId {
  readonly providerId: string;
  readonly externalId: string;
}

export const putAlias = async (table: Table, externalId: ExternalId, target: Alias): Promise<void> => {
  await table.put(aliasItem(externalId, target));
};

/** Writes the missing aliases, with one read for all and one write per missing alias. @returns the number of writes */
export const fillAliases = async (table: Table, aliases: readonly (ExternalId & { readonly target: Alias })[]) => {
  const items = aliases.map(({ target, ...externalId }) => aliasItem(externalId, target));
  const found = await table.getMany(items.map(keyOf));
  const missing = items.filter((_, index) => found[index] === undefined);
  await Promise.all(missing.map((item) => table.put(item, [{ absent: true }])));
  return missing.length;
};

/** `putAlias` as a step of the transaction that stores the record. */
export const aliasStep = (providerId: string, externalId: string, target: Alias): TransactionStep => ({
  put: aliasItem({ providerId, externalId }, target),
});

export const findAlias = async (table: Table, providerId: string, externalId: string): Promise<Alias | undefined> => {
  const item = await table.get(aliasKey(providerId, externalId));
  return item && aliasSchema.parse(item);
};

/** The alias keys of an external id, one per provider, for a read together with other items. `idOf` gives our id. */
export const aliasesOf = (kind: Alias['kind'], providerIds: readonly string[], externalId: string) => ({
  keys: providerIds.map((providerId) => aliasKey(providerId, externalId)),
  idOf: (item: Item): string | undefined => {
    const alias = aliasSchema.parse(item);
    return alias.kind === kind ? alias.id : undefined;
  },
});

/** Finds the alias of an id from any provider, in one read. */
export const findAliasAnywhere = async (
  table: Table,
  providerIds: readonly string[],
  externalId: string,
): Promise<Alias | undefined> => {
  const keys = providerIds.map((providerId) => aliasKey(providerId, externalId));
  const found = (await table.getMany(keys, { consistent: true })).find((item) => item !== undefined);
  return found && aliasSchema.parse(found);
};

/** Removes an alias, as a step of a transaction. */
export const aliasRemoval = (providerId: string, externalId: string): TransactionStep => ({
  delete: aliasKey(providerId, externalId),
});
