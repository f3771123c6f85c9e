/**
 * @module The record of a simulation run, with every request and response, and the state of the service, the providers
 * and the webhook targets at rest. The oracles read nothing else.
 */

/** JSON whose form the reader knows from the interface. */
export type HistoryJson = ReturnType<typeof JSON.parse>;

/** A sender of requests. A user has a session; a guest has tokens or only an e-mail address. */
export interface Person {
  readonly name: string;
  readonly kind: 'user' | 'guest' | 'admin';
  readonly email: string;
  /** Empty for guests. */
  readonly userId: string;
  /** The role of a user who works for the merchant. */
  readonly staffRole?: 'finance' | 'operations';
}

/**
 * `key` is a service key acting for the person. `leaked key` is a revoked key or a key without a payer's scope.
 * `merchant key` is the person's own key, which acts for no payer.
 */
export type Credential = 'session' | 'key' | 'merchant key' | 'leaked key' | 'guest token' | 'none';

/** One request of a client. Times are epoch ms, true time. */
export interface HistoryExchange {
  readonly number: number;
  /** The name of the operation. */
  readonly operation: string;
  readonly person: string;
  readonly credential: Credential;
  /** The organization of the session that was sent. */
  readonly sessionOrganizationId: string | undefined;
  /** The guest id of the sent token. */
  readonly guestId: string | undefined;
  /** The only record that this token opens, as the token states. */
  readonly guestRecord: string | undefined;
  /** The network of the sender, such as `gus` or `gus elsewhere`. No two people share a network. */
  readonly network: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Without the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly sent: HistoryJson;
  readonly idempotencyKey: string | undefined;
  /** 0 if the connection was lost and the outcome is unknown. */
  readonly status: number;
  readonly body: HistoryJson;
  /** `X-Total-Count` of a list. */
  readonly totalCount?: number | undefined;
  readonly sentAt: number;
  readonly answeredAt: number;
}

/** An act of a payer, a bank or a dashboard outside the service. */
export interface HistoryAct {
  /** The name of the operation. */
  readonly name: string;
  /** The path below `/_local`. Names a record of the service or of the provider. */
  readonly path: string;
  /** Epoch ms. */
  readonly at: number;
  /** The response's status, because a provider may refuse the act. */
  readonly status: number;
  /** True if the act was a failed step, such as a wrong code in 3-D Secure. */
  readonly isFailure: boolean;
}

export interface HistoryOutage {
  /** The provider's slot. */
  readonly providerId: string;
  readonly from: number;
  readonly until: number;
}

/** An item as the table stores it. */
export type HistoryItem = Readonly<Record<string, HistoryJson>>;

/** The write of a user's request to claim its act at a provider. */
export interface HistoryClaim {
  readonly what: 'an attempt' | 'an amount' | 'a method' | 'a subscription';
  /** The id of the record. */
  readonly id: string;
  /** The organization in the write; undefined for a change of an amount. */
  readonly organizationId: string | undefined;
  readonly userId: string;
  /** The time of the table's write in epoch ms, true time. */
  readonly at: number;
}

/** A call that arrived at a provider. */
export interface HistoryProviderCall {
  readonly method: string;
  /** The path without the query. Names the records of the provider. */
  readonly path: string;
  /** The time of the provider's execution in epoch ms, true time. */
  readonly at: number;
  readonly status: number;
  /** True if the function received the whole response. */
  readonly isAnswered: boolean;
}

/** An event as received by the bus. */
export interface HistoryEvent {
  readonly source: string;
  readonly 'detail-type': string;
  readonly detail: HistoryJson;
}

/** A request that a webhook target received. */
export interface HistoryDelivery {
  readonly received_at: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: HistoryJson;
  readonly raw: string;
}

/** The providers' records (see `ledgerView` in infra/simulator/control). Amounts are in ISO 4217 minor units. */
export interface Ledger {
  readonly charges: readonly HistoryJson[];
  readonly refunds: readonly HistoryJson[];
  readonly disputes: readonly HistoryJson[];
  readonly payment_intents: readonly HistoryJson[];
  readonly customers: readonly HistoryJson[];
  readonly payment_methods: readonly HistoryJson[];
  readonly subscriptions: readonly HistoryJson[];
  readonly invoices: readonly HistoryJson[];
}

/** The content of an API list as one reader sees it. */
export interface ShownList {
  readonly kind: 'payments' | 'payment-methods' | 'customers' | 'subscriptions' | 'addresses';
  /** `USER#id` or `ORG#id`. */
  readonly owner: string;
  readonly ids: readonly string[];
  /** The maximum number of rows on the page. */
  readonly limit: number;
  /** The total that the response states as exact; undefined if it states none. */
  readonly total: number | undefined;
}

/** Sums of all payments by currency, from `GET /admin/summary`. */
export interface ShownSum {
  readonly currency: string;
  readonly count: number;
  readonly amount: number;
  readonly refunded: number;
}

/** The readers' views at the end, read without faults. */
export interface Audit {
  readonly lists: readonly ShownList[];
  readonly sums: readonly ShownSum[];
}

/** A planted or issued secret, which must appear nowhere else. */
export interface PlantedSecret {
  readonly what: string;
  readonly value: string;
}

export interface History {
  /** Epoch ms, true time. */
  readonly startedAt: number;
  readonly now: number;
  /** True if the whole run had no fault. */
  readonly isCalm: boolean;
  /** True after the end of all faults and retries. */
  readonly atRest: boolean;
  /** True if rate limits are on. */
  readonly limits: boolean;
  readonly people: readonly Person[];
  readonly exchanges: readonly HistoryExchange[];
  /** Acts of payers, banks and dashboards. */
  readonly acts: readonly HistoryAct[];
  /** A provider that could not be reached for a time. Times are epoch ms, true time. */
  readonly outage: HistoryOutage | undefined;
  readonly ledger: Ledger;
  readonly items: readonly HistoryItem[];
  readonly claims: readonly HistoryClaim[];
  readonly providerCalls: readonly HistoryProviderCall[];
  readonly bus: readonly HistoryEvent[];
  readonly deliveries: readonly HistoryDelivery[];
  readonly logs: readonly string[];
  /** The dead letters and stream changes redriven by an operator at the end. */
  readonly givenUp: readonly string[];
  /** Messages per queue; the names of dead-letter queues end in `-dlq`. */
  readonly queues: Readonly<
    Record<string, { readonly visible: number; readonly delayed: number; readonly in_flight: number }>
  >;
  readonly canaries: readonly PlantedSecret[];
  /** Present only at the end of a run. */
  readonly audit: Audit | undefined;
}

/** An invariant, which `sentence` states in words. */
export interface Oracle {
  readonly sentence: string;
  /** True if the invariant holds only at rest, after the end of all faults and work. */
  readonly atRestOnly: boolean;
  /** @returns one line for each violation */
  readonly violations: (history: History) => readonly string[];
}
