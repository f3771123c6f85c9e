/**
 * @module Stores refunds. Each change of a refund's status is one transaction with its payment, whose sums include the
 * amount once. So the payment's version is the lock of all its refunds.
 */

import { notFound } from '../../core/errors.ts';
import type { Log } from '../../core/logger.ts';
import { hasArrow } from '../../core/states.ts';
import { putAlias } from '../../platform/alias.ts';
import { type Changed, type Committed, changeRecord, type Decide, inOrder } from '../../platform/change.ts';
import type { StoreDeps, TransactionStep } from '../../platform/table.ts';
import { recordStep, versionedRecord } from '../../platform/versioned-record.ts';
import { isVisiblePayment, type VisiblePayment } from '../payment.ts';
import { paymentStore } from '../payment-store.ts';
import { afterFactLook, sameFactLook } from '../recorded-facts.ts';
import { type Refund, refundKey, refundShape } from './refund.ts';
import { REFUND_TRANSITIONS, type RefundCause } from './refund-states.ts';
import { hasGivenBackTooMuch, isSameShare, withoutRefund, withRefund } from './refund-sums.ts';

export interface RefundStoreDeps extends StoreDeps {
  readonly log: Log;
}

export type RefundStore = ReturnType<typeof refundStore>;

export const refundStore = (deps: RefundStoreDeps) => {
  const { table, now, log } = deps;
  const payments = paymentStore(table, now);
  const refunds = versionedRecord(deps, refundShape);

  /** Stores the alias of the provider's id before the commit, because an event with this id may come early. */
  const learnId = async (was: Refund | undefined, next: Refund): Promise<void> => {
    const { providerId, providerRefundId: externalId } = next;
    if (externalId === undefined || externalId === was?.providerRefundId) return;
    await putAlias(table, { providerId, externalId }, { kind: 'RFD', id: next.id });
  };

  const report = (payment: VisiblePayment, { id, status, providerId }: Refund): void => {
    const about = { payment_id: payment.id, refund_id: id, provider: providerId };
    log.info('refund settled', { ...about, outcome: status });
    if (hasGivenBackTooMuch(payment)) log.error('refund anomaly', { ...about, reason: 'more than was paid' });
  };

  /**
   * `build` makes the refund from the current payment, or throws the refusal.
   * @returns undefined if the id is taken, or if a condition of `onlyIf` failed
   */
  const insert = async (
    payment: VisiblePayment,
    build: (current: VisiblePayment) => Refund | Promise<Refund>,
    onlyIf: readonly TransactionStep[] = [],
  ): Promise<{ readonly payment: VisiblePayment; readonly refund: Refund } | undefined> => {
    let built: Refund | undefined;
    const changed = await payments.change(payment, async (current) => {
      const refund = await build(current);
      built = refund;
      await learnId(undefined, refund);
      return {
        next: withRefund(current, { was: undefined, next: refund, now: now() }),
        onlyIf: [recordStep(refundShape, undefined, refund), ...onlyIf],
      };
    });
    if (changed.unmet || built === undefined) return undefined;
    if (built.status !== 'pending') report(changed.record, built);
    return { payment: changed.record, refund: built };
  };

  const commit = async (was: Refund, decided: Refund): Promise<Committed<Refund>> => {
    const next = inOrder(was, decided);
    await learnId(was, next);
    if (isSameShare(was, next)) return refunds.commit(was, next);
    const changed = await payments.changeById(next.paymentId, (current) => ({
      next: withRefund(current, { was, next, now: now() }),
      onlyIf: [recordStep(refundShape, was, next)],
    }));
    if (!changed) throw notFound('payment');
    if (changed.unmet) return { ok: false, found: await refunds.load(was.id) };
    report(changed.record, next);
    return { ok: true, record: next };
  };

  /**
   * Decides and commits. If another commit was faster, decides again on the newer refund.
   * @throws Error if the transition table lacks the change
   */
  const change = (refund: Refund, cause: RefundCause, decide: Decide<Refund>): Promise<Changed<Refund>> =>
    changeRecord(
      async (was, next) => {
        if (was.status !== next.status && !hasArrow(REFUND_TRANSITIONS, { from: was.status, to: next.status, cause })) {
          throw new Error(`refund ${was.id} may not change from ${was.status} to ${next.status} by ${cause}`);
        }
        return commit(was, next);
      },
      refund,
      decide,
    );

  /**
   * Removes a refund that certainly did not happen, with its reservation.
   * @returns false if the refund has changed since
   */
  const withdraw = async (refund: Refund): Promise<boolean> => {
    const changed = await payments.changeById(refund.paymentId, (current) => ({
      next: withoutRefund(current, refund, now()),
      onlyIf: [{ delete: refundKey(refund.id), if: [{ equals: ['version', refund.version] }] }],
    }));
    return changed !== undefined && !changed.unmet;
  };

  const loadPayment = async (id: string): Promise<VisiblePayment> => {
    const payment = await payments.load(id);
    if (!payment || !isVisiblePayment(payment)) throw notFound('payment');
    return payment;
  };

  /** Sets the next lookup. */
  const reschedule = async (refund: Refund, at: string, step: number): Promise<void> => {
    const onlyIf = [{ equals: ['status', 'pending'] }] as const;
    await refunds.setTimes(refund, { reconcileAt: at, reconcileStep: step }, { onlyIf });
  };

  /** Counts the due read for the settlement before the read, so a crashed function does not repeat the read. */
  const claimFactLook = (refund: Refund): Promise<Refund | undefined> =>
    refunds.setTimes(refund, afterFactLook(refund), { onlyIf: sameFactLook(refund) });

  const { find, load } = refunds;
  return { find, load, insert, change, withdraw, loadPayment, reschedule, claimFactLook };
};
