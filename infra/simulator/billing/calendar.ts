import { Temporal } from 'temporal-polyfill';
import type { LedgerSubscription } from '../ledger/billing-documents.ts';

/**
 * The start of a period, counted from the anchor instead of the previous period. It is the anchor's day of the month,
 * or the last day of a shorter month, at the anchor's time of day in UTC.
 */
export const startOfPeriod = (
  { anchor, unit, count }: Pick<LedgerSubscription, 'anchor' | 'unit' | 'count'>,
  period: number,
): number =>
  Temporal.Instant.fromEpochMilliseconds(anchor)
    .toZonedDateTimeISO('UTC')
    .add({ [`${unit}s`]: period * count }).epochMilliseconds;

/** The same day and time some months later, or the last day of a shorter month. UTC. */
export const addMonths = (at: number, months: number): number =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO('UTC').add({ months }).epochMilliseconds;
