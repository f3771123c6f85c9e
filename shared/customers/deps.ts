import type { IdKind } from '../core/ids.ts';
import type { Now } from '../core/time.ts';
import type { Providers } from '../providers/registry.ts';
import type { Table } from '../table/table.ts';

/** What keeping customers and methods in step with a provider takes. */
export interface ProviderRecordDeps {
  readonly table: Table;
  readonly providers: Providers;
  readonly now: Now;
  readonly newId: (kind: IdKind) => string;
}
