import type { AdapterName, ProviderSlot } from '../../../../shared/core/settings.ts';
import type { LedgerPayment, LedgerSetup } from '../ledger/documents.ts';
import type { Change, LedgerIdKind, Unit } from '../ledger/unit.ts';
import type { SlotOptions } from '../state/options.ts';

/** One call of a vendor's protocol, its prefix (`/stripe`) taken off. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly body: string;
}

export interface Answer {
  readonly status: number;
  /** JSON text. */
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** false: refused before the operation began, so that the same idempotency key may be used again. */
  readonly began: boolean;
}

/** A header of refusals that may be the simulator's own: the vendor may offer what the simulator does not. */
export const NOT_OFFERED: Readonly<Record<string, string>> = { 'x-simulator': 'not-offered' };

export interface VendorOperation {
  readonly method: string;
  /** Ids are `:id`. */
  readonly path: string;
}

export interface VendorCaller {
  readonly slot: ProviderSlot;
  /** `adapter`: uses the secret key; `browser`: the customer's browser, with the publishable key. */
  readonly kind: 'adapter' | 'browser';
}

/** An event in the vendor's own format, before it is wrapped and sent. */
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
}

/** The call that caused an event; undefined for due work. */
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

/** How a vendor signs what it sends, and what its events look like. */
export interface VendorWebhooks {
  /** The headers of one delivery. */
  headersOf(signing: Signing): Record<string, string>;
  envelope(parts: EnvelopeParts): unknown;
  /** For so many days, an event that is not taken is sent again. */
  readonly retriesForDays: number;
  eventsOf(change: Change, unit: Unit): readonly VendorEvent[];
}

/** How a vendor treats a repeated key. */
export interface VendorIdempotency {
  keyOf(call: Call): string | undefined;
  /** Equal for repeated calls. */
  fingerprintOf(call: Call): string;
  keepMs(call: Call): number;
  /** The answer to another request under a used key; undefined: the stored answer is returned anyway. */
  reused(key: string, call: Call, firstPath: string): Answer | undefined;
  inUse(key: string): Answer;
  replayHeaders(requestId: string): Record<string, string>;
  /** The status of a repeated answer, where it differs from the first. */
  replayStatus?(status: number, call: Call): number;
}

/** A step that a customer takes outside the shop, such as 3-D Secure. */
export interface CustomerStep {
  readonly passed: boolean;
  /** The approving payer, as a test value of the vendor. */
  readonly payer: string | undefined;
}

export type StepTaken =
  | { readonly after: LedgerPayment | LedgerSetup; readonly backTo: string | undefined }
  | { readonly problem: string };

/** Thrown by a vendor: nothing of the call is committed, and this is its answer. */
export class Refused extends Error {
  readonly answer: Answer;
  constructor(answer: Answer) {
    super(answer.body);
    this.name = 'Refused';
    this.answer = answer;
  }
}

/** One vendor's protocol over the ledger. A vendor holds no state of its own. */
export interface Vendor {
  readonly adapter: AdapterName;
  /** What the simulator offers of the vendor's API. */
  readonly operations: readonly VendorOperation[];
  readonly webhooks: VendorWebhooks;
  readonly idempotency: VendorIdempotency;
  looksLive(apiKey: string): boolean;
  /** @returns the caller, or the refusal. */
  identify(call: Call, slots: readonly (readonly [ProviderSlot, SlotOptions])[]): VendorCaller | Answer;
  /**
   * Carries the call out, within one transaction.
   * @throws Refused where nothing must be committed.
   */
  execute(call: Call, caller: VendorCaller, unit: Unit): Answer;
  /** A customer's step without a charge (an approval). Vendors without such a step use the ledger's authentication. */
  takeCustomerStep?(unit: Unit, waiting: LedgerPayment | LedgerSetup, step: CustomerStep): StepTaken;
  /** A payment that its customer may approve although no call has asked for it. */
  awaitsApproval?(payment: LedgerPayment): boolean;
  /** The ledger keeps amounts as the vendor counts them: in ISO 4217 minor units, by the vendor's own table. */
  minorUnits(amount: number, currency: string): number;
  /** The smallest amount that the vendor charges, as it counts; absent if it has no minimum. */
  leastCharge?(currency: string): number;
  /** False: the vendor has no canceled refunds. */
  readonly cancelsRefunds?: false;
  /** `tag` makes the ids of each ledger different. */
  formatId(kind: LedgerIdKind | 'request', n: number, tag: string): string;
  headersOf(call: Call, requestId: string): Record<string, string>;
  serverError(requestId: string): Answer;
  rateLimited(requestId: string): Answer;
}
