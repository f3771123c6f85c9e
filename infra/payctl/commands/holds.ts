/** @module Captures or releases a held payment, found by our id or its provider's. */

import * as z from 'zod';
import type { SessionCaller } from '../../../shared/access/caller.ts';
import { DomainError } from '../../../shared/core/errors.ts';
import { amountWithCurrency, majorUnits } from '../../../shared/core/money.ts';
import type { Reply } from '../../../shared/http/request.ts';
import { capturePayment } from '../../../shared/payments/holds/capture-payment.ts';
import { releaseHold } from '../../../shared/payments/holds/release-hold.ts';
import { HOLD_ENDS, isVisiblePayment, type VisiblePayment } from '../../../shared/payments/payment.ts';
import { paymentStore } from '../../../shared/payments/payment-store.ts';
import { findPayment } from '../compare/find-payment.ts';
import { NotReachable } from '../installation/control.ts';
import type { Installation } from '../installation/installation.ts';
import type { Report } from './report.ts';

export interface CaptureOptions {
  /** Minor units; undefined means all that is held. */
  readonly amount?: number | undefined;
}

/** The operator acts for the merchant. The history names payctl as the actor. */
const OPERATOR: SessionCaller = {
  kind: 'session',
  userId: 'payctl',
  email: '',
  organizationId: undefined,
  isAdmin: true,
};

/** Captures a payment, as POST /payments/{id}/capture does. */
export const capture = (installation: Installation, id: string, { amount }: CaptureOptions): Promise<Report> =>
  act(installation, id, (record) =>
    capturePayment(installation.deps, { record, caller: OPERATOR, body: { amount_cents: amount } }),
  );

/** Releases a payment, as POST /payments/intents/{id}/cancel does. */
export const release = (installation: Installation, id: string): Promise<Report> =>
  act(installation, id, async (record) => {
    const { deps } = installation;
    const provider = await deps.providers.require(record.providerId, 'payments');
    const parts = { deps, store: paymentStore(deps.table, deps.now), provider };
    return releaseHold(parts, record, { caller: OPERATOR });
  });

/** @throws NotReachable with the reason if the hold was not changed */
const act = async (
  installation: Installation,
  id: string,
  change: (payment: VisiblePayment) => Promise<Reply>,
): Promise<Report> => {
  const payment = await findPayment(installation, id);
  if (!isVisiblePayment(payment)) throw new NotReachable(`${payment.id} is still being created`);
  try {
    return reportHold(heldSchema.parse((await change(payment)).data));
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    throw new NotReachable(`${error.code}: ${error.message} (${payment.id})`);
  }
};

/** The fields of a payment that a report of its hold names. */
export const heldSchema = z.object({
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

/** The report of a capture or a release, whether it was made here or through the API. */
export const reportHold = (payment: HeldPayment): Report => {
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
