import type { PaymentProvider } from '../../providers/port/provider.ts';
import type { MoneyDeps } from '../../providers/registry/deps.ts';
import type { PaymentStore } from '../record/store.ts';

/** What every call to a provider about a payment needs. */
export interface IntentParts {
  readonly deps: Pick<MoneyDeps, 'now' | 'log'>;
  readonly store: PaymentStore;
  readonly provider: PaymentProvider;
}
