/**
 * @module Plans the import of one row from the reads alone. Pure. A dry run and a real run use the same plan; the real
 * run stores its records.
 */

import type { Product } from '../catalog/catalog-records.ts';
import { normalizedEmail } from '../core/text.ts';
import { DAY_MS, HOUR_MS, type Instant, instant } from '../core/time.ts';
import type { Owner } from '../platform/keys.ts';
import type { HeldSubscription, Holdings } from '../providers/holdings-port.ts';
import type { ProviderMethod } from '../providers/method-port.ts';
import { type AdoptedPlan, adoptedPlan } from '../subscriptions/at-provider/adopted-record.ts';
import type { ImportedRecord, ImportKind, ImportManual, ImportRefusal, StartBody } from './import-requests.ts';

/** Our record for a provider's id. `id` is null for a record that only a dry run would create. */
export interface KnownRecord {
  readonly id: string | null;
  readonly owner: Owner | undefined;
}

export interface RowReads {
  readonly providerCustomerId: string;
  readonly owner: Owner;
  readonly holdings: Holdings;
  /** The known records by provider id. A subscription from another biller has the alias of `startAlias` as its key. */
  readonly known: ReadonlyMap<string, KnownRecord>;
  /** The currencies refused by the slot. */
  readonly refusedCurrencies: ReadonlySet<string>;
  readonly start: (StartBody & { readonly alias: string }) | undefined;
}

export interface RowOptions {
  readonly products: ReadonlyMap<string, Product>;
  readonly overwritesMetadata: boolean;
  readonly now: Instant;
}

/** The data to create an adopted record from. */
export type Adopting =
  | { readonly kind: 'customer' }
  | { readonly kind: 'payment_method'; readonly method: ProviderMethod; readonly isDefault: boolean }
  | {
      readonly kind: 'subscription';
      readonly held: HeldSubscription;
      readonly plan: AdoptedPlan;
      readonly methodRef: string;
    }
  | { readonly kind: 'start'; readonly start: StartBody; readonly alias: string };

export type PlannedRecord = { readonly kind: ImportKind; readonly providerId: string } & (
  | { readonly outcome: 'adopted'; readonly adopting: Adopting }
  | { readonly outcome: 'known'; readonly id: string | null }
  | { readonly outcome: 'refused'; readonly reason: ImportRefusal }
  | { readonly outcome: 'manual'; readonly reason: ImportManual }
);

/** The record as the response shows it. */
export const shown = (record: PlannedRecord, id: string | null): ImportedRecord => ({
  kind: record.kind,
  provider_id: record.providerId,
  id,
  outcome: record.outcome,
  reason: 'reason' in record ? record.reason : null,
});

/**
 * The refused customer or payment method that the record needs. Every record needs the customer, and a subscription
 * also needs its payment method.
 * @param done the row's earlier records, the customer first
 */
export const refusedNeedOf = (record: PlannedRecord, done: readonly ImportedRecord[]): ImportedRecord | undefined => {
  const methodRef = record.outcome === 'adopted' ? methodRefOf(record.adopting) : undefined;
  return done.find(
    ({ kind, provider_id, outcome }) => outcome === 'refused' && (kind === 'customer' || provider_id === methodRef),
  );
};

const methodRefOf = (adopting: Adopting): string | undefined => {
  if (adopting.kind === 'subscription') return adopting.methodRef;
  return adopting.kind === 'start' ? adopting.start.payment_method : undefined;
};

export const isSameOwner = (one: Owner, other: Owner | undefined): boolean => {
  if (one.kind === 'guest')
    return other?.kind === 'guest' && normalizedEmail(one.email) === normalizedEmail(other.email);
  if (one.kind === 'user') return other?.kind === 'user' && one.userId === other.userId;
  return other?.kind === 'organization' && one.organizationId === other.organizationId;
};

export const planRow = (reads: RowReads, options: RowOptions): readonly PlannedRecord[] => {
  const records = recordsOf(reads, options);
  const isForeign = records.some(({ providerId }) => {
    const known = reads.known.get(aliasIn(reads, providerId));
    return known !== undefined && !isSameOwner(reads.owner, known.owner);
  });
  return isForeign
    ? records.map(({ kind, providerId }) => ({ kind, providerId, outcome: 'refused', reason: 'other_owner' }))
    : records;
};

const aliasIn = ({ start }: RowReads, providerId: string): string =>
  start?.reference === providerId ? start.alias : providerId;

