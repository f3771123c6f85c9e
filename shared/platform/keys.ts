/** @module The keys of every item, and the indexes of the one table. The table's page in docs/ explains each key. */

import { fingerprint, plainId } from '../core/ids.ts';
import { PROVIDER_SLOTS, type ProviderSlot } from '../core/settings.ts';
import { normalizedEmail } from '../core/text.ts';

export interface Key {
  readonly pk: string;
  readonly sk: string;
}

export const keyOf = ({ pk, sk }: Readonly<Record<string, unknown>>): Key => ({ pk: String(pk), sk: String(sk) });

/** The owner of a record. Each owned record is listed under its owner in the `owner` index. */
export type Owner =
  | { readonly kind: 'user'; readonly userId: string }
  | { readonly kind: 'guest'; readonly email: string; readonly guestId: string }
  | { readonly kind: 'organization'; readonly organizationId: string };

/** Kinds of records that have an owner and appear in its lists. */
export type OwnedKind = 'PAY' | 'PM' | 'ADDR' | 'CUS' | 'SUB' | 'RFD' | 'DSP';
/** Kinds of items that hold copies of record data. */
export type PayloadKind = 'LOG' | 'EVT' | 'DLV' | 'IDEM';
/**
 * The kinds of items, used as their sort keys. In the code, a table with a decision per kind has this type as its key,
 * and excludes the kinds without a row, with a reason. So a new kind compiles only after every such table decides about
 * the kind.
 */
export type ItemKind = OwnedKind | PayloadKind | 'MBR' | 'ORG' | 'LEFT' | 'ERA';
/**
 * Kinds without their own event. A refund or dispute is part of its payment's event. Methods, addresses, organizations
 * and erasures have no events. The other kinds only serve the delivery of events and responses.
 */
type SilentKind = 'RFD' | 'DSP' | 'PM' | 'ADDR' | 'ORG' | 'LEFT' | 'ERA' | 'LOG' | 'DLV' | 'IDEM';
/** Kinds whose changes are published as events. */
export type PublishedKind = Exclude<ItemKind, SilentKind>;
/** Kinds that need no row in tables per kind: reference records of other systems, ids, locks and counters. */
type PlainKind =
  | (typeof REFERENCE_PREFIX)[ReferenceKind]
  | 'DISCOUNTCOUNT'
  | 'DISCOUNTUSE'
  | 'REDEMPTION'
  | 'LINK'
  | 'LINKCOUNT'
  | 'LINKPLACE'
  | 'PAYER'
  | 'SUMMED'
  | 'REF'
  | 'GONE'
  | 'ERASING'
  | 'CALLS'
  | 'KEY'
  | 'KEYUSE'
  | 'TABLE';
/** Kinds with a history of every version. A payment's history includes the versions of its refunds and disputes. */
export type HistoricKind = Exclude<OwnedKind, 'PM' | 'ADDR' | 'CUS' | 'RFD' | 'DSP'>;

export const recordKey = (kind: ItemKind | PlainKind, id: string): Key => ({ pk: `${kind}#${id}`, sk: kind });
export const paymentKey = (id: string): Key => recordKey('PAY', id);
export interface Historic {
  readonly kind: HistoricKind;
  readonly id: string;
}
export const historyKey = ({ kind, id }: Historic, version: number): Key => ({
  pk: recordKey(kind, id).pk,
  sk: `${HISTORY_PREFIX}${String(version).padStart(6, '0')}`,
});
export const periodKey = (subscriptionId: string, start: string): Key => ({
  pk: recordKey('SUB', subscriptionId).pk,
  sk: `PERIOD#${start}`,
});
/** Maps a method or customer to a live subscription that uses it. */
export const usedByKey = (kind: 'PM' | 'CUS', id: string, subscriptionId: string): Key => ({
  pk: recordKey(kind, id).pk,
  sk: `${USED_BY_PREFIX}${subscriptionId}`,
});
export const USED_BY_PREFIX = 'SUB#';
/** Maps an address to a method or subscription naming it. */
export const addressUseKey = (addressId: string, kind: 'PM' | 'SUB', id: string): Key => ({
  pk: recordKey('ADDR', addressId).pk,
  sk: `${kind}#${id}`,
});
/** The range of sort keys of an address's uses. The address itself sorts before this range. */
export const ADDRESS_USES = { from: 'PM#', to: 'SUB#~' } as const;
/** The entries of one day are sharded, because one partition cannot take the writes of all payments. */
const ENTRY_SHARDS = 4;
const entryShards: readonly number[] = Array.from({ length: ENTRY_SHARDS }, (_, shard) => shard);
const entryPartition = (kind: HistoricKind, day: string, shard: number): string => `ALL${kind}#${day}#${shard}`;
/** The partitions of all payments, or all subscriptions, created on a UTC day. */
export const entryPartitions = (kind: HistoricKind, day: string): readonly string[] =>
  entryShards.map((shard) => entryPartition(kind, day, shard));
