/**
 * @module Stripe's balance transactions of charges and refunds. A charge gets a balance transaction when its money
 * arrives.
 */

import type { LedgerCharge, LedgerRefund } from '../../ledger/documents.ts';
import type { Unit } from '../../ledger/unit.ts';
import type { StripeObject } from '../wire/request.ts';
import { lower, seconds } from './payment-views.ts';

const DAY_MS = 86_400_000;
const AVAILABLE_AFTER_MS = 2 * DAY_MS;

export const chargeTransactionId = ({ id, fee }: LedgerCharge): string | null => (fee === null ? null : nameOf(id));

export const refundTransactionId = ({ id, status }: LedgerRefund): string | null =>
  status === 'succeeded' ? nameOf(id) : null;

const nameOf = (sourceId: string): string => `txn_${sourceId.replace('_', '')}`;

export const balanceTransactionView = (id: string, unit: Unit): StripeObject | undefined => {
  const sourceId = id.replace(/^txn_(ch|re)/, '$1_');
  const charge = unit.documents.charges.get(unit.slot, sourceId);
  if (charge) return transactionView(unit, charge, { type: 'charge', amount: charge.amountCaptured, fee: charge.fee });
  const refund = unit.documents.refunds.get(unit.slot, sourceId);
  // Stripe keeps its fee when a charge is refunded.
  return refund && transactionView(unit, refund, { type: 'refund', amount: -refund.amount, fee: 0 });
};

interface Moved {
  readonly type: 'charge' | 'refund';
  readonly amount: number;
  readonly fee: number | null;
}

/** Exchange rate, in units of the settlement currency per unit of any other currency. */
const RATE = 0.9;

/** The settlement currency of the charge's method, if it differs from the charge's currency. */
const settledIn = (unit: Unit, source: LedgerCharge | LedgerRefund): string | undefined => {
  const charge = 'chargeId' in source ? unit.documents.charges.get(unit.slot, source.chargeId) : source;
  const behaviour = charge && unit.documents.methods.get(unit.slot, charge.methodId)?.behaviour;
  const settlesIn = behaviour?.kind === 'succeeds' ? behaviour.settlesIn : undefined;
  return settlesIn === source.currency ? undefined : settlesIn;
};

const transactionView = (unit: Unit, source: LedgerCharge | LedgerRefund, moved: Moved): StripeObject => {
  const { type } = moved;
  const other = settledIn(unit, source);
  const converted = (minorUnits: number): number => (other ? Math.round(minorUnits * RATE) : minorUnits);
  const [amount, fee] = [converted(moved.amount), converted(moved.fee ?? 0)];
  const availableAt = source.createdAt + AVAILABLE_AFTER_MS;
  const currency = lower(other ?? source.currency);
  return {
    id: nameOf(source.id),
    object: 'balance_transaction',
    amount,
    available_on: seconds(availableAt),
    balance_type: 'payments',
    created: seconds(source.createdAt),
    currency,
    description: null,
    exchange_rate: other ? RATE : null,
    fee,
    fee_details:
      fee === 0
        ? []
        : [{ amount: fee, application: null, currency, description: 'Stripe processing fees', type: 'stripe_fee' }],
    net: amount - fee,
    reporting_category: type,
    source: source.id,
    status: availableAt <= unit.at ? 'available' : 'pending',
    type,
  };
};
