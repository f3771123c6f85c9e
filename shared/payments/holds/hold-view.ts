/** @module The hold's fields in a payment's view, and their schemas. */

import * as z from 'zod';
import { timestamp } from '../../http/fields.ts';
import { moneyAccount } from '../money-account.ts';
import type { VisiblePayment } from '../payment.ts';
import { HOLD_ENDS } from './hold-record.ts';
import { capturableOf } from './hold-versions.ts';

export const holdView = (payment: VisiblePayment) => ({
  capture_method: payment.captureMethod ?? ('automatic' as const),
  authorized_cents: payment.authorizedCents ?? null,
  captured_cents: moneyAccount(payment).captured,
  capturable_cents: capturableOf(payment),
  capture_before: payment.captureBefore ?? null,
  guaranteed_until: payment.guaranteedUntil ?? null,
  capture_pending: payment.holdCall?.kind === 'capture',
  release_pending: payment.holdCall?.kind === 'release',
  cancellation_reason: payment.holdEnd ?? null,
});

export const holdSchemas = () => {
  const cents = z.int().nonnegative();
  return {
    capture_method: z
      .enum(['automatic', 'manual'])
      .describe('`manual` if the confirmation only holds the amount, and the merchant captures it later.'),
    authorized_cents: cents
      .nullable()
      .describe('The held amount, in minor units; null unless an amount is or was held. A capture does not change it.'),
    captured_cents: cents.describe('The captured amount, in minor units; 0 until the payment succeeds.'),
    capturable_cents: cents.describe(
      'The amount that can be captured now, in minor units; 0 unless the amount is held.',
    ),
    capture_before: timestamp.nullable().describe('When the provider ends the hold; null without a hold.'),
    guaranteed_until: timestamp
      .nullable()
      .describe("The end of PayPal's guarantee; a later capture may be declined. Null at other providers."),
    capture_pending: z.boolean().describe('True while the outcome of a capture is open. The service looks it up.'),
    release_pending: z.boolean().describe('True while the outcome of a release is open. The service looks it up.'),
    cancellation_reason: z
      .enum(HOLD_ENDS)
      .nullable()
      .describe(
        'Why the hold ended without a capture: `released` by the merchant here, `expired` at or after `capture_before`, or ended by the `provider`, for example on its dashboard. Null for other payments.',
      ),
  };
};
