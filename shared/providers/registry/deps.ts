import type { GuestTokens } from '../../access/guest-token.ts';
import type { IdKind } from '../../core/ids.ts';
import type { Now } from '../../core/time.ts';
import type { Log } from '../../observability/logger.ts';
import type { Table } from '../../table/table.ts';
import type { Providers } from './registry.ts';

/** What keeping customers and methods in step with a provider takes. */
export interface ProviderRecordDeps {
  readonly table: Table;
  readonly providers: Providers;
  readonly now: Now;
  readonly newId: (kind: IdKind) => string;
}

export interface MethodDeps extends ProviderRecordDeps {
  readonly guestTokens: GuestTokens;
  /** Raw card data is taken (development only). */
  readonly allowRawCards: boolean;
}

/** What reading payments takes. */
export interface ReadDeps {
  readonly table: Table;
  readonly now: Now;
}

/** What moving money takes. */
export interface MoneyDeps extends ReadDeps {
  readonly providers: Providers;
  readonly newId: (kind: IdKind) => string;
  readonly guestTokens: GuestTokens;
  readonly log: Log;
}
