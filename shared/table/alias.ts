import * as z from 'zod';
import { aliasKey, type RecordKind } from './keys.ts';
import type { Table } from './table.ts';

/** A provider's id of a record of ours; many to one (an order and its capture lead to one payment). */
const KINDS = ['PAY', 'PM', 'CUS', 'SUB'] as const;
const aliasSchema = z.object({ kind: z.enum(KINDS), id: z.string() });
export type Alias = z.infer<typeof aliasSchema>;

export const putAlias = async (
  table: Table,
  providerId: string,
  externalId: string,
  alias: { readonly kind: Exclude<RecordKind, 'ADDR'>; readonly id: string },
): Promise<void> => {
  await table.put({ ...aliasKey(providerId, externalId), kind: alias.kind, id: alias.id });
};

export const findAlias = async (table: Table, providerId: string, externalId: string): Promise<Alias | undefined> => {
  const item = await table.get(aliasKey(providerId, externalId));
  return item && aliasSchema.parse(item);
};

/** By an id at any of the providers, in one read. */
export const findAliasAnywhere = async (
  table: Table,
  providerIds: readonly string[],
  externalId: string,
): Promise<Alias | undefined> => {
  const keys = providerIds.map((providerId) => aliasKey(providerId, externalId));
  const found = (await table.getMany(keys, { consistent: true })).find((item) => item !== undefined);
  return found && aliasSchema.parse(found);
};

export const removeAlias = async (table: Table, providerId: string, externalId: string): Promise<void> => {
  await table.remove(aliasKey(providerId, externalId));
};
