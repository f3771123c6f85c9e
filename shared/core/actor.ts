import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * The actor of the current work: on whose behalf a function runs. The request chain, the consumers of queues and the
 * application of provider events set it once; the stores read it, so that no use case passes it on or forgets it.
 */
export const ACTOR_TYPES = ['user', 'guest', 'admin', 'provider', 'system'] as const;
export type ActorType = (typeof ACTOR_TYPES)[number];

export interface Actor {
  readonly type: ActorType;
  /** A user's id (`user`, `admin`), a guest_id, a provider slot, or the name of a worker. */
  readonly id: string;
}

export interface Work {
  /** The id of the HTTP request, of the provider's event or of the queue's message. */
  readonly requestId: string;
  readonly actor: Actor;
}

const storage = new AsyncLocalStorage<Work>();

/** Runs the function, and everything that it starts, as this work. */
export const runAs = <T>(work: Work, run: () => Promise<T>): Promise<T> => storage.run(work, run);

/** undefined outside of any work. */
export const currentWork = (): Work | undefined => storage.getStore();
