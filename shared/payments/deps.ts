import type { GuestTokens } from '../access/guest-token.ts';
import type { IdKind } from '../core/ids.ts';
import type { Now } from '../core/time.ts';
import type { Log } from '../observability/logger.ts';
import type { Providers } from '../providers/registry.ts';
import type { Table } from '../table/table.ts';

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
