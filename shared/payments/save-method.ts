import { derivedId } from '../core/ids.ts';
import { iso } from '../core/time.ts';
import { ownerOfRecord } from '../customers/customer.ts';
import { factsOf } from '../payment-methods/create.ts';
import { type PaymentMethod, paymentMethodShape } from '../payment-methods/payment-method.ts';
import type { Providers } from '../providers/registry.ts';
import { putAlias } from '../table/alias.ts';
import { recordStore } from '../table/record-store.ts';
import type { Table } from '../table/table.ts';
import { isVisible, type VisiblePayment, wantsMethodSaved } from './payment.ts';
import { paymentStore } from './store.ts';

interface SaveDeps {
  readonly table: Table;
  readonly providers: Providers;
  readonly now: () => number;
}

/**
 * Saves the method of a succeeded payment that asked for it (setup_future_usage). Its id follows from the payment's, so
 * it is one method however often the success is reported; what stops half-way is finished by the payment's appointment.
 */
export const saveMethodOf = async (deps: SaveDeps, payment: VisiblePayment): Promise<VisiblePayment> => {
  if (!wantsMethodSaved(payment)) return payment;
  const method = await savedMethodOf(deps, payment);
  if (!method) return payment;
  await putAlias(deps.table, method.providerId, method.providerMethodId, { kind: 'PM', id: method.id });
  await recordStore(deps.table, deps.now, paymentMethodShape).insertOrFind(method);
  const next = {
    ...payment,
    paymentMethodId: method.id,
    methodRef: method.providerMethodId,
    cause: 'update' as const,
    version: payment.version + 1,
    updatedAt: iso(deps.now()),
  };
  const committed = await paymentStore(deps.table, deps.now).commit(payment, next);
  const stands = committed.ok ? next : committed.found;
  return stands && isVisible(stands) ? stands : payment;
};

const savedMethodOf = async (deps: SaveDeps, payment: VisiblePayment): Promise<PaymentMethod | undefined> => {
  const provider = await deps.providers.forPayments(payment.providerId);
  const report = await provider.findPayment(payment.providerIntentId ?? '');
  const methodId = report.kind === 'done' ? report.value.methodId : undefined;
  const found = methodId === undefined ? undefined : await provider.findMethod(methodId);
  const owner = ownerOfRecord(payment);
  if (found?.kind !== 'done' || !owner) return undefined;
  const at = iso(deps.now());
  const { userId, organizationId, guestId, guestEmail } = payment;
  return {
    id: derivedId('payment_method', payment.id),
    version: 1,
    createdAt: at,
    updatedAt: at,
    providerId: payment.providerId,
    ...factsOf(found.value),
    customerId: payment.customerId,
    providerCustomerId: payment.providerCustomerId,
    billingAddressId: payment.billingAddressId,
    ...(owner.kind === 'organization' ? { organizationId } : { userId, guestId, guestEmail }),
  };
};
