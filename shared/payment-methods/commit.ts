import { DomainError } from '../core/errors.ts';
import { iso, type Now } from '../core/time.ts';
import { recordStore } from '../table/record-store.ts';
import type { Table } from '../table/table.ts';
import { addressUseSteps } from './address-use.ts';
import { type PaymentMethod, paymentMethodShape } from './payment-method.ts';

interface Deps {
  readonly table: Table;
  readonly now: Now;
}

export type MethodChange = Pick<PaymentMethod, 'alias' | 'billingAddressId'> & Partial<Pick<PaymentMethod, 'setup'>>;

/** Stores a change of a method. @returns undefined if another change came first */
export const commitMethod = (
  { table, now }: Deps,
  method: PaymentMethod,
  changed: MethodChange,
): Promise<PaymentMethod | undefined> => {
  const next = { ...method, ...changed, version: method.version + 1, updatedAt: iso(now()) };
  return recordStore(table, now, paymentMethodShape).commit(method, next, addressUseSteps(method, next));
};

const TRIES = 5;

/** Unlinks an address from a method. @throws DomainError VERSION_CONFLICT if every try meets another change */
export const unlinkMethod = async (deps: Deps, methodId: string, addressId: string): Promise<void> => {
  const { load } = recordStore(deps.table, deps.now, paymentMethodShape);
  for (let tries = 0; tries < TRIES; tries += 1) {
    const method = await load(methodId);
    if (method?.billingAddressId !== addressId) return;
    if (await commitMethod(deps, method, { alias: method.alias, billingAddressId: undefined })) return;
  }
  throw new DomainError('VERSION_CONFLICT');
};
