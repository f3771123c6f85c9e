import type { Prng } from '../kernel/prng.ts';
import type { HistoryExchange, Person } from '../model/history.ts';
import type { Knowledge, Known, Wanted } from './knowledge.ts';
import type { StageAnswer } from './stage.ts';

/**
 * One act of a client, a payer or a provider. To add an act, add a `WorldOperation` in a file of this folder, and a row
 * in that file's list. Everything random is drawn from the scene's own numbers, so that an operation stays the same
 * when another one is switched off.
 */
export interface WorldOperation {
  /** In plain words, such as `create an intent`. */
  readonly name: string;
  readonly weight: number;
  /** How often it is sent twice concurrently. */
  readonly twice?: number;
  /** The second of the two; mostly the same, or one that is planned again. */
  readonly again?: (step: OperationStep, prng: Prng) => OperationStep;
  /** @returns undefined if no person knows a record for it */
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
  /** How many of the latest records of a kind people think of, or 1 if all of them act on the same record. */
  readonly latest: number;
  /** Every request so far. */
  readonly sent: readonly HistoryExchange[];
  /** A secret that must appear nowhere. */
  readonly plant: (what: string) => string;
}

/** A request of a client, or an act on the side of the providers and their payers. */
export type OperationStep = AskedRequest | Acted;

/** The backend's own key, one that was revoked, one without any payer's scope, and one that decides for the merchant. */
export type WorldKey = 'backend' | 'revoked' | 'narrow' | 'merchant';

export interface AskedRequest {
  readonly kind: 'request';
  readonly person: Person;
  readonly method: HistoryExchange['method'];
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
  /** The actions immediately after the response, by its content. */
  readonly next?: (answer: StageAnswer) => OperationStep | undefined;
  /** The act of another person at the same time. */
  readonly beside?: OperationStep;
  /** A new one, or none, by default. */
  readonly idempotencyKey?: string;
  /** The organization of the session; a separate session is opened for it. */
  readonly inOrganization?: string | undefined;
  /** The service key that sends the request instead of the person's session. `merchant` is the person's own key. */
  readonly byKey?: WorldKey;
  /** Asks for a table instead of JSON. */
  readonly asCsv?: boolean;
  /** A guest sends the token unless this is set. */
  readonly withoutToken?: boolean;
  /** From another network than the person's usual one. */
  readonly elsewhere?: boolean;
}

export interface Acted {
  readonly kind: 'act';
  /** Defaults to the name of its operation. */
  readonly name?: string;
  /** POST by default. */
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** Below `/_local`. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The step fails, such as by a wrong code in 3-D Secure. */
  readonly isFailure?: boolean;
  /** The actions immediately after it. */
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

/** A body field, or none. */
export const maybe = (name: string, value: unknown): Record<string, unknown> =>
  value === undefined ? {} : { [name]: value };

const DAY_MS = 86_400_000;

/** The ISO time that many days after an epoch time. */
export const inDays = (now: number, days: number): string => new Date(now + days * DAY_MS).toISOString();
