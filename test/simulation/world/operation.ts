import type { Prng } from '../kernel/prng.ts';
import type { HistoryExchange, Person } from '../model/history.ts';
import type { Knowledge, Known, Wanted } from './knowledge.ts';
import type { StageAnswer } from './stage.ts';

/**
 * One act of a client, a payer or a provider. To add an act, add a `WorldOperation` in a file of this folder, and a row
 * in that file's list. All random values come from the scene's own numbers, so an operation stays the same if another
 * operation is switched off.
 */
export interface WorldOperation {
  /** In plain words, such as `create an intent`. */
  readonly name: string;
  readonly weight: number;
  /** The probability of two concurrent sends. */
  readonly twice?: number;
  /** The second of two concurrent steps; by default the first step again or another plan. */
  readonly again?: (step: OperationStep, prng: Prng) => OperationStep;
  /** @returns undefined if no person knows a suitable record */
  readonly plan: (scene: Scene) => OperationStep | undefined;
}

export interface Scene {
  readonly prng: Prng;
  readonly knowledge: Knowledge;
  /** True if rate limits are on. */
  readonly limits: boolean;
  /** The people with sessions who pay in this run. */
  readonly users: readonly Person[];
  readonly now: number;
  /** The number of latest records per kind that people choose from; 1 if all people act on the same record. */
  readonly latest: number;
  /** Every request so far. */
  readonly sent: readonly HistoryExchange[];
  /** A secret that must appear nowhere. */
  readonly plant: (what: string) => string;
}

/** A request of a client, or an act at a provider. */
export type OperationStep = AskedRequest | Acted;

/** The backend's own key, a revoked key, a key without payer scopes, and a key that decides for the merchant. */
export type WorldKey = 'backend' | 'revoked' | 'narrow' | 'merchant';

export interface AskedRequest {
  readonly kind: 'request';
  readonly person: Person;
  readonly method: HistoryExchange['method'];
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
  /** Derives the next actions immediately from the response. */
  readonly next?: (answer: StageAnswer) => OperationStep | undefined;
  /** A concurrent act of another person. */
  readonly beside?: OperationStep;
  /** The idempotency key; by default a new key or none. */
  readonly idempotencyKey?: string;
  /** The organization that the session names. Such a session is opened separately. */
  readonly inOrganization?: string | undefined;
  /** The service key that sends the request instead of the person's session. `merchant` is the person's own key. */
  readonly byKey?: WorldKey;
  /** Requests CSV instead of JSON. */
  readonly asCsv?: boolean;
  /** True if a guest sends no token. */
  readonly withoutToken?: boolean;
  /** True if the request comes from the person's second network. */
  readonly elsewhere?: boolean;
}

export interface Acted {
  readonly kind: 'act';
  /** The name of the act; by default the name of its operation. */
  readonly name?: string;
  /** POST by default. */
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** The path below `/_local`. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** True if the step fails, such as by a wrong code in 3-D Secure. */
  readonly isFailure?: boolean;
  /** The actions immediately after the act. */
  readonly next?: (answer: StageAnswer) => OperationStep | undefined;
}

export const choose = ({ prng, knowledge, latest }: Scene, wanted: Omit<Wanted, 'latest'>): Known | undefined =>
  knowledge.choose(prng, { ...wanted, latest });

/** The same request under another idempotency key. */
export const sameAgain = (person: Person, exchange: HistoryExchange): AskedRequest => ({
  ...{ kind: 'request', person, method: exchange.method, path: exchange.path, query: exchange.query },
  inOrganization: exchange.sessionOrganizationId,
  ...(exchange.sent && { body: exchange.sent }),
});

export const isDone = ({ status }: StageAnswer): boolean => status >= 200 && status < 300;

/** A body with the field if the value is defined, else an empty body. */
export const maybe = (name: string, value: unknown): Record<string, unknown> =>
  value === undefined ? {} : { [name]: value };

const DAY_MS = 86_400_000;

/** The ISO time a number of days after an epoch time. */
export const inDays = (now: number, days: number): string => new Date(now + days * DAY_MS).toISOString();
