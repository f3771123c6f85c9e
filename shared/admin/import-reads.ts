/** @module Reads the data that decides about a row of an import. All reads of a row precede its first write. */

import { createHash } from 'node:crypto';
import type { Identity } from '../access/identity.ts';
import { type Owned, ownerOfRecord } from '../access/record-kind.ts';
import type { IdDeps } from '../core/keyed-ids.ts';
import type { ProviderSlot } from '../core/settings.ts';
import { SAID_USER_ID } from '../http/fields.ts';
import { aliasOf } from '../platform/alias.ts';
import { aliasKey, type Owner, organizationKey, recordKey } from '../platform/keys.ts';
import type { Item, StoreDeps, Table } from '../platform/table.ts';
import { CUSTOMER_DELETED, type Holdings, NO_CUSTOMER } from '../providers/holdings-port.ts';
import type { PaymentProvider } from '../providers/provider.ts';
import type { KnownRecord, RowReads } from './import-plan.ts';
import { type ImportRefusal, type ImportRow, OWNER_FORM } from './import-requests.ts';

interface ReadDeps extends StoreDeps, IdDeps {
  readonly identity: Pick<Identity, 'users' | 'looksUp'>;
}

/**
 * The rows' users known to the identity service. Without that service, the users with a well-formed id.
 * @throws DomainError IDENTITY_UNAVAILABLE
 */
export const readUsers = async (
  { identity }: Pick<ReadDeps, 'identity'>,
  rows: readonly ImportRow[],
): Promise<ReadonlySet<string>> => {
  const ids = rows.flatMap(({ owner }) => (owner.startsWith('user:') ? [owner.slice('user:'.length)] : []));
  if (!identity.looksUp) return new Set(ids.filter((id) => SAID_USER_ID.test(id)));
  return new Set((await identity.users([...new Set(ids)])).map(({ id }) => id));
};

interface Reading {
  readonly provider: PaymentProvider;
  readonly users: ReadonlySet<string>;
}

/** @returns the reason if the whole row is refused */
export const readRow = async (
  deps: ReadDeps,
  row: ImportRow,
  { provider, users }: Reading,
): Promise<RowReads | ImportRefusal> => {
  const { slot, holdings: port } = provider;
  const { provider_customer_id: providerCustomerId } = row;
  const owner = await readOwner(deps, row, { slot, users });
  if (!owner) return 'owner_unknown';
  const found = await port?.holdingsOf(providerCustomerId);
  if (found?.kind !== 'done') return refusalOf(found?.kind === 'refused' ? found.reason : undefined);
  const start = row.start && { ...row.start, alias: startAlias(providerCustomerId, row.start.reference) };
  const reads = { providerCustomerId, owner, holdings: found.value, start };
  const known = await readKnown(deps.table, slot, reads);
  const refusedCurrencies = await readCurrencies(provider, found.value);
  const first = known.get(providerCustomerId)?.owner;
  // A guest keeps the guest_id of the existing customer.
  return {
    ...reads,
    known,
    refusedCurrencies,
    owner: owner.kind === 'guest' && first?.kind === 'guest' ? { ...owner, guestId: first.guestId } : owner,
  };
};

const refusalOf = (reason: string | undefined): ImportRefusal =>
  reason === NO_CUSTOMER || reason === CUSTOMER_DELETED ? reason : 'provider_unavailable';

/**
 * The owner that the row names; undefined if it is unknown. A guest_id derives from customer and e-mail address, so
 * parallel imports create the same guest_id.
 */
const readOwner = async (
  { table, ids }: ReadDeps,
  { owner: text, provider_customer_id: customerId }: ImportRow,
  { slot, users }: Pick<Reading, 'users'> & { readonly slot: ProviderSlot },
): Promise<Owner | undefined> => {
  const [, kind, id = '', , email = ''] = OWNER_FORM.exec(text) ?? [];
  if (kind === 'user') return users.has(id) ? { kind, userId: id } : undefined;
  if (kind === 'organization') {
    const item = await table.get(organizationKey(id));
    return item && item['deletedAt'] === undefined ? { kind, organizationId: id } : undefined;
  }
  const address = email.toLowerCase();
  return { kind: 'guest', email: address, guestId: await ids.idOf('guest', 'import', slot, customerId, address) };
};

/**
 * The alias of a subscription from another biller, made of its customer and reference. Hashed, because the reference
 * may contain a person's name.
 */
const startAlias = (customerId: string, reference: string): string =>
  `start_${createHash('sha256')
    .update(JSON.stringify([customerId, reference]))
    .digest('hex')
    .slice(0, 32)}`;

type Readable = Pick<RowReads, 'providerCustomerId' | 'holdings' | 'start'>;

const readKnown = async (
  table: Table,
  slot: ProviderSlot,
  { providerCustomerId, holdings, start }: Readable,
): Promise<ReadonlyMap<string, KnownRecord>> => {
  const { methods, subscriptions } = holdings;
  const ids = [
    providerCustomerId,
    ...methods.map(({ methodId }) => methodId),
    ...subscriptions.map(({ report }) => report.subscriptionId),
    ...(start ? [start.alias] : []),
  ];
  const aliases = await table.getMany(
    ids.map((id) => aliasKey(slot, id)),
    { consistent: true },
  );
  const found = ids.flatMap((externalId, index) => {
    const alias = aliases[index];
    return alias ? [{ externalId, key: recordKey(aliasOf(alias).kind, aliasOf(alias).id) }] : [];
  });
  // A subscription may lack its alias if the response to its creation was lost. Its provider record names our id.
  const marked = subscriptions.flatMap(({ report: { subscriptionId: externalId, ourSubscriptionId: ours } }) =>
    ours !== undefined && ours.length <= LONGEST_OWN_ID && found.every((one) => one.externalId !== externalId)
      ? [{ externalId, key: recordKey('SUB', ours) }]
      : [],
  );
  const named = [...found, ...marked];
  const items = await table.getMany(
    named.map(({ key }) => key),
    { consistent: true },
  );
  return new Map(
    named.flatMap(({ externalId }, index) => {
      const item = items[index];
      return item ? [[externalId, knownOf(item)] as const] : [];
    }),
  );
};

const LONGEST_OWN_ID = 64;

/** The cast is sound, because every stored record has the owner columns. */
const knownOf = (item: Item): KnownRecord => ({ id: String(item['id']), owner: ownerOfRecord(item as Owned) });

/** The current record for the provider's id. */
export const readKnownOne = async (
  table: Table,
  slot: ProviderSlot,
  externalId: string,
): Promise<KnownRecord | undefined> => {
  const alias = await table.get(aliasKey(slot, externalId));
  const item = alias && (await table.get(recordKey(aliasOf(alias).kind, aliasOf(alias).id)));
  return item && knownOf(item);
};

const readCurrencies = async (provider: PaymentProvider, { subscriptions }: Holdings): Promise<ReadonlySet<string>> => {
  const currencies = [...new Set(subscriptions.map(({ terms }) => terms.currency))];
  const refused = await Promise.all(
    currencies.map(async (currency) => {
      const refusal = await provider.checkAmount({ amountCents: SAMPLE_CENTS, currency });
      return refusal?.kind === 'currency' ? [currency] : [];
    }),
  );
  return new Set(refused.flat());
};

/** An amount that every provider can charge in each accepted currency. */
const SAMPLE_CENTS = 100_000;
