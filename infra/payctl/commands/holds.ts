/** @module Captures or releases a held payment by our id or its provider's. */

import * as z from 'zod';
import { amountWithCurrency, majorUnits } from '../../../shared/core/money.ts';
import { HOLD_ENDS } from '../../../shared/payments/holds/hold-record.ts';
import { readApiPayment } from '../compare/api-payment.ts';
import type { Api } from '../installation/api.ts';
import { NotReachable } from '../installation/control.ts';
import type { Report } from './report.ts';

export interface CaptureOptions {
  /** Minor units; undefined for the whole held amount. */
  readonly amount?: number | undefined;
}

/** Requires the scopes payments:read and payments:capture. @throws NotReachable */
export const capture = async (api: Api, id: string, { amount }: CaptureOptions): Promise<Report> => {
  const payment = await readApiPayment(api, id);
  return reportHold(await api.post(`/payments/${payment.id}/capture`, { amount_cents: amount }));
};

/**
 * Requires the scopes payments:read and payments:capture. Refuses any status except requires_capture and canceled,
 * because the API's route would cancel a payment without a hold. @throws NotReachable
 */
export const release = async (api: Api, id: string): Promise<Report> => {
  const payment = await readApiPayment(api, id);
  if (payment.status !== 'requires_capture' && payment.status !== 'canceled') {
    throw new NotReachable(`INVALID_STATE: ${payment.id} is ${payment.status}, so nothing is held`);
  }
  return reportHold(await api.post(`/payments/intents/${payment.id}/cancel`, {}));
};

/** The payment fields in a hold's report. */
const heldSchema = z.object({
  id: z.string(),
  status: z.string(),
  currency: z.string(),
  provider_id: z.string(),
  total_cents: z.int(),
  authorized_cents: z.int().nullable(),
  captured_cents: z.int(),
  capture_pending: z.boolean(),
  release_pending: z.boolean(),
  cancellation_reason: z.enum(HOLD_ENDS).nullable(),
});
type HeldPayment = z.output<typeof heldSchema>;

const reportHold = ({ data }: { readonly data: unknown }): Report => {
  const payment = heldSchema.parse(data);
  const { id, total_cents: _, currency: __, provider_id: ___, ...rest } = payment;
  const isPending = payment.capture_pending || payment.release_pending;
  return {
    json: { payment_id: id, ...rest },
    lines: [
      `${id} is ${payment.status}: ${outcomeOf(payment)}`,
      ...(isPending ? ['The service looks up the outcome itself. Do not charge the payer in another way.'] : []),
    ],
    exitCode: isPending ? 1 : 0,
  };
};

const outcomeOf = (payment: HeldPayment): string => {
  const { currency, provider_id: provider, captured_cents: captured, cancellation_reason: reason } = payment;
  const held = amountWithCurrency(payment.authorized_cents ?? payment.total_cents, currency);
  if (payment.capture_pending) return `${provider} has not confirmed the capture`;
  if (payment.release_pending) return `${provider} has not confirmed the release`;
  if (captured > 0) return `${majorUnits(captured, currency)} of ${held} captured at ${provider}`;
  return reason === 'released' ? `${held} released at ${provider}` : `nothing was captured (${reason ?? 'not held'})`;
};
