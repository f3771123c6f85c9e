import type { AdapterName, ProviderSlot } from '../../../../shared/core/settings.ts';
import type { Clock, TimedWork } from '../../machine/clock.ts';

export interface SlotOptions {
  readonly adapter: AdapterName | '';
  readonly webhookUrl: string;
  readonly webhookSecret: string;
  readonly apiKey: string;
}

export interface SimulatorOptions {
  readonly clock: Clock;
  /** SQLite file that holds ledger, journal, outbox and idempotency keys; ':memory:' keeps none. */
  readonly file: string;
  readonly slots: Readonly<Record<ProviderSlot, SlotOptions>>;
  /** Part of the ids of a new ledger, 8 characters; made from the time by default. */
  readonly ledgerTag?: string | undefined;
  /** Delivers a webhook to the service (the host passes fetch). */
  readonly deliver: (
    url: string,
    init: { headers: Record<string, string>; body: string },
  ) => Promise<{ status: number; body: string }>;
}

export interface Simulator extends TimedWork {
  /**
   * Everything under /_local/providers/: the url's path begins with /stripe/.
   * @throws ConnectionDropped where the caller's socket is to be destroyed without an answer.
   */
  provider(request: Request): Promise<Response>;
  /** The control routes: the url's path begins with /ledger, /requests, /events, /payments, /webhooks or /faults. */
  control(request: Request): Promise<Response>;
  close(): void;
}

/** No answer is sent and the socket is destroyed: what the caller sees is a reset or its own time-out. */
export class ConnectionDropped extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'ConnectionDropped';
  }
}
