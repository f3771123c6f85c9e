/**
 * @module The shape of the tables in this folder. For each object of a provider that has a record here, a table lists
 * every field of the object and every value of its status, with the service's use of it. docs/mirror.md is generated
 * from the tables, and test/contract/mirror.test.ts compares them with the providers' own types and with the adapters.
 */
import type { DisputeStatus, RefundStatus } from '../../../../shared/core/money-back.ts';
import type { Dispute } from '../../../../shared/payments/dispute.ts';
import type { Payment } from '../../../../shared/payments/payment.ts';
import type { ReportedStatus } from '../../../../shared/providers/payment-port.ts';
import type { ProviderSubscription } from '../../../../shared/providers/subscription-port.ts';
import type { Subscription } from '../../../../shared/subscriptions/record/subscription.ts';

/** A field that the API shows; a test looks it up in the API document. */
type ShownField = `${'payment' | 'refund' | 'dispute' | 'subscription' | 'customer' | 'payment_method'}.${string}`;

/** A field that only the stored record has. */
type StoredField = `Payment.${keyof Payment}` | `Dispute.${keyof Dispute}` | `Subscription.${keyof Subscription}`;

export type OurField = ShownField | StoredField;

/** Our status, as the adapter reports it. */
export type OurStatus = ReportedStatus | RefundStatus | DisputeStatus | ProviderSubscription['status'];

/** The meaning of a value. If a value has several meanings, `when` says which of them applies. */
export type Meaning = OurStatus | { readonly either: readonly OurStatus[]; readonly when: string };

/** Lists of field names, separated by spaces, keyed by a property that the fields share. */
type Grouped = Readonly<Record<string, string>>;

/** A name is a field of the object, or the path of a nested field that the adapter reads (`items.data[].quantity`). */
export interface MirroredObject {
  /** The provider's name of the object. */
  readonly name: string;
  /** Stored in our fields on every event and every read. Keyed by the object's field. */
  readonly mirrored: Readonly<Record<string, readonly OurField[]>>;
  /** Compared with our field. A difference changes nothing and raises an alarm. */
  readonly checked?: Readonly<Record<string, OurField>>;
  /** Read to decide something, and not stored. Keyed by the condition for the read. */
  readonly read?: Grouped;
  /** Keyed by the reason. */
  readonly ignored: Grouped;
  /** Fields that the provider's current type lacks. Keyed by their source. */
  readonly elsewhere?: Grouped;
  /** Keyed by the field that holds the status. */
  readonly statuses?: Readonly<Record<string, Readonly<Record<string, Meaning>>>>;
}

export const splitNames = (names: string): readonly string[] => names.split(' ');

/** The object's top-level field in a path. */
export const topOf = (path: string): string => /^\w+/.exec(path)?.[0] ?? path;
