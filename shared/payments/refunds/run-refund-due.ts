/**
 * @module Looks up a pending refund, or the settlement of a succeeded one, and sets the next lookup. It is safe to run
 * late or twice.
 */

import { instant, iso, MINUTE_MS } from '../../core/time.ts';
import type { Providers } from '../../providers/registry.ts';
import { lookUp, NOT_REACHED } from '../claimed-call.ts';
import { nextLook } from '../payment-due.ts';
import type { Refund } from './refund.ts';
import { failRefund, type RefundParts, readRefunds, recordRefundAnswer, sendRefund } from './refund-attempt.ts';
import { type RefundStoreDeps, refundStore } from './refund-store.ts';

export interface DueRefundDeps extends RefundStoreDeps {
  readonly providers: Providers;
}

/** How long the outcome of a refund may stay unknown before the log warns an operator. */
const STUCK_AFTER_MS = 30 * MINUTE_MS;

export const runDueRefund = async (deps: DueRefundDeps, refundId: string): Promise<string> => {
  const store = refundStore(deps);
  const refund = await store.load(refundId);
  if (!refund) return 'gone';
  if (refund.status === 'succeeded' && refund.factsAt !== undefined) return lookForSettlement(deps, refund);
  if (refund.status !== 'pending') return 'nothing due';
  const parts = await partsOf(deps, refund);
  const { payment } = parts;
  let found: Refund | undefined;
  return lookUp(deps.now, {
    claimedAt: instant(refund.createdAt),
    find: async () => {
      const read = await readRefunds(parts, refund);
      return read ? { kind: 'done', value: read.refund } : { kind: 'unknown', reason: 'error' };
    },
    store: async (settled) => {
      found = settled;
      if (settled === undefined && refund.providerRefundId === undefined) return NOT_REACHED;
      const now = settled ?? refund;
      if (now.status === 'pending') await lookAgain(deps, now);
      return now.status;
    },
    maySend: async () => payment.status === 'succeeded',
    send: () => sendRefund(parts, refund),
    record: async (outcome) => {
      const answered = await recordRefundAnswer(parts, refund, outcome);
      const now = answered.refund ?? refund;
      if (now.status === 'pending') await lookAgain(deps, now);
      return now.status;
    },
    fail: async () => (await failRefund(deps, refund, { cause: 'limit', failureCode: 'not_received' })).status,
    lookAgain: () => lookAgain(deps, found ?? refund),
  });
};

const partsOf = async (deps: DueRefundDeps, refund: Refund): Promise<RefundParts> => {
  const { refunds: port } = await deps.providers.require(refund.providerId, 'payments');
  if (!port) throw new Error('the provider of a refund does not support refunds');
  return { deps, port, payment: await refundStore(deps).loadPayment(refund.paymentId) };
};

/** The read is counted first, so a failed read counts too. It stores what it finds for all refunds of the payment. */
const lookForSettlement = async (deps: DueRefundDeps, refund: Refund): Promise<string> => {
  const claimed = await refundStore(deps).claimFactLook(refund);
  if (!claimed) return 'another write came first';
  const read = await readRefunds(await partsOf(deps, claimed), claimed);
  return read?.refund?.settlement ? 'settlement' : 'no settlement';
};

const lookAgain = async (deps: DueRefundDeps, refund: Refund): Promise<void> => {
  const since = instant(refund.createdAt);
  const isUnknown = refund.providerRefundId === undefined;
  if (isUnknown && deps.now() - since >= STUCK_AFTER_MS) {
    deps.log.warn('refund stuck', {
      payment_id: refund.paymentId,
      refund_id: refund.id,
      provider: refund.providerId,
      reason: 'outcome_unknown',
    });
  }
  const { at, step } = nextLook(since, refund.reconcileStep ?? 0, deps.now());
  await refundStore(deps).reschedule(refund, iso(at), step);
};
