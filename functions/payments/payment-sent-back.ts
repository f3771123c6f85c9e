import { INCLUDES } from '../../shared/queries/includes.ts';

/** What a read of a payment shows beside the fields that an update compares. */
export const PAYMENT_SENT_BACK = {
  expanded: INCLUDES,
  moving: [
    ...['authorized_cents', 'captured_cents', 'capturable_cents', 'refunded_cents', 'refundable_cents'],
    ...['disputed_cents', 'lost_cents'],
    'settlement',
  ],
} as const;