/** The entry of a record in the list of all records of its kind, sorted by `listSort`. */
export const entryKey = (kind: HistoricKind, createdAt: string, id: string): Key => ({
  pk: entryPartition(kind, createdAt.slice(0, DAY_LENGTH), shardOf(id, ENTRY_SHARDS)),
  sk: listSort(createdAt, id),
});
const DAY_LENGTH = '2000-01-01'.length;
/**
 * The partitions with the entries of the records of a user or guest (`owner` index), or of an organization (`project`
 * index).
 */
export const userEntriesPartition = (kind: HistoricKind, userId: string): string => `USER#${userId}#ALL${kind}`;
export const guestEntriesPartition = (kind: HistoricKind, email: string): string =>
  `GUEST#${emailHash(email)}#ALL${kind}`;
export const organizationEntriesPartition = (kind: HistoricKind, organizationId: string): string =>
  `ORG#${organizationId}#ALL${kind}`;
/** Search words come from people (last four digits, reference code) or from a provider (fingerprint, charge). */
export const WORD_ITEMS = ['PEOPLE', 'PROVIDER'] as const;
/** The items with a record's words, each with one word in the `owner` index and one in the `project` index. */
export const wordKey = (kind: HistoricKind, id: string, of: (typeof WORD_ITEMS)[number]): Key => ({
  pk: `WORD#${id}`,
  sk: `${kind}#${of}`,
});
/** The records with this word, ignoring case. */
export const wordPartition = (kind: HistoricKind, word: string): string =>
  `WORD#${fingerprint(word.trim().toLowerCase()).slice(0, WORD_LENGTH)}#ALL${kind}`;
const WORD_LENGTH = 24;
/** Maps an e-mail address to a customer with this address. */
export const emailCustomerKey = (email: string, customerId: string): Key => ({
  pk: emailCustomers(email).partition,
  sk: `CUS#${customerId}`,
});
export const emailCustomers = (email: string): { readonly partition: string } => ({
  partition: `EMAIL#${emailHash(email)}`,
});
/** The entry of a customer in the list of all customers (`owner` index), also found by name (`project` index). */
export const customerEntryKey = (id: string): Key => ({ pk: recordKey('CUS', id).pk, sk: 'ENTRY' });
const CUSTOMER_SHARDS = 4;
const customerEntries = (shard: number): string => `CUSTOMERS#${shard}`;
export const customerEntryPartition = (id: string): string => customerEntries(shardOf(id, CUSTOMER_SHARDS));
export const customerEntryPartitions: readonly string[] = Array.from({ length: CUSTOMER_SHARDS }, (_, shard) =>
  customerEntries(shard),
);
/** The customers with this name, ignoring case. */
export const customerNamePartition = (name: string): string =>
  `NAME#${fingerprint(name.trim().toLowerCase()).slice(0, WORD_LENGTH)}#CUSTOMERS`;
