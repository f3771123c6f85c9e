import type { PaymentProvider } from '../../providers/port/provider.ts';
import type { MoneyDeps } from '../../providers/registry/deps.ts';
import type { PaymentStore } from '../record/store.ts';

/** The dependencies of every provider call about a payment. */
export interface IntentParts {
  readonly deps: Pick<MoneyDeps, 'now' | 'log'>;
  readonly store: PaymentStore;
  readonly provider: PaymentProvider;
}
