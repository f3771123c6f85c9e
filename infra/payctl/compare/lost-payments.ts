/**
 * @module Finds payments lost by a restore of the table. Providers made them after the restored time, and they have no
 * record.
 */

import { amountWithCurrency } from '../../../shared/core/money.ts';
import type { Outcome } from '../../../shared/core/outcome.ts';
import { PAYMENT_SLOTS, type PaymentSlot } from '../../../shared/core/settings.ts';
import { iso, MINUTE_MS } from '../../../shared/core/time.ts';
import type { VisiblePayment } from '../../../shared/payments/payment.ts';
import {
  asRestorable,
  findChargedCustomer,
  giveOwner,
  type KnownOfRestored,
  OTHER_AMOUNT,
  type Restorable,
  restoredPayment,
  restorePayment,
  WITHOUT_OWNER,
} from '../../../shared/payments/restore-payment.ts';
import type { ListedPayment } from '../../../shared/providers/listing-port.ts';
import { syncIfKnown } from '../../../shared/subscriptions/at-provider/store-report.ts';
import { possiblePayments } from '../../../shared/subscriptions/billing/lost-renewals.ts';
import {
  isLive,
  isProviderBilled,
  type Subscription,
  subscriptionOf,
} from '../../../shared/subscriptions/record/subscription.ts';
import { NotReachable } from '../installation/control.ts';
import type { Installation } from '../installation/installation.ts';
import { scanItems } from '../installation/scan-items.ts';
import { type ChargedAgain, splitListed } from './charged-again.ts';
import { type Unfollowed, unfollowedAt } from './lost-subscriptions.ts';
import type { Drift, Unread } from './payment.ts';

/**
 * The providers' lists start earlier by this time, because a provider's clock may differ from the backup's. This adds
 * no wrong losses, because a payment with a record never counts as lost.
 */
const MARGIN_MS = 10 * MINUTE_MS;

/** The start of the providers' lists, ISO 8601. */
export const listedFrom = (restoredTo: string): string => iso(Date.parse(restoredTo) - MARGIN_MS);

/** A payment without a record here. */
interface Lost extends Restorable {
  readonly finding: Drift;
}

interface Listed {
  readonly provider: PaymentSlot;
  readonly listed: number;
  /** Number of listed objects without a payment id of this service. They belong to other systems. */
  readonly not_ours: number;
  /** A phrase that says which payments the list omits; null if the list is complete. */
  readonly leaves_out: string | null;
}

export interface LostPayments {
  readonly lost: readonly Lost[];
  readonly chargedAgain: readonly ChargedAgain[];
  readonly unfollowed: readonly Unfollowed[];
  readonly lists: readonly Listed[];
  /** Providers with an unreadable or incomplete list of payments, with the reason. */
  readonly unlisted: readonly (Unread & { readonly provider: PaymentSlot })[];
}

type Reader = Pick<Installation, 'deps'>;

/**
 * @param since ISO 8601; the time to which the table was restored
 * @throws NotReachable for a future time
 */
export const findLost = async (reader: Reader, since: string): Promise<LostPayments> => {
  if (Date.parse(since) > reader.deps.now()) throw new NotReachable(`${since} is in the future`);
  const all: Restorable[] = [];
  const lists: Listed[] = [];
  const unfollowed: Unfollowed[] = [];
  const unlisted: (Unread & { provider: PaymentSlot })[] = [];
  for (const slot of PAYMENT_SLOTS) {
    const read = await listAt(reader, slot, since);
    if (!read) continue;
    if (!('payments' in read)) {
      unlisted.push({ provider: slot, unread: read.unread });
      continue;
    }
    const ours = read.payments.map((listed) => asRestorable({ slot, listed })).filter((one) => one !== undefined);
    const [listed, notOurs] = [read.payments.length, read.payments.length - ours.length];
    lists.push({ provider: slot, listed, not_ours: notOurs, leaves_out: read.leavesOut ?? null });
    if (read.startsAt !== undefined) unlisted.push({ provider: slot, unread: `before ${read.startsAt}` });
    all.push(...ours);
    unfollowed.push(...read.unfollowed);
  }
  const { unknown, again: chargedAgain } = await splitListed(reader, all);
  const lost = unknown.map((one) => ({ ...one, finding: findingOfLost(one) }));
  return { lost, chargedAgain, unfollowed, lists, unlisted };
};

