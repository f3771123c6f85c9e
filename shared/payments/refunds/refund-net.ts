/**
 * @module Subtracts refunds from the net in the sums of all payments. A provider may report a refund's settlement long
 * after its success, without a new version of the payment. So an item per refund stores the counted values.
 */

import * as z from 'zod';
import { settlementSchema } from '../../core/payment-facts.ts';
import { refundSumKey } from '../../platform/keys.ts';
import type { Item, Table, TransactionStep } from '../../platform/table.ts';
import { additionsOf, refundNetShares, type Share, takenBack } from '../summary-sums.ts';
import { type Refund, refundKey } from './refund.ts';

const summedSchema = z.lazy(() =>
  z.object({
    version: z.int(),
    amountCents: z.int(),
    currency: z.string(),
    completedAt: z.string(),
    settlement: settlementSchema.optional(),
    /** Absent if the refund has failed after its success, so it no longer counts. */
    isCounted: z.literal(true).optional(),
  }),
);
type Summed = z.infer<typeof summedSchema>;

const summedIn = (item: Item | undefined): Summed | undefined => item && summedSchema.parse(item);

const summedOf = (refund: Refund): Summed => ({
  version: refund.version,
  amountCents: refund.amountCents,
  currency: refund.currency,
  completedAt: refund.completedAt ?? refund.updatedAt,
  settlement: refund.settlement,
  ...(refund.status === 'succeeded' && { isCounted: true }),
});

const sharesIn = (summed: Summed | undefined, spread: string): readonly Share[] =>
  summed?.isCounted ? refundNetShares(summed, spread) : [];

/** Counts refunds by their newest versions. The versions may come in any order. */
export const sumRefunds = async (table: Table, refunds: readonly Refund[]): Promise<void> => {
  const newest = new Map<string, Refund>();
  for (const refund of refunds) {
    if (refund.version > (newest.get(refund.id)?.version ?? 0)) newest.set(refund.id, refund);
  }
  const known = await table.getMany([...newest.keys()].map(refundSumKey), { consistent: true });
  for (const [index, refund] of [...newest.values()].entries()) await sumRefund(table, refund, summedIn(known[index]));
};

const sumRefund = async (table: Table, refund: Refund, known: Summed | undefined): Promise<void> => {
  const next = summedOf(refund);
  const isNew = known ? next.version > known.version : next.isCounted;
  if (!isNew) return;
  const written = await table.transact([
    {
      put: { ...refundSumKey(refund.id), ...next },
      if: [known ? { equals: ['version', known.version] } : { absent: true }],
    },
    { check: refundKey(refund.id), if: [{ exists: true }] },
    ...updates([...takenBack(sharesIn(known, refund.id)), ...sharesIn(next, refund.id)]),
  ]);
  // An erased refund no longer counts. Any other failure means that another batch has counted the refund meanwhile.
  if (written.ok || written.failed.includes(ERASED)) return;
  await sumRefund(table, refund, summedIn(await table.get(refundSumKey(refund.id))));
};

/** The index of the transaction's check that the refund still exists. */
const ERASED = 1;

const updates = (shares: readonly Share[]): readonly TransactionStep[] =>
  additionsOf(shares).map(({ key, add }) => ({ update: key, changes: { add } }));

/** The counted shares of refunds erased with their payment, and the steps to remove their items. */
export const countedRefunds = async (
  table: Table,
  refundIds: readonly string[],
): Promise<readonly { readonly shares: readonly Share[]; readonly step: TransactionStep }[]> => {
  const items = await table.getMany(refundIds.map(refundSumKey), { consistent: true });
  return items.flatMap((item, index) => {
    const summed = summedIn(item);
    const id = refundIds[index];
    if (!summed || id === undefined) return [];
    const step = { delete: refundSumKey(id), if: [{ equals: ['version', summed.version] as const }] };
    return [{ shares: sharesIn(summed, id), step }];
  });
};
