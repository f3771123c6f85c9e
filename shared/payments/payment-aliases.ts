import { type ExternalId, fillAliases } from '../platform/alias.ts';
import type { Table } from '../platform/table.ts';
import type { Payment } from './payment.ts';

/** An alias leads from a provider's id of a payment to our payment. */
type PaymentAlias = ExternalId & { readonly target: { readonly kind: 'PAY'; readonly id: string } };

/** Aliases for provider ids that `next` has and `was` lacks. */
export const newAliases = (was: Payment | undefined, next: Payment): readonly PaymentAlias[] => {
  const known = was ? providerIdsOf(was) : [];
  const target = { kind: 'PAY', id: next.id } as const;
  return providerIdsOf(next)
    .filter((id) => !known.includes(id))
    .map((externalId) => ({ providerId: next.providerId, externalId, target }));
};

/** The provider's ids of a payment: its intent, its payment or capture, and each of several captures. */
export const providerIdsOf = ({
  providerIntentId,
  providerPaymentId,
  captures = [],
}: ProviderIds): readonly string[] => {
  const ids = [providerIntentId, providerPaymentId, ...captures.map(({ id }) => id)];
  return [...new Set(ids.filter((id) => id !== undefined))];
};

export type ProviderIds = Pick<Payment, 'providerIntentId' | 'providerPaymentId' | 'captures'>;

export interface AliasedChange {
  readonly before: Payment | undefined;
  readonly after: Payment;
}

/**
 * Writes missing aliases of these changes. A commit and its aliases are written in parallel, so a crash may lose
 * aliases.
 * @returns how many aliases it wrote
 */
export const repairAliases = async (table: Table, changes: readonly AliasedChange[]): Promise<number> => {
  const aliases = changes.flatMap(({ before, after }) => newAliases(before, after));
  return aliases.length === 0 ? 0 : fillAliases(table, aliases);
};
