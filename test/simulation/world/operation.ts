import type { Prng } from '../kernel/prng.ts';
import type { HistoryExchange, HistoryJson, Person } from '../model/history.ts';
import type { Knowledge, Known, Wanted } from './knowledge.ts';

/**
 * One thing that a client, a payer or a provider does. To add one: an `Operation` in a file of this folder, and its row in
 * `operations.ts`. Everything random is drawn from the scene's own numbers, so that an operation stays the same when
 * another one is switched off.
 */
export interface WorldOperation {
  /** In plain words: `create an intent`. */
  readonly name: string;
  readonly weight: number;
  /** @returns undefined: no person knows a record for it */
  readonly plan: (scene: Scene) => OperationStep | undefined;
}

export interface Scene {
  readonly prng: Prng;
  readonly knowledge: Knowledge;
  /** The users who act in this run. */
  readonly users: readonly Person[];
  readonly now: number;
  /** Every request so far. */
  readonly sent: readonly HistoryExchange[];
  /** A secret that must appear nowhere. */
  readonly plant: (what: string) => string;
}

/** A request of a client, or an act on the side of the providers and their payers. */
export type OperationStep = AskedRequest | Acted;

export interface AskedRequest {
  readonly kind: 'request';
  readonly person: Person;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
  /** What the person does next, by what the answer shows. */
  readonly next?: (answer: HistoryJson) => OperationStep | undefined;
  /** A new one, or none, by default. */
  readonly idempotencyKey?: string;
  /** A guest sends the token unless this is set. */
  readonly withoutToken?: boolean;
}

export interface Acted {
  readonly kind: 'act';
  /** POST by default. */
  readonly method?: 'POST' | 'DELETE';
  /** Below `/_local`. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export const choose = ({ prng, knowledge }: Scene, wanted: Wanted): Known | undefined => knowledge.choose(prng, wanted);

/** A body field, or none. */
export const maybe = (name: string, value: unknown): Record<string, unknown> =>
  value === undefined ? {} : { [name]: value };
