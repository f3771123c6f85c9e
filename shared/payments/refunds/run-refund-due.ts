/**
 * @module Looks up a pending refund, or reads the settlement of a succeeded refund. This due work may run late or
 * twice.
 */

import type { Providers } from '../../providers/registry.ts';
import type { Refund } from './refund.ts';
import { lookUpRefund, type RefundParts, readRefunds } from './refund-call.ts';
import { type RefundStoreDeps, refundStore } from './refund-store.ts';

export interface DueRefundDeps extends RefundStoreDeps {
  readonly providers: Providers;
}

export const runDueRefund = async (deps: DueRefundDeps, refundId: string): Promise<string> => {
  const refund = await refundStore(deps).load(refundId);
  if (!refund) return 'gone';
  if (refund.status === 'succeeded' && refund.factsAt !== undefined) return lookForSettlement(deps, refund);
  if (refund.status !== 'pending') return 'nothing due';
  return lookUpRefund(await partsOf(deps, refund), refund);
};

const partsOf = async (deps: DueRefundDeps, refund: Refund): Promise<RefundParts> => {
  const { refunds: port } = await deps.providers.require(refund.providerId, 'payments');
  if (!port) throw new Error('the provider of a refund does not support refunds');
  return { deps, port, payment: await refundStore(deps).loadPayment(refund.paymentId) };
};

/** Reads the settlement. Counts the read first, so a failed read counts too. Stores all refunds of the payment. */
const lookForSettlement = async (deps: DueRefundDeps, refund: Refund): Promise<string> => {
  const claimed = await refundStore(deps).claimFactLook(refund);
  if (!claimed) return 'another write came first';
  const read = await readRefunds(await partsOf(deps, claimed), claimed);
  return read.kind === 'done' && read.value?.settlement ? 'settlement' : 'no settlement';
};
