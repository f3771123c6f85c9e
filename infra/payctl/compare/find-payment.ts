import { PROVIDER_SLOTS } from '../../../shared/core/settings.ts';
import type { Payment } from '../../../shared/payments/payment.ts';
import { paymentStore } from '../../../shared/payments/payment-store.ts';
import { findAlias } from '../../../shared/platform/alias.ts';
import { NotReachable } from '../installation/control.ts';
import type { Installation } from '../installation/installation.ts';

/** The payment with this id, ours or its provider's. @throws NotReachable */
export const findPayment = async ({ deps }: Pick<Installation, 'deps'>, id: string): Promise<Payment> => {
  const payment = await paymentStore(deps.table, deps.now).load(await ourIdOf(deps, id));
  if (payment) return payment;
  throw new NotReachable(`there is no payment ${id}`);
};

const ourIdOf = async ({ table }: Installation['deps'], id: string): Promise<string> => {
  if (id.startsWith('pay_')) return id;
  for (const slot of PROVIDER_SLOTS) {
    const alias = await findAlias(table, slot, id);
    if (alias?.kind === 'PAY') return alias.id;
  }
  return id;
};
