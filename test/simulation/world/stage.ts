import type { Json } from '../model/history.ts';

/** The service, its providers and the time, as the world acts on them. */
export interface Stage {
  /** Epoch ms, true time. */
  now(): number;
  /** Sends a request of a client. Never rejects: status 0 is a lost connection. */
  request(request: ClientRequest): Promise<Answer>;
  /** A control route of the local host, below `/_local`. It never fails by a fault; a refusal is an answer. */
  control(request: ClientRequest): Promise<Answer>;
  /** Passes virtual time. */
  wait(ms: number): Promise<void>;
}

export interface ClientRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON, a text as it is. */
  readonly body?: unknown;
}

export interface Answer {
  readonly status: number;
  readonly body: Json;
}