/** A service key and its last use are separate items, so a function that notes uses cannot change a key. */
export const keyKey = (id: string): Key => recordKey('KEY', id);
export const keyUseKey = (id: string): Key => recordKey('KEYUSE', id);
/** All service keys, in the `owner` index. */
export const KEYS_PARTITION = 'KIND#KEY';
export const membershipKey = (id: string): Key => recordKey('MBR', id);
export const ENTITY_TYPES = ['user', 'organization', 'project'] as const;
export type EntityType = (typeof ENTITY_TYPES)[number];
/** The memberships of a user, organization or project, in the `owner` index. */
export const entityPartition = (type: EntityType, id: string): string => `${ENTITY_PREFIX[type]}#${id}#MBR`;
const ENTITY_PREFIX = { user: 'USER', organization: 'ORG', project: 'PROJECT' } as const;
/**
 * The prefix of the sort keys of a record's history. The record's versions sort before the log entries about the
 * record.
 */
const HISTORY_PREFIX = 'HIST#';
/** The range of sort keys of a record's history. Versions begin with a digit, ids of log entries with a letter. */
export const HISTORY = { from: HISTORY_PREFIX, to: `${HISTORY_PREFIX}~` } as const;
export const HISTORY_VERSIONS = { from: HISTORY_PREFIX, to: `${HISTORY_PREFIX}:` } as const;
export const HISTORY_LOG = { from: `${HISTORY_PREFIX}:`, to: `${HISTORY_PREFIX}~` } as const;
/** The version of a history item, from its sort key. */
export const versionOf = (sk: string): number => Number(sk.slice(HISTORY_PREFIX.length));
export const historyLogKey = ({ kind, id }: Historic, logId: string): Key => ({
  pk: recordKey(kind, id).pk,
  sk: `${HISTORY_PREFIX}${logId}`,
});
/** Maps a provider's id to our record; many to one. */
export const aliasKey = (providerId: string, externalId: string): Key =>
  recordKey('REF', `${providerId}#${externalId}`);
export const providerEventKey = (providerId: string, eventId: string): Key =>
  recordKey('EVT', `${providerId}#${eventId}`);
/** The delivery of an event to one target. */
export const deliveryKey = (messageId: string, target: string): Key => recordKey('DLV', `${messageId}#${target}`);
export const logKey = (id: string): Key => recordKey('LOG', id);
export const organizationKey = (id: string): Key => recordKey('ORG', id);
/** A member's id derives from organization and user, so a user can be a member only once. */
export const memberIdOf = (organizationId: string, userId: string): string => plainId('member', organizationId, userId);
export const memberKeyById = (organizationId: string, memberId: string): Key => ({
  pk: `ORG#${organizationId}`,
  sk: `${MEMBER_PREFIX}${memberId}`,
});
export const memberKey = (organizationId: string, userId: string): Key =>
  memberKeyById(organizationId, memberIdOf(organizationId, userId));
