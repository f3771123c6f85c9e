import { iso } from '../core/time.ts';
import { recordStore } from '../table/record-store.ts';
import type { StoreDeps } from '../table/table.ts';
import { addressUseSteps } from './address-use.ts';
import { type PaymentMethod, paymentMethodShape } from './payment-method.ts';

export type MethodChange = Partial<Pick<PaymentMethod, 'alias' | 'billingAddressId' | 'setup'>>;

const nextMethod = ({ now }: StoreDeps, method: PaymentMethod, changed: MethodChange): PaymentMethod => ({
  ...method,
  ...changed,
  version: method.version + 1,
  updatedAt: iso(now()),
});

/** Stores a change of a method. @returns undefined if another change came first */
export const commitMethod = (
  deps: StoreDeps,
  method: PaymentMethod,
  changed: MethodChange,
): Promise<PaymentMethod | undefined> => {
  const next = nextMethod(deps, method, changed);
  return recordStore(deps, paymentMethodShape).commit(method, next, addressUseSteps(method, next));
};

/** Unlinks an address from a method that still uses it. */
export const unlinkMethod = async (deps: StoreDeps, methodId: string, addressId: string): Promise<void> => {
  const store = recordStore(deps, paymentMethodShape);
  const method = await store.load(methodId);
  if (!method) return;
  await store.change(
    method,
    (current) =>
      current.billingAddressId === addressId ? nextMethod(deps, current, { billingAddressId: undefined }) : undefined,
    addressUseSteps,
  );
};
