import { Temporal } from 'temporal-polyfill';
import type { LedgerSubscription } from '../ledger/billing-documents.ts';

/**
 * Where a period starts, counted from the anchor and never from the period before it: on the anchor's day, or the last of
 * a shorter month; UTC, time of day kept.
 */
export const startOfPeriod = (
  { anchor, unit, count }: Pick<LedgerSubscription, 'anchor' | 'unit' | 'count'>,
  period: number,
): number =>
  Temporal.Instant.fromEpochMilliseconds(anchor)
    .toZonedDateTimeISO('UTC')
    .add({ [`${unit}s`]: period * count }).epochMilliseconds;

/** The same day and time, months later; the last day of a shorter month. UTC. */
export const addMonths = (at: number, months: number): number =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO('UTC').add({ months }).epochMilliseconds;
