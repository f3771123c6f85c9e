import type { Log } from '../observability/logger.ts';
import type { ProviderSlot, SlotSettings } from '../settings.ts';

/** What an adapter is opened with. */
export interface AdapterOptions {
  readonly slot: ProviderSlot;
  /** The slot's settings with its secrets filled in. */
  readonly settings: SlotSettings;
  readonly timeoutMs: number;
  readonly fetch: typeof fetch;
  readonly log: Log;
}
