import type { AdapterName, ProviderSlot } from '../../../shared/core/settings.ts';
import type { LedgerCharge, LedgerMethod, LedgerPayment, LedgerSetup } from '../ledger/documents.ts';
import type { Change, ChargeFees, LedgerIdKind, Unit } from '../ledger/unit.ts';
import type { SlotOptions } from '../state/options.ts';

/** One call of a vendor's protocol, without the vendor's prefix (`/stripe`). */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly body: string;
}

export interface Answer {
  readonly status: number;
  /** JSON text, but XML at Braintree. */
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** False if the call was refused before the operation started. The same idempotency key may then be used again. */
  readonly began: boolean;
}

/** Header for refusals of operations missing from the simulator, although the vendor may offer them. */
export const NOT_OFFERED: Readonly<Record<string, string>> = { 'x-simulator': 'not-offered' };

export interface VendorOperation {
  readonly method: string;
  /** An id parameter is written as `:id`. */
  readonly path: string;
}

export interface VendorCaller {
  readonly slot: ProviderSlot;
  /** An `adapter` uses the secret key. The customer's `browser` uses the publishable key. */
  readonly kind: 'adapter' | 'browser';
}

/** An event in the vendor's format, before its envelope is added. */
export interface VendorEvent {
  readonly type: string;
  readonly object: unknown;
  readonly previous?: Readonly<Record<string, unknown>> | undefined;
  /** Events with the same subject are sent in order. */
  readonly subject: string;
  /** The delivery that a test requests for the object's events. */
  readonly manner?: string | undefined;
}

export interface EnvelopeParts {
  readonly id: string;
  readonly type: string;
  readonly object: unknown;
  readonly previous?: Readonly<Record<string, unknown>> | undefined;
  /** Unix seconds. */
  readonly created: number;
  readonly cause: Cause | undefined;
  /** The account owner's API version for events; undefined for the vendor's default. */
  readonly apiVersion?: string | undefined;
}

/** The call behind an event; undefined for due work. */
export interface Cause {
  readonly requestId: string;
  readonly idempotencyKey: string | undefined;
}

export type SignatureKind = 'valid' | 'invalid' | 'missing' | 'stale';

export interface Signing {
  readonly raw: string;
  readonly slot: SlotOptions;
  /** Epoch ms of the clock. */
  readonly at: number;
  readonly kind: SignatureKind;
}

/** The vendor's signatures and events. */
export interface VendorWebhooks {
  /** The headers of one delivery. */
  headersOf(signing: Signing): Record<string, string>;
  envelope(parts: EnvelopeParts): unknown;
  /** How many days an unaccepted event is retried. */
  readonly retriesForDays: number;
  eventsOf(change: Change, unit: Unit): readonly VendorEvent[];
}

/** A vendor's rules for repeated idempotency keys. */
export interface VendorIdempotency {
  keyOf(call: Call): string | undefined;
  /** A fingerprint of the call, equal for repetitions of the call. */
  fingerprintOf(call: Call): string;
  keepMs(call: Call): number;
  /** The response to a different request under a used key. If undefined, the stored response is returned. */
  reused(key: string, call: Call, firstPath: string): Answer | undefined;
  inUse(key: string): Answer;
  replayHeaders(requestId: string): Record<string, string>;
  /** The status of a repeated response, if it differs from the first. */
  replayStatus?(status: number, call: Call): number;
}

/** A customer's step outside the shop, such as 3-D Secure. */
export interface CustomerStep {
  readonly passed: boolean;
  /** The approving payer, as the vendor's test value. */
  readonly payer: string | undefined;
}

export type StepTaken =
  | { readonly after: LedgerPayment | LedgerSetup; readonly backTo: string | undefined }
  | { readonly problem: string };

/** A capture on the vendor's site. */
export interface SiteCapture {
  /** In the vendor's units; the whole rest if undefined. */
  readonly amount: number | undefined;
  /** False if further captures may follow. */
  readonly isFinal: boolean;
}

/** Thrown by a vendor to commit nothing of the call. `answer` is the response. */
export class Refused extends Error {
  readonly answer: Answer;
  constructor(answer: Answer) {
    super(answer.body);
    this.name = 'Refused';
    this.answer = answer;
  }
}

/** One vendor's protocol over the ledger. Vendors are stateless. */
export interface Vendor {
  readonly adapter: AdapterName;
  /** The vendor's API operations in the simulator. */
  readonly operations: readonly VendorOperation[];
  readonly webhooks: VendorWebhooks;
  readonly idempotency: VendorIdempotency;
  looksLive(apiKey: string): boolean;
  /** @returns the caller, or the refusal. */
  identify(call: Call, slots: readonly (readonly [ProviderSlot, SlotOptions])[]): VendorCaller | Answer;
  /**
   * Runs the call within one transaction.
   * @throws Refused to commit nothing.
   */
  execute(call: Call, caller: VendorCaller, unit: Unit): Answer;
  /** Takes a customer's step without a charge (an approval). If absent, the ledger's authentication applies. */
  takeCustomerStep?(unit: Unit, waiting: LedgerPayment | LedgerSetup, step: CustomerStep): StepTaken;
  /**
   * Captures part of a hold on the vendor's site. Absent if the vendor allows only one capture per hold.
   * @throws Refused
   */
  captureOnSite?(unit: Unit, payment: LedgerPayment, capture: SiteCapture): LedgerCharge;
  /**
   * Creates a stored method of another integration from a test value. Absent if the vendor stores no methods.
   * @throws Refused if there is no such test value
   */
  methodOf?(unit: Unit, testValue: string): LedgerMethod;
  /** True if the customer may approve the payment before a call requests the approval. */
  awaitsApproval?(payment: LedgerPayment): boolean;
  /** Converts an amount from the vendor's units to ISO 4217 minor units, by the vendor's own table. */
  minorUnits(amount: number, currency: string): number;
  /** The minimum charge in the vendor's units; absent without a minimum. */
  leastCharge?(currency: string): number;
  /** Absent if the vendor takes no payments. */
  readonly fees?: ChargeFees;
  /** False if the vendor has no canceled refunds. */
  readonly cancelsRefunds?: false;
  /** Ids differ by the ledger's unique `tag`. */
  formatId(kind: LedgerIdKind | 'request', n: number, tag: string): string;
  headersOf(call: Call, requestId: string): Record<string, string>;
  serverError(requestId: string): Answer;
  rateLimited(requestId: string): Answer;
}
