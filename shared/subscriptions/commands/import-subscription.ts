/** @module Stores imported subscriptions, each only if no record has its id at the provider. */

import { aliasStep } from '../../platform/alias.ts';
import type { TransactionStep } from '../../platform/table.ts';
import type { ProviderSubscription } from '../../providers/subscription-port.ts';
import { markAdopted } from '../at-provider/adopt-at-provider.ts';
import { storeReport } from '../at-provider/store-report.ts';
import { type BillingDeps, nowOrLater } from '../billing/biller.ts';
import type { Subscription } from '../record/subscription.ts';
import { subscriptionStore } from '../record/subscription-store.ts';

interface ImportedAs {
  /** The provider's id, or our own alias for a subscription from another biller. */
  readonly alias: string;
  /** The write conditions that the owner exists. */
  readonly onlyIf: readonly TransactionStep[];
}

/** @returns our id; undefined if the id is taken @throws DomainError VERSION_CONFLICT if a record has the alias */
export const insertImported = async (
  { table }: Pick<BillingDeps, 'table'>,
  subscription: Subscription,
  { alias, onlyIf }: ImportedAs,
): Promise<string | undefined> => {
  const { id, providerId } = subscription;
  const step: TransactionStep = { ...aliasStep(providerId, alias, { kind: 'SUB', id }), if: [{ absent: true }] };
  const found = await subscriptionStore(table).insertOrFind(subscription, [step, ...onlyIf]);
  return found ? undefined : id;
};

/**
 * Stores a provider-billed subscription. Then stores its owed invoices and marks it at the provider; due work retries
 * both if they fail now.
 */
export const insertAdopted = async (
  deps: BillingDeps,
  record: Subscription,
  { report, onlyIf }: Pick<ImportedAs, 'onlyIf'> & { readonly report: ProviderSubscription },
): Promise<string | undefined> => {
  const id = await insertImported(deps, record, { alias: report.subscriptionId, onlyIf });
  if (id === undefined) return undefined;
  await nowOrLater(async () => {
    const stored = (await subscriptionStore(deps.table).load(id)) ?? record;
    const current = report.owed.length > 0 ? await storeReport(deps, stored, report) : stored;
    return markAdopted(deps, current, { isFirst: true });
  });
  return id;
};
