import type { GuestTokens } from '../access/guest-token.ts';
import type { IdDeps } from '../core/keyed-ids.ts';
import type { Log } from '../core/logger.ts';
import type { StoreDeps } from '../platform/table.ts';
import type { Providers } from './registry.ts';

export interface ProviderRecordDeps extends StoreDeps, IdDeps {
  readonly providers: Providers;
}

export interface MethodDeps extends ProviderRecordDeps {
  readonly guestTokens: GuestTokens;
  /** True if the service accepts raw card data (development only). */
  readonly allowRawCards: boolean;
}

export interface MoneyDeps extends StoreDeps, IdDeps {
  readonly providers: Providers;
  readonly guestTokens: GuestTokens;
  readonly log: Log;
}