/** An ended membership. The item stays until none of that user's methods pays for the organization. */
export const endedMembershipKey = (memberId: string): Key => recordKey('LEFT', memberId);
export const MEMBER_PREFIX = 'MEMBER#';
/** A user's memberships, in the `owner` index. */
export const membershipPartition = (userId: string): string => `USER#${userId}#ORG`;
/** An organization's members in order of joining, in the `project` index. */
export const memberPartition = (organizationId: string): string => `ORG#${organizationId}#MEMBER`;
export const REFERENCE_KINDS = ['products', 'projects', 'tiers', 'invites', 'discounts'] as const;
export type ReferenceKind = (typeof REFERENCE_KINDS)[number];
const REFERENCE_PREFIX = {
  products: 'PRODUCT',
  projects: 'PROJECT',
  tiers: 'TIER',
  invites: 'INVITE',
  discounts: 'DISCOUNT',
} as const;
export const referenceKey = (kind: ReferenceKind, id: string): Key => recordKey(REFERENCE_PREFIX[kind], id);
/** The counter of uses of a code with `max_redemptions`. A recreated code keeps its counter. */
export const discountCountKey = (code: string): Key => recordKey('DISCOUNTCOUNT', code);
/** The counter of a payer's uses of a code. @param payer from `payerOfDiscount` */
export const discountUseKey = (code: string, payer: string): Key => recordKey('DISCOUNTUSE', `${code}#${payer}`);
/** The item of a redemption. It is written when the redemption is paid or returned. */
export const redemptionKey = (id: string): Key => recordKey('REDEMPTION', id);
export const paymentLinkKey = (id: string): Key => recordKey('LINK', id);
/** All payment links, in the `owner` index. */
export const LINKS_PARTITION = 'KIND#LINK';
/** A link's counters of created payments, of payments with a reserved place, and of succeeded payments. */
export const linkCountKey = (id: string): Key => recordKey('LINKCOUNT', id);
/** A payment's part of a link's counters. */
export const linkPlaceKey = (paymentId: string): Key => recordKey('LINKPLACE', paymentId);
/** All records of a reference kind, in the `owner` index. */
export const referencePartition = (kind: ReferenceKind): string => `KIND#${REFERENCE_PREFIX[kind]}`;
/** The owner's customer at a provider. */
export const ownerCustomerKey = (ownerKey: string, providerId: string): Key => ({
  pk: `OWNER#${ownerKey}`,
  sk: `CUSTOMER#${providerId}`,
});
/** The counters of a guest's or project's list. For other lists, the sums also count payments. */
export const countKey = (scope: string, day: string): Key => ({ pk: `COUNT#${scope}`, sk: day });
/** True for the list of a user or an organization, with sums instead of counters. */
export const hasSums = (scope: string): boolean => /^(USER|ORG)#/.test(scope);
/** Sums of a scope, for one UTC day and currency. */
export const sumKey = (scope: string, day: string, currency: string): Key => ({
  pk: `SUM#${scope}`,
  sk: `${day}#${currency}`,
});
/** The range of sort keys of the sums between two days, inclusive. */
export const sumRange = (from: string | undefined, to: string | undefined) => ({
  from,
  to: to === undefined ? undefined : `${to}#~`,
});
const ALL_SHARDS = 8;
/** Sharded sums of all payments, so no single item gets every write and concurrent writes do not conflict. */
export const allScope = (spread: string): string => `ALL#${shardOf(spread, ALL_SHARDS)}#PAY`;
export const allScopes: readonly string[] = Array.from({ length: ALL_SHARDS }, (_, shard) => `ALL#${shard}#PAY`);
/** Sharded sums of all subscriptions. The transaction of a batch writes only one shard. */
const SUBSCRIPTION_SHARDS = 4;
const subscriptionSums = (shard: number): string => `ALL#${shard}#SUB`;
export const subscriptionScope = (spread: string): string => subscriptionSums(shardOf(spread, SUBSCRIPTION_SHARDS));
export const subscriptionScopes: readonly string[] = Array.from({ length: SUBSCRIPTION_SHARDS }, (_, shard) =>
  subscriptionSums(shard),
);
/**
 * Replaces the day in the key of the current sums. Sorts after all days, so one query reads past days and the current
 * sums.
 */
export const PRESENT_SUMS = 'PRESENT';
/** The contribution of a refund to the sums of all payments, with the refund's version. */
export const refundSumKey = (refundId: string): Key => recordKey('SUMMED', refundId);
/** Identifies a payer's first succeeded payment. @param payer from `payerOfDiscount` */
export const payerKey = (payer: string): Key => recordKey('PAYER', payer);
export const idempotencyKey = (scope: string): Key => recordKey('IDEM', scope);
/** The counts of a subject's rate windows. */
export const rateKey = (name: string, subject: string): Key => ({
  pk: `RATE#${name}#${fingerprint(subject).slice(0, 24)}`,
  sk: 'RATE',
});
/** The erasure of a person. Its partition also contains the e-mail addresses still to search for. */
export const erasureKey = (id: string): Key => recordKey('ERA', id);
/** An e-mail address found by the erasure and still to search for. */
export const soughtKey = (erasureId: string, email: string): Key => ({
  pk: erasureKey(erasureId).pk,
  sk: `${SOUGHT_PREFIX}${fingerprint(email).slice(0, 24)}`,
});
export const SOUGHT_PREFIX = 'MAIL#';
/** A lock, so that only one erasure per person runs at a time. */
export const erasureLockKey = (kind: 'user' | 'email', value: string): Key =>
  recordKey('ERASING', fingerprint(kind, value).slice(0, 32));
