import { type Projection, projectionSteps } from '../payments/payment-history.ts';
import type { Table } from '../platform/table.ts';

/** The limit of TransactWriteItems. Its other limit, 4 MB, is far away: the items here have a few KB at most. */
const MAX_STEPS = 100;

/**
 * Writes versions of payments with what they add to counters and sums, in as few transactions as hold them: each counter is
 * updated once per transaction. A version that has been written before counts once, because its entry in the history is a
 * condition of the transaction that counts it. Versions may come in any order: sums do not depend on it.
 */
export const writeProjections = async (table: Table, projections: readonly Projection[]): Promise<void> => {
  // A transaction has one step per item, so a repetition within a batch is left out here.
  const once = new Map(projections.map((projection) => [nameOf(projection.history), projection]));
  for (const part of partsOf([...once.values()])) await writeTogether(table, part);
};

/** Versions that were written before refuse the transaction, and are left out of the next try. */
const writeTogether = async (table: Table, projections: readonly Projection[]): Promise<void> => {
  let left = projections;
  while (left.length > 0) {
    const result = await table.transact(projectionSteps(left));
    if (result.ok) return;
    const written = new Set(result.failed);
    left = left.filter((_, index) => !written.has(index));
  }
};

/** In order, as many at a time as one transaction holds. */
const partsOf = (projections: readonly Projection[]): readonly (readonly Projection[])[] => {
  const parts: Projection[][] = [];
  let items = new Set<string>();
  for (const projection of projections) {
    const written = [projection.history, ...projection.shares.map(({ key }) => key)].map(nameOf);
    const added = new Set([...items, ...written]);
    const part = parts.at(-1);
    if (part && added.size <= MAX_STEPS) {
      part.push(projection);
      items = added;
    } else {
      parts.push([projection]);
      items = new Set(written);
    }
  }
  return parts;
};

const nameOf = ({ pk, sk }: { readonly pk?: unknown; readonly sk?: unknown }): string => `${pk}\n${sk}`;