const recordsOf = (reads: RowReads, options: RowOptions): readonly PlannedRecord[] => {
  const methods = planMethods(reads);
  const usable = new Set(
    methods.filter(({ outcome }) => outcome === 'adopted' || outcome === 'known').map(({ providerId }) => providerId),
  );
  const { providerCustomerId: providerId, start } = reads;
  return [
    knownOr(reads, { kind: 'customer', providerId }, () => ({ outcome: 'adopted', adopting: { kind: 'customer' } })),
    ...methods,
    ...reads.holdings.subscriptions.map((held) => planSubscription(reads, { held, usable }, options)),
    ...(start ? [planStart(reads, { start, usable }, options)] : []),
  ];
};

type Decision =
  | Pick<Extract<PlannedRecord, { readonly outcome: 'adopted' }>, 'outcome' | 'adopting'>
  | Pick<Extract<PlannedRecord, { readonly outcome: 'refused' }>, 'outcome' | 'reason'>
  | Pick<Extract<PlannedRecord, { readonly outcome: 'manual' }>, 'outcome' | 'reason'>;

const knownOr = (
  { known }: Pick<RowReads, 'known'>,
  { kind, providerId, alias = providerId }: Pick<PlannedRecord, 'kind' | 'providerId'> & { readonly alias?: string },
  decide: () => Decision,
): PlannedRecord => {
  const found = known.get(alias);
  return found ? { kind, providerId, outcome: 'known', id: found.id } : { kind, providerId, ...decide() };
};

const MOST_METHODS = 20;

/** Adopts the default and the oldest methods, up to the limit. */
const planMethods = (reads: RowReads): readonly PlannedRecord[] => {
  const { methods, defaultMethodId } = reads.holdings;
  const isDefault = ({ methodId }: ProviderMethod): boolean => methodId === defaultMethodId;
  const ranked = [...methods.filter(isDefault), ...methods.filter((method) => !isDefault(method))];
  const chosen = new Set(ranked.slice(0, MOST_METHODS));
  return methods.map((method) =>
    knownOr(reads, { kind: 'payment_method', providerId: method.methodId }, () =>
      chosen.has(method)
        ? { outcome: 'adopted', adopting: { kind: 'payment_method', method, isDefault: isDefault(method) } }
        : { outcome: 'manual', reason: 'too_many_methods' },
    ),
  );
};

interface SubscriptionRow {
  readonly held: HeldSubscription;
  /** The methods that will have a record after the import of the row. */
  readonly usable: ReadonlySet<string>;
}

const planSubscription = (
  reads: RowReads,
  { held, usable }: SubscriptionRow,
  { products, overwritesMetadata }: RowOptions,
): PlannedRecord => {
  const { report, terms } = held;
  return knownOr(reads, { kind: 'subscription', providerId: report.subscriptionId }, () => {
    const isTaken = report.ourSubscriptionId !== undefined && !overwritesMetadata;
    if (isTaken) return { outcome: 'refused', reason: 'metadata_taken' };
    if (terms.obstacle) return { outcome: 'manual', reason: terms.obstacle };
    const methodRef = terms.methodId ?? reads.holdings.defaultMethodId;
    if (methodRef === undefined || !usable.has(methodRef)) return { outcome: 'manual', reason: 'no_method' };
    if (reads.refusedCurrencies.has(terms.currency)) return { outcome: 'manual', reason: 'currency' };
    const plan = adoptedPlan(held, products.get(terms.priceId));
    return typeof plan === 'string'
      ? { outcome: 'manual', reason: plan }
      : { outcome: 'adopted', adopting: { kind: 'subscription', held, plan, methodRef } };
  });
};

const PAID_AHEAD = { least: 48 * HOUR_MS, most: 400 * DAY_MS } as const;

interface StartRow extends Pick<SubscriptionRow, 'usable'> {
  readonly start: NonNullable<RowReads['start']>;
}

const planStart = (reads: RowReads, { start, usable }: StartRow, { now }: RowOptions): PlannedRecord => {
  const { reference: providerId, alias } = start;
  return knownOr(reads, { kind: 'subscription', providerId, alias }, () => {
    const ahead = instant(start.paid_until) - now;
    if (!start.source_ended) return { outcome: 'refused', reason: 'source_not_ended' };
    if (ahead < PAID_AHEAD.least || ahead > PAID_AHEAD.most) return { outcome: 'refused', reason: 'paid_until' };
    if (!usable.has(start.payment_method)) return { outcome: 'refused', reason: 'no_method' };
    return { outcome: 'adopted', adopting: { kind: 'start', start, alias } };
  });
};
