/** @module Writes versions of payments and subscriptions together with their shares in counters and sums. */

import { type Projection, projectionSteps } from '../payments/payment-history.ts';
import type { Table } from '../platform/table.ts';

/** The limit of TransactWriteItems. The other limit, 4 MB, is never reached, because these items are small. */
const MAX_STEPS = 100;

/**
 * Writes versions of payments or subscriptions with their shares in counters and sums, in as few transactions as
 * possible. Each counter is updated once per transaction. An already written version is not counted again, because the
 * transaction requires that its history entry does not exist. Versions may come in any order, because sums do not
 * depend on it.
 */
export const writeProjections = async (table: Table, projections: readonly Projection[]): Promise<void> => {
  // A transaction has one step per item, so a repeated version within a batch is left out here.
  const once = new Map(projections.map((projection) => [nameOf(projection.history), projection]));
  for (const part of partsOf([...once.values()])) await writeTogether(table, part);
};

/** The transaction refuses versions that were already written. The next attempt leaves them out. */
const writeTogether = async (table: Table, projections: readonly Projection[]): Promise<void> => {
  let left = projections;
  while (left.length > 0) {
    const result = await table.transact(projectionSteps(left));
    if (result.ok) return;
    const written = new Set(result.failed);
    left = left.filter((_, index) => !written.has(index));
  }
};

/** Splits the versions in order, as many as fit into one transaction. */
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
