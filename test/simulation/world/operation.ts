import type { Prng } from '../kernel/prng.ts';
import type { ParsedJson } from '../places/service.ts';

/**
 * One thing that a client, a customer or a provider does. To add one: a file in `world/operations` that exports an
 * `Operation`, and its row in `world/operations.ts`. It draws everything random from `actor.prng`.
 */
export interface Operation {
  /** In plain words: `create an intent`. */
  readonly name: string;
  readonly weight: number;
  /** Whether the actor can do it now; always by default. */
  readonly possible?: (actor: Pick<Actor, 'memory'>) => boolean;
  readonly run: (actor: Actor) => Promise<void>;
}

/** A client of the service, with what it remembers of its own records. */
export interface Actor {
  readonly name: string;
  readonly prng: Prng;
  readonly session: string;
  /** The actor's own records, by kind: filled and read by the operations. */
  readonly memory: Memory;
  /** Sends a request as this actor. Never rejects: status 0 is a lost connection, so that the outcome is unknown. */
  request(method: string, path: string, options?: RequestOptions): Promise<Exchange>;
  /** A control route of the host or simulator, which is no step and never fails. */
  control(method: string, path: string, body?: unknown): Promise<ParsedJson>;
  /** Passes virtual time. */
  wait(ms: number): Promise<void>;
  /** An expectation that oracles check at the end of the run. */
  expect(expectation: Expectation): void;
}

export interface Memory {
  readonly payments: { readonly id: string; readonly providerPaymentId: string; readonly provider: string }[];
  readonly records: Record<string, ParsedJson[]>;
}

export interface RequestOptions {
  readonly body?: unknown;
  readonly idempotencyKey?: string;
  readonly guestToken?: string;
  /** Without the actor's session. */
  readonly anonymous?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request of a client and its answer. */
export interface Exchange {
  readonly actor: string;
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly sent: ParsedJson;
  readonly idempotencyKey: string | undefined;
  /** 0: the connection was lost. */
  readonly status: number;
  /** The parsed body, or its text. */
  readonly body: ParsedJson;
  /** Epoch ms, true time. */
  readonly sentAt: number;
  readonly answeredAt: number;
}

/** What an operation knows must hold at the end. */
export interface Expectation {
  readonly sentence: string;
  /** @returns what is wrong */
  readonly check: (run: FinishedRun) => string | undefined;
}

/** A run at rest: faults are over, every retry has run. */
export interface FinishedRun {
  readonly seed: number;
  /** Epoch ms, true time. */
  readonly endedAt: number;
  readonly exchanges: readonly Exchange[];
  /** What the simulated providers hold: see `ledgerView` in infra/local/simulator/control. */
  readonly ledger: ParsedJson;
  /** The calls that the providers received: see `JournalEntry` in infra/local/simulator/protocol. */
  readonly providerCalls: readonly ParsedJson[];
  /** All items of the table. */
  readonly items: readonly Readonly<Record<string, unknown>>[];
  /** What the webhook target received, oldest first: received_at, headers, body. */
  readonly received: readonly ParsedJson[];
  /** Messages per queue; the names of dead-letter queues end in `-dlq`. */
  readonly queues: Readonly<
    Record<string, { readonly visible: number; readonly delayed: number; readonly in_flight: number }>
  >;
  readonly expectations: readonly Expectation[];
  /** Reads the service as the named actor's session, or any other; no faults. */
  read(path: string, session: string): Promise<{ readonly status: number; readonly body: ParsedJson }>;
}
