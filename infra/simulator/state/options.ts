import type { AdapterName, ProviderSlot } from '../../../shared/core/settings.ts';
import type { Clock, TimedWork } from '../../local/machine/clock.ts';
import type { OnFailedWrite } from '../../local/machine/full-disk.ts';

export interface SlotOptions {
  readonly adapter: AdapterName | '';
  readonly webhookUrl: string;
  readonly webhookSecret: string;
  readonly apiKey: string;
}

export interface SimulatorOptions {
  readonly clock: Clock;
  /** SQLite file of the ledger, journal, outbox and idempotency keys; ':memory:' stores nothing. */
  readonly file: string;
  readonly onFailedWrite?: OnFailedWrite | undefined;
  readonly slots: Readonly<Record<ProviderSlot, SlotOptions>>;
  /** The origin of the pages for payers; by default the origin of the webhook URL. */
  readonly site?: string | undefined;
  /** Part of a new ledger's ids, 8 characters; derived from the time by default. */
  readonly ledgerTag?: string | undefined;
  /** Delivers a webhook to the service. The host passes `fetch`. */
  readonly deliver: (
    url: string,
    init: { headers: Record<string, string>; body: string },
  ) => Promise<{ status: number; body: string }>;
}

export interface Simulator extends TimedWork {
  /**
   * Serves everything under /_local/providers/. The URL's path starts with /stripe/.
   * @throws ConnectionDropped to destroy the caller's socket without a response.
   */
  provider(request: Request): Promise<Response>;
  /** Serves the control routes. The URL's path starts with the route, such as /ledger or /payments. */
  control(request: Request): Promise<Response>;
  close(): void;
}

/** The socket is destroyed without a response, so the caller sees a reset or its own timeout. */
export class ConnectionDropped extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'ConnectionDropped';
  }
}