/** Our id or a provider's id of an erased person's record. Later events about the record are blanked. */
export const erasedKey = (id: string): Key => recordKey('GONE', id);
/** The ids of the records that one erasure has erased, in the `owner` index. */
export const erasedPartition = (erasureId: string): string => `ERASURE#${erasureId}`;
export const cacheEpochKey: Key = { pk: 'CACHE#EPOCH', sk: 'CACHE' };

/** The partition of a record's owner in the `owner` index. A guest's partition is a hash of the e-mail. */
export const ownerPartition = (owner: Owner, kind: OwnedKind): string => {
  switch (owner.kind) {
    case 'user':
      return `USER#${owner.userId}#${kind}`;
    case 'guest':
      return guestPartition(owner.email, kind);
    case 'organization':
      return `ORG#${owner.organizationId}#${kind}`;
  }
};
export const guestPartition = (email: string, kind: OwnedKind): string => `GUEST#${emailHash(email)}#${kind}`;
/** The hash of an e-mail address, ignoring case. */
export const emailHash = (email: string): string => fingerprint(normalizedEmail(email)).slice(0, 32);
export const projectPartition = (projectId: string, kind: OwnedKind): string => `PROJECT#${projectId}#${kind}`;

/** The refunds or disputes of a payment, in the `owner` index. */
export const besidePayment = (paymentId: string, kind: 'RFD' | 'DSP'): string => `${paymentKey(paymentId).pk}#${kind}`;
/** All refunds or disputes created in a month (YYYY-MM, UTC), in the `project` index. */
export const monthPartition = (month: string, kind: 'RFD' | 'DSP'): string => `MONTH#${month}#${kind}`;

/** The sort key of the list indexes; unique, oldest first. */
export const listSort = (createdAt: string, id: string): string => `${createdAt}#${id}`;

const DUE_SHARDS = 10;
/** A record's shard in the `due` index, by the record's id. */
export const dueShard = (id: string): string => `DUE#${shardOf(id, DUE_SHARDS)}`;
export const dueShards: readonly string[] = Array.from({ length: DUE_SHARDS }, (_, shard) => `DUE#${shard}`);
const BILLING_SHARDS = 4;
/** Each slot has its own shards, so a million renewals due together do not delay other slots or payment lookups. */
export const billingShard = (slot: ProviderSlot, id: string): string => `DUE#${slot}#${shardOf(id, BILLING_SHARDS)}`;
export const billingShards = (slot: ProviderSlot): readonly string[] =>
  Array.from({ length: BILLING_SHARDS }, (_, shard) => `DUE#${slot}#${shard}`);
/**
 * Deliveries that wait for their next attempt. They have their own shard, because many are due together after an outage
 * of a target.
 */
export const DELIVERY_SHARD = 'DUE#DLV';
/** Every partition of the `due` index. */
export const everyDueShard: readonly string[] = [
  ...dueShards,
  ...PROVIDER_SLOTS.flatMap(billingShards),
  DELIVERY_SHARD,
];
/** The number of provider calls that due work has reserved so far. */
export const callsKey = (slot: ProviderSlot): Key => recordKey('CALLS', slot);

export const shardOf = (id: string, shards: number): number =>
  Number.parseInt(fingerprint(id).slice(0, 6), 16) % shards;

/** The keys and indexes of the one table, for every host that creates it. All keys are strings. */
export const TABLE = {
  partitionKey: 'pk',
  sortKey: 'sk',
  ttl: 'ttl',
  indexes: [
    /** A record under its owner (user, guest or organization) and kind, newest last. */
    { name: 'owner', partitionKey: 'owner', sortKey: 'sort', include: ['f'] },
    /** A record under its project and kind, newest last. */
    { name: 'project', partitionKey: 'project', sortKey: 'sort', include: ['f'] },
    /** Records with due work, by shard, soonest first. */
    { name: 'due', partitionKey: 'due', sortKey: 'due_at', include: [] },
  ],
} as const;
