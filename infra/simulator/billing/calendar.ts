import { Temporal } from 'temporal-polyfill';
import type { LedgerSubscription } from '../ledger/billing-documents.ts';

/**
 * The start of a period, counted from the anchor and never from the previous period. It falls on the anchor's day of
 * the month, or the last day of a shorter month, at the anchor's time of day in UTC.
 */
export const startOfPeriod = (
  { anchor, unit, count }: Pick<LedgerSubscription, 'anchor' | 'unit' | 'count'>,
  period: number,
): number =>
  Temporal.Instant.fromEpochMilliseconds(anchor)
    .toZonedDateTimeISO('UTC')
    .add({ [`${unit}s`]: period * count }).epochMilliseconds;

/** The same day and time, the given number of months later, or the last day of a shorter month. UTC. */
export const addMonths = (at: number, months: number): number =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO('UTC').add({ months }).epochMilliseconds;
