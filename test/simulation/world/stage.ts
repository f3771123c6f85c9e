import type { HistoryJson } from '../model/history.ts';

/** The service, its providers and the time, as the world acts on them. */
export interface WorldStage {
  /** Epoch ms, true time. */
  now(): number;
  /** Sends a request of a client. Never rejects; status 0 means a lost connection. */
  request(request: ClientRequest): Promise<StageAnswer>;
  /** Calls a control route of the local host below `/_local`, without faults. A refusal is a response. */
  control(request: ClientRequest): Promise<StageAnswer>;
  /** Passes virtual time. */
  wait(ms: number): Promise<void>;
}

export interface ClientRequest {
  readonly method: string;
  /** The path with the query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON, and a string unchanged. */
  readonly body?: unknown;
  /** The network address of the client. */
  readonly from?: string;
}

export interface StageAnswer {
  readonly status: number;
  readonly body: HistoryJson;
  /** `X-Total-Count` of a list. */
  readonly totalCount?: number | undefined;
}
