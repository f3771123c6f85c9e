/** @module The versions of Stripe's API that change the simulator's output. */

import type { Call } from '../../protocol/vendor.ts';

/** The version that stripe-node 23 uses. Stripe sends events in the endpoint's own version, not the caller's. */
export const API_VERSION = '2026-10-28.endive';

const DATE_LENGTH = '2025-03-31'.length;

const isBefore = (version: string, date: string): boolean => version.slice(0, DATE_LENGTH) < date;

/**
 * True if Stripe refunds a hold's uncaptured part (docs.stripe.com/changelog/basil, 2025-03-31, "Partially capturing or
 * canceling payments no longer creates a Refund").
 */
export const refundsUntaken = (version: string): boolean => isBefore(version, '2025-03-31');

/** True if every refund sends `refund.created` (docs.stripe.com/changelog/acacia/2024-10-28). */
export const announcesRefunds = (version: string): boolean => !isBefore(version, '2024-10-28');

export const stripeVersionOf = ({ headers }: Pick<Call, 'headers'>): string =>
  headers.get('stripe-version') ?? API_VERSION;
