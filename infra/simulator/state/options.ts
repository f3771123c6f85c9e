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
  /** The SQLite file of the ledger, journal, outbox and idempotency keys; ':memory:' keeps none. */
  readonly file: string;
  readonly onFailedWrite?: OnFailedWrite | undefined;
  readonly slots: Readonly<Record<ProviderSlot, SlotOptions>>;
  /** The origin of the pages to which payers are sent; by default that of the webhook URL. */
  readonly site?: string | undefined;
  /** Part of the ids of a new ledger, 8 characters; derived from the time by default. */
  readonly ledgerTag?: string | undefined;
  /** Delivers a webhook to the service (the host passes fetch). */
  readonly deliver: (
    url: string,
    init: { headers: Record<string, string>; body: string },
  ) => Promise<{ status: number; body: string }>;
}

export interface Simulator extends TimedWork {
  /**
   * Serves everything under /_local/providers/. The URL's path starts with /stripe/.
   * @throws ConnectionDropped if the caller's socket is to be destroyed without a response.
   */
  provider(request: Request): Promise<Response>;
  /**
   * Serves the control routes. The URL's path starts with /ledger, /requests, /events, /payments, /webhooks or /faults.
   */
  control(request: Request): Promise<Response>;
  close(): void;
}

/** No response is sent and the socket is destroyed, so the caller sees a reset or its own timeout. */
export class ConnectionDropped extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'ConnectionDropped';
  }
}
