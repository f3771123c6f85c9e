/**
 * @module The places of a payment link. With `max_payments`, the transaction of a create takes a place, and the stream
 * returns the place or counts it as paid. Without `max_payments`, only the stream counts. An item per payment stores
 * the payment's counted state, so every change counts once.
 */

import * as z from 'zod';
import { DomainError } from '../core/errors.ts';
import { rowOf } from '../core/rows.ts';
import { linkCountKey, linkPlaceKey } from '../platform/keys.ts';
import type { Item, Table, TransactionStep } from '../platform/table.ts';
import { waitForAttempt } from '../platform/waits.ts';

/** The link's data in a payment started by the link. */
export const paymentLinkUseSchema = z.object({
  id: z.string(),
  /** Set if the create has taken a place. */
  isCounted: z.literal(true).optional(),
  /** When the unpaid payment returns its place. */
  heldUntil: z.string().optional(),
});
export type PaymentLinkUse = z.infer<typeof paymentLinkUseSchema>;

const countSchema = z.object({ made: z.int().default(0), taken: z.int().default(0), succeeded: z.int().default(0) });

export interface LinkCounts {
  /** The number of payments ever made; never decreases. */
  readonly made: number;
  /** The number of open and succeeded payments. */
  readonly taken: number;
  readonly succeeded: number;
}

export const linkCountsOf = (item: Item | undefined): LinkCounts => countSchema.parse(item ?? {});

export const readLinkCounts = async (table: Pick<Table, 'get'>, linkId: string): Promise<LinkCounts> =>
  linkCountsOf(await table.get(linkCountKey(linkId)));

/** The steps of a create that take a place. */
export const takePlaceSteps = (linkId: string, most: number): readonly TransactionStep[] => [
  {
    update: linkCountKey(linkId),
    changes: { add: { taken: 1, made: 1 } },
    if: [{ any: [{ lacks: 'taken' }, { below: ['taken', most] }] }],
  },
];

const CONFLICT_WAITS = { attempts: 12, firstMs: 50 };
/** If the write fails this often despite a free place, another condition must have failed. */
const UNMET_TRIES = 3;
const RETRY_AFTER_SECONDS = 2;

interface Taking {
  readonly table: Table;
  readonly linkId: string;
  readonly most: number;
}

/**
 * Runs a write that includes `takePlaceSteps`. After a conflict, retries while places are left.
 * @throws DomainError LINK_SPENT; STORAGE_UNAVAILABLE if every try conflicts with another create
 */
export const takingPlace = async <T>(taking: Taking, write: () => Promise<T>): Promise<T> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await write();
    } catch (error) {
      await requirePlace(taking, error, tries);
    }
  }
};

const requirePlace = async ({ table, linkId, most }: Taking, error: unknown, tries: number): Promise<void> => {
  if (!(error instanceof DomainError && error.code === 'VERSION_CONFLICT')) throw error;
  const { taken } = await readLinkCounts(table, linkId);
  if (taken >= most) throw new DomainError('LINK_SPENT');
  if (error.cause === undefined && tries >= UNMET_TRIES) throw error;
  if (await waitForAttempt(tries, CONFLICT_WAITS)) return;
  throw new DomainError('STORAGE_UNAVAILABLE', { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: error });
};

/** The counted state of a payment. */
export const PLACE_STATES = ['none', 'open', 'canceled', 'succeeded'] as const;
export type PlaceState = (typeof PLACE_STATES)[number];

const INCLUDED: Readonly<Record<PlaceState, LinkCounts>> = {
  none: { made: 0, taken: 0, succeeded: 0 },
  open: { made: 1, taken: 1, succeeded: 0 },
  canceled: { made: 1, taken: 0, succeeded: 0 },
  succeeded: { made: 1, taken: 1, succeeded: 1 },
};

/** A state never goes back, because stream batches may be late or repeated. A later success takes a place again. */
const isLater = (from: PlaceState, to: PlaceState): boolean => PLACE_STATES.indexOf(from) < PLACE_STATES.indexOf(to);

const MOST_TRIES = 20;

export interface Placed {
  readonly paymentId: string;
  readonly use: PaymentLinkUse;
}

/** Counts a payment in this state, once. */
export const countPlace = async (table: Table, { paymentId, use }: Placed, to: PlaceState): Promise<void> => {
  const key = linkPlaceKey(paymentId);
  for (let tries = 1; tries <= MOST_TRIES; tries += 1) {
    const item = await table.get(key);
    const from = stateOf(item) ?? (use.isCounted ? 'open' : 'none');
    if (!isLater(from, to)) return;
    const written = await table.transact([
      { put: { ...key, state: to }, if: [item ? { equals: ['state', from] } : { absent: true }] },
      { update: linkCountKey(use.id), changes: { add: difference(INCLUDED[from], INCLUDED[to]) } },
    ]);
    if (written.ok) return;
  }
  throw new Error('the place of a payment changed too often');
};

const stateOf = (item: Item | undefined): PlaceState | undefined =>
  item && rowOf({ open: 'open', canceled: 'canceled', succeeded: 'succeeded' } as const, item['state']);

const difference = (from: LinkCounts, to: LinkCounts): Readonly<Record<string, number>> =>
  Object.fromEntries(
    (['made', 'taken', 'succeeded'] as const)
      .map((name) => [name, to[name] - from[name]] as const)
      .filter(([, by]) => by !== 0),
  );
