/**
 * @module Restores a payment that exists at its provider but not in the table, after the table was restored to an
 * earlier time. The restored record has only the data of the provider and of our other records. Nothing is charged, and
 * no events of the payment's creation or outcome are published again.
 */

import { ownerIdsOf } from '../access/record-kind.ts';
import type { ProviderSlot } from '../core/settings.ts';
import { type Instant, instant, iso } from '../core/time.ts';
import { customerRecord } from '../customers/customer.ts';
import { findAlias } from '../platform/alias.ts';
import type { StoreDeps, Table } from '../platform/table.ts';
import type { ListedPayment } from '../providers/listing-port.ts';
import type { PeriodPayment } from './collect-payment.ts';
import type { Payment, VisiblePayment } from './payment.ts';
import { statusHere } from './payment-amounts.ts';
import { versionAfter } from './payment-fields.ts';
import { paymentStore } from './payment-store.ts';
import { advancePayment, reportedFields } from './payment-versions.ts';

/**
 * The first version of a restored payment. It is above the lost record's versions, so no new event reuses the id of an
 * event from before the loss.
 */
const RESTORED_VERSION = 1_000;

/**
 * Marks a payment that was restored without its owner. The owner cannot see the payment, and the erasure of a person
 * does not find it.
 */
export const WITHOUT_OWNER = 'restored without its owner';

/**
 * Marks a restored payment with another amount than its subscription. The plan may have changed since. Or the payer
 * made an order with the payment's id, which PayPal permits in the browser.
 */
export const OTHER_AMOUNT = 'restored with another amount than its subscription';

/** The data that our own records still have about a payment that the provider lists. */
export type KnownOfRestored = Omit<Partial<PeriodPayment>, 'id' | 'totalCents' | 'currency' | 'providerId'>;

interface ListedAtSlot {
  readonly slot: ProviderSlot;
  readonly listed: ListedPayment;
}

/** A listed payment with our id and an amount. */
export interface Restorable extends ListedAtSlot {
  readonly paymentId: string;
  readonly totalCents: number;
  readonly currency: string;
}

/** @returns undefined if the provider lists the payment without our id or without an amount */
export const asRestorable = ({ slot, listed }: ListedAtSlot): Restorable | undefined => {
  const { ourPaymentId: paymentId, amountCents, currency, hold } = listed.report;
  // An ended hold has no amount left, so use the amount it held at first.
  const totalCents = amountCents || hold?.authorizedCents;
  if (paymentId === undefined || !OUR_ID.test(paymentId) || !totalCents || currency === undefined) return undefined;
  return { slot, listed, paymentId, totalCents, currency };
};

const OUR_ID = /^pay_[0-9a-f]{24}$/;

/** The charged customer and its owner, if the customer is recorded here. This owner sees the payment. */
export const findChargedCustomer = async (
  table: Table,
  { slot, listed: { customerId: providerCustomerId } }: ListedAtSlot,
): Promise<KnownOfRestored> => {
  const alias = providerCustomerId === undefined ? undefined : await findAlias(table, slot, providerCustomerId);
  if (providerCustomerId === undefined || alias?.kind !== 'CUS') return {};
  const item = await table.get(customerRecord.key(alias.id));
  const customer = item && customerRecord.parse(item);
  return customer ? { customerId: customer.id, providerCustomerId, ...ownerIdsOf(customer) } : {};
};

/** The payment as the provider reports it now. Pure. @param known the data of our records */
export const restoredPayment = (
  { slot, listed, paymentId, totalCents, currency }: Restorable,
  known: KnownOfRestored,
  now: Instant,
): VisiblePayment => {
  const { report, createdAt, attemptedAt, captureMethod } = listed;
  const wasTried = report.attemptRef !== undefined || TRIED.includes(report.status);
  const unseen: Payment = {
    description: listed.description,
    captureMethod,
    ...known,
    ...pricesOf(known, totalCents),
    id: paymentId,
    currency,
    providerId: slot,
    providerIntentId: report.intentId,
    version: RESTORED_VERSION - 1,
    status: 'creating',
    createdAt: earlier(createdAt, now),
    updatedAt: earlier(createdAt, now),
    attempt: wasTried ? 1 : 0,
    // Providers do not list the time of the outcome, so the time of the attempt replaces it.
    completedAt: report.status === 'succeeded' ? earlier(attemptedAt ?? createdAt, now) : undefined,
    clientSecret: report.clientSecret,
    anomaly: anomalyOf(known, totalCents),
  };
  const to = statusHere(unseen, report.status);
  return advancePayment(unseen, { to, now, cause: 'restore', reported: report }, reportedFields(report));
};

/** Statuses that prove an attempt to charge. */
const TRIED: readonly string[] = ['processing', 'requires_capture', 'succeeded', 'failed'];

/** A provider has only the total. Tax and discount are known only for a subscription's payment. */
const pricesOf = (
  known: KnownOfRestored,
  totalCents: number,
): Pick<Payment, 'subtotalCents' | 'taxCents' | 'discountCents' | 'totalCents'> =>
  known.subtotalCents !== undefined && isPriced(known, totalCents)
    ? {
        subtotalCents: known.subtotalCents,
        taxCents: known.taxCents ?? 0,
        discountCents: known.discountCents ?? 0,
        totalCents,
      }
    : { subtotalCents: totalCents, taxCents: 0, discountCents: 0, totalCents };

const anomalyOf = (known: KnownOfRestored, totalCents: number): string | undefined => {
  if (!isOwned(known)) return WITHOUT_OWNER;
  return known.subtotalCents === undefined || isPriced(known, totalCents) ? undefined : OTHER_AMOUNT;
};

const isPriced = ({ subtotalCents, taxCents = 0, discountCents = 0 }: KnownOfRestored, totalCents: number): boolean =>
  subtotalCents !== undefined && subtotalCents + taxCents - discountCents === totalCents;

const isOwned = ({ userId, guestId, organizationId }: KnownOfRestored): boolean =>
  (userId ?? guestId ?? organizationId) !== undefined;

const earlier = (at: string, now: Instant): string => iso(Math.min(instant(at), now));

/** Stores the payment, unless its id exists. @returns true if the payment was stored now */
export const restorePayment = async ({ table, now }: StoreDeps, payment: VisiblePayment): Promise<boolean> => {
  const store = paymentStore(table, now);
  const found = await store.insertOrFind(payment);
  if (found) return false;
  await store.learnIds(
    { ...payment, providerIntentId: undefined, providerPaymentId: undefined, captures: undefined },
    payment,
  );
  return true;
};

/** Sets the owner of a payment restored without its owner. Other payments stay unchanged. */
export const giveOwner = async (
  { table, now }: StoreDeps,
  paymentId: string,
  owner: KnownOfRestored,
): Promise<void> => {
  await paymentStore(table, now).changeById(paymentId, (current) =>
    current.anomaly === WITHOUT_OWNER && !isOwned(current)
      ? {
          ...current,
          ...owner,
          anomaly: undefined,
          ...versionAfter(current, 'restore', now()),
        }
      : undefined,
  );
};
