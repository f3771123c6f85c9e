import type { LedgerCustomer, LedgerMethod } from './documents.ts';
import type { Unit } from './unit.ts';

/** Attaches a method to a customer, unless it was detached during its charge. */
export const attachMethod = (unit: Unit, method: LedgerMethod, customerId: string): LedgerMethod => {
  if (method.spent) return method;
  const attached = unit.documents.methods.put({ ...method, customerId });
  unit.announce({ kind: 'method.attached', method: attached });
  return attached;
};

/** Detaches a method. It can never be used again. */
export const detachMethod = (unit: Unit, method: LedgerMethod): LedgerMethod => {
  const detached = unit.documents.methods.put({ ...method, customerId: null, spent: true });
  unit.announce({ kind: 'method.detached', method: detached, before: method });
  return detached;
};

/** Applies the card network's update after the bank has replaced the account's card. */
export const renewCard = (unit: Unit, before: LedgerMethod, card: Partial<LedgerMethod['card']>): LedgerMethod => {
  const method = unit.documents.methods.put({ ...before, card: { ...before.card, ...card } });
  unit.announce({ kind: 'method.renewed', method, before });
  return method;
};

/** Deletes a customer and detaches the customer's methods. The payments remain. */
export const deleteLedgerCustomer = (unit: Unit, customer: LedgerCustomer): LedgerCustomer => {
  for (const method of unit.documents.methods.list(unit.slot, { holder: customer.id, limit: 1_000 })) {
    detachMethod(unit, method);
  }
  const deleted = unit.documents.customers.put({ ...customer, deleted: true });
  unit.announce({ kind: 'customer.deleted', customer: deleted });
  return deleted;
};