interface List {
  readonly payments: readonly ListedPayment[];
  readonly unfollowed: readonly Unfollowed[];
  readonly leavesOut: string | undefined;
  /** ISO 8601; earlier payments may be missing from the list. Undefined if the list covers the whole period. */
  readonly startsAt: string | undefined;
}

/** @returns undefined if the slot takes no payments */
const listAt = async (reader: Reader, slot: PaymentSlot, since: string): Promise<List | Unread | undefined> => {
  const { deps } = reader;
  const provider = await deps.providers.find(slot);
  if (!provider?.can.payments) return undefined;
  if (!provider.listing) return { unread: 'it cannot list payments' };
  const from = listedFrom(since);
  const found = await provider.listing.listPayments(from);
  if (found.kind !== 'done') return unreadOf(found);
  const unfollowed = await unfollowedAt(reader, slot, from);
  if (unfollowed.kind !== 'done') return unreadOf(unfollowed);
  const { leavesOut, reachesBackMs } = provider.listing;
  const startsAt = reachesBackMs === undefined ? undefined : iso(deps.now() - reachesBackMs);
  return {
    ...{ payments: found.value, unfollowed: unfollowed.value, leavesOut },
    startsAt: startsAt !== undefined && startsAt > from ? startsAt : undefined,
  };
};

const unreadOf = (outcome: Exclude<Outcome<unknown>, { kind: 'done' }>): Unread => ({
  unread: 'reason' in outcome ? outcome.reason : outcome.kind,
});

const findingOfLost = ({ slot, listed: { report }, paymentId, totalCents, currency }: Restorable): Drift => ({
  payment_id: paymentId,
  provider: slot,
  provider_payment_id: report.paymentId,
  kind: 'payment not here',
  here: 'nothing',
  there: `${report.status}, ${amountWithCurrency(totalCents, currency)}`,
});

/** The result of restoring lost payments. */
export interface Restored {
  /** Ids of the lost payments, which all exist here now. */
  readonly restored: readonly string[];
  /** Payments without an owner, because the provider does not name it. Only staff can see them. */
  readonly without_owner: readonly string[];
  /** Payments with another amount than their subscription's. */
  readonly other_amount: readonly string[];
  /** Number of synced provider-billed subscriptions. */
  readonly synced: number;
  readonly unread_subscriptions: readonly string[];
}

/** The owners named by the operator, by payment id. */
export type Owners = ReadonlyMap<string, KnownOfRestored>;

/**
 * Stores lost payments. For a subscription billed by its provider, a sync with the provider records the invoices. A
 * renewal charged by the service gets the fields of its subscription. Nothing is charged.
 */
export const restoreLost = async (
  installation: Pick<Installation, 'deps' | 'documents' | 'settings'>,
  lost: readonly Lost[],
  owners: Owners,
): Promise<Restored> => {
  const { deps } = installation;
  const possible = new Map<string, KnownOfRestored>();
  const unread: string[] = [];
  let synced = 0;
  for await (const subscription of scanSubscriptions(installation)) {
    for (const [id, payment] of possiblePayments(subscription, deps.now())) possible.set(id, payment);
    if (!isProviderBilled(subscription) || !isLive(subscription)) continue;
    if (await isSynced(installation, subscription)) synced += 1;
    else unread.push(subscription.id);
  }
  const stored: VisiblePayment[] = [];
  for (const one of lost) {
    const known = possible.get(one.paymentId) ?? (await findChargedCustomer(deps.table, one));
    const payment = restoredPayment(one, { ...known, ...owners.get(one.paymentId) }, deps.now());
    if (await restorePayment(deps, payment)) stored.push(payment);
  }
  // Also set the owners of payments from an earlier run.
  for (const [paymentId, owner] of owners) await giveOwner(deps, paymentId, owner);
  return {
    restored: lost.map(({ paymentId }) => paymentId),
    without_owner: stored.filter(({ anomaly }) => anomaly === WITHOUT_OWNER).map(({ id }) => id),
    other_amount: stored.filter(({ anomaly }) => anomaly === OTHER_AMOUNT).map(({ id }) => id),
    synced,
    unread_subscriptions: unread,
  };
};

const isSynced = async ({ deps }: Reader, subscription: Subscription): Promise<boolean> => {
  try {
    return (await syncIfKnown(deps, subscription)) !== undefined;
  } catch {
    return false;
  }
};

async function* scanSubscriptions(installation: Pick<Installation, 'documents' | 'settings'>) {
  for await (const item of scanItems(installation, 'SUB')) {
    const subscription = subscriptionOf(item);
    if (subscription) yield subscription;
  }
}
