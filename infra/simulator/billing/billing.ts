/**
 * @module Computes an invoice in order: its lines, the discounts, the taxes, the customer's balance. The balance
 * applies when the invoice is finalized, not to a draft.
 */

import type {
  LedgerBill,
  LedgerCoupon,
  LedgerDiscount,
  LedgerInvoice,
  LedgerLine,
  LedgerSubscription,
  LedgerTaxRate,
} from '../ledger/billing-documents.ts';
import type { Unit } from '../ledger/unit.ts';

export const billOf = (unit: Unit, subscription: LedgerSubscription, lines: readonly LedgerLine[]): LedgerBill => {
  const subtotal = lines.reduce((sum, { amount }) => sum + amount, 0);
  const discounts = discountsOf(unit, subscription, subtotal);
  const taxable = discounts.reduce((left, { amount }) => left - amount, subtotal);
  const taxes = subscription.taxRateIds.map((id) => taxOf(taxRateOf(unit, id), taxable));
  const added = taxes.reduce((sum, { amount, inclusive }) => sum + (inclusive ? 0 : amount), 0);
  return { lines: [...lines], subtotal, discounts, taxes, total: taxable + added };
};

/** The discounts that the subscription keeps after an invoice. Ended discounts and used `once` coupons are left out. */
export const keptDiscounts = (unit: Unit, { discountIds }: LedgerSubscription, bill: LedgerBill): string[] =>
  discountIds.filter((id) => {
    const isUsed = bill.discounts.some(({ discountId, amount }) => discountId === id && amount > 0);
    return isRunning(unit, discountOf(unit, id)) && !(isUsed && couponOf(unit, id).duration === 'once');
  });

/**
 * Applies the customer's balance to the total. An amount below the minimum charge, or a remaining credit, is not
 * charged and stays in the balance.
 */
export const applyBalance = (
  unit: Unit,
  { customerId, bill, currency }: Pick<LedgerInvoice, 'customerId' | 'bill' | 'currency'>,
): Pick<LedgerInvoice, 'amount' | 'startingBalance' | 'endingBalance'> => {
  const startingBalance = unit.documents.customers.get(unit.slot, customerId)?.balance ?? 0;
  const owed = bill.total + startingBalance;
  const isCharged = owed >= unit.leastCharge(currency);
  const endingBalance = isCharged ? 0 : owed;
  setBalance(unit, customerId, endingBalance);
  return { amount: isCharged ? owed : 0, startingBalance, endingBalance };
};

/** Gives the customer back the balance used by an invoice. */
export const returnBalance = (unit: Unit, { customerId, startingBalance, endingBalance }: LedgerInvoice): void => {
  const balance = unit.documents.customers.get(unit.slot, customerId)?.balance ?? 0;
  setBalance(unit, customerId, balance + startingBalance - (endingBalance ?? startingBalance));
};

export const setBalance = (unit: Unit, customerId: string, balance: number): void => {
  const before = unit.documents.customers.get(unit.slot, customerId);
  if (!before || before.deleted || before.balance === balance) return;
  const customer = unit.documents.customers.put({ ...before, balance });
  unit.announce({ kind: 'customer.updated', customer, before });
};

const discountsOf = (unit: Unit, { discountIds }: LedgerSubscription, subtotal: number): LedgerBill['discounts'] => {
  let left = subtotal;
  return discountIds
    .filter((id) => isRunning(unit, discountOf(unit, id)))
    .map((discountId) => {
      const { percentOff, amountOff } = couponOf(unit, discountId);
      const amount = percentOff === null ? Math.min(amountOff ?? 0, left) : share(left, percentOff);
      left -= amount;
      return { discountId, amount };
    });
};

const taxOf = ({ id, inclusive, percentage }: LedgerTaxRate, taxable: number): LedgerBill['taxes'][number] => {
  if (!inclusive) return { taxRateId: id, inclusive, taxable, amount: share(taxable, percentage) };
  const net = Math.round((taxable * 100) / (100 + percentage));
  return { taxRateId: id, inclusive, taxable: net, amount: taxable - net };
};

const share = (amount: number, percent: number): number => Math.round((amount * percent) / 100);

const isRunning = (unit: Unit, { endAt }: LedgerDiscount): boolean => endAt === null || endAt > unit.at;

const discountOf = (unit: Unit, id: string): LedgerDiscount =>
  required(unit.documents.discounts.get(unit.slot, id), id);

const couponOf = (unit: Unit, discountId: string): LedgerCoupon => {
  const { couponId } = discountOf(unit, discountId);
  return required(unit.documents.coupons.get(unit.slot, couponId), couponId);
};

export const taxRateOf = (unit: Unit, id: string): LedgerTaxRate =>
  required(unit.documents.taxRates.get(unit.slot, id), id);

const required = <T>(document: T | undefined, id: string): T => {
  if (document === undefined) throw new Error(`${id} does not exist`);
  return document;
};
