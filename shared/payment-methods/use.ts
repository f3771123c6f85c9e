import type { Caller } from '../access/caller.ts';
import type { Owned } from '../access/record-kind.ts';
import { standingKeys, standingOf } from '../access/standing.ts';
import { chargeableIf, mayCharge, payingOwners, requireMayCharge } from '../access/use.ts';
import { DomainError, invalid } from '../core/errors.ts';
import { requireProvider } from '../providers/done.ts';
import type { PaymentProvider } from '../providers/provider.ts';
import type { ProviderSlot } from '../settings.ts';
import { memberKey } from '../table/keys.ts';
import type { Table, TransactionStep } from '../table/table.ts';
import { type PaymentMethod, paymentMethodRecord } from './payment-method.ts';

/**
 * The only source of a payment method that may be charged. Every use case that charges a method, or sends one to a
 * provider, takes a `UsableMethod`; the functions below make one after asking the rule of use (access/use.ts).
 */
const PASSED: unique symbol = Symbol('passed the rule of use');

export interface UsableMethod {
  readonly [PASSED]: true;
  /** The provider's id or one-time token; undefined: none. */
  readonly methodRef: string | undefined;
  /** Our record of it, where it is a saved one. */
  readonly paymentMethodId: string | undefined;
  readonly providerCustomerId: string | undefined;
  /** Our record of that customer. */
  readonly customerId?: string | undefined;
  /** What must still hold in the write that claims the charge: the method is there and may be charged. */
  readonly onlyIf: readonly TransactionStep[];
}

/** The method that a payment or subscription holds. */
export type HeldMethod = Partial<
  Pick<UsableMethod, 'methodRef' | 'paymentMethodId' | 'providerCustomerId' | 'customerId'>
>;

const passed = (
  { methodRef, paymentMethodId, providerCustomerId, customerId }: HeldMethod,
  onlyIf: readonly TransactionStep[],
) => ({ [PASSED]: true, methodRef, paymentMethodId, providerCustomerId, customerId, onlyIf }) as const;

/** A saved method as a payment or subscription holds it: with its own customer, for which alone it is charged. */
export const heldAs = (method: PaymentMethod): HeldMethod => ({
  methodRef: method.providerMethodId,
  paymentMethodId: method.id,
  providerCustomerId: method.providerCustomerId,
  customerId: method.customerId,
});

/** No payment method, or one that the payer has chosen at the provider. */
export const useNone = (providerCustomerId?: string): UsableMethod =>
  passed({ methodRef: undefined, paymentMethodId: undefined, providerCustomerId }, []);

/**
 * A saved method that the request names.
 * @throws DomainError PROVIDER_MISMATCH; INSUFFICIENT_PERMISSIONS where it does not pay for this payer
 */
export const useSaved = (
  method: PaymentMethod,
  { caller, payer, slot }: { readonly caller: Caller; readonly payer: Owned; readonly slot: ProviderSlot },
): UsableMethod => {
  requireProvider('payment_method_id', slot, method.providerId);
  const owners = payingOwners(caller, payer);
  requireMayCharge(owners, method);
  return passed(heldAs(method), [{ check: paymentMethodRecord.key(method.id), if: chargeableIf(owners) }]);
};

/**
 * A provider's one-time token. A token of a saved method has been resolved to its record before.
 * @throws DomainError VALIDATION_ERROR for an instrument that the provider stores and no record here has
 */
export const useToken = (
  provider: PaymentProvider,
  token: string,
  providerCustomerId: string | undefined,
): UsableMethod => {
  if (provider.isStoredMethod(token)) {
    const message = 'is stored at the provider: save it as a payment method first';
    throw invalid([{ path: 'payment_method_id', rule: 'stored', message }]);
  }
  return passed({ methodRef: token, paymentMethodId: undefined, providerCustomerId }, []);
};

/**
 * The method that a record holds, to be charged by this caller: whether that is allowed is a condition of the claim.
 * Where the condition does not hold, `requireHeld` says why.
 * @throws DomainError INSUFFICIENT_PERMISSIONS
 */
export const useHeld = (caller: Caller, payer: Owned, held: HeldMethod): UsableMethod => {
  const { paymentMethodId } = held;
  if (paymentMethodId === undefined) return passed(held, []);
  const owners = payingOwners(caller, payer);
  if (owners.length === 0) requireMayCharge(owners, {});
  return passed(held, [{ check: paymentMethodRecord.key(paymentMethodId), if: chargeableIf(owners) }]);
};

/**
 * The same, read now.
 * @throws DomainError PAYMENT_METHOD_REQUIRED where it was deleted or its lender has left the organization;
 * INSUFFICIENT_PERMISSIONS where it is another member's
 */
export const requireHeld = async (
  table: Table,
  caller: Caller,
  payer: Owned,
  held: HeldMethod,
): Promise<UsableMethod> => {
  const usable = useHeld(caller, payer, held);
  if (held.paymentMethodId === undefined) return usable;
  const method = await loadMethod(table, held.paymentMethodId);
  if (!method || !(await isLent(table, payer, method))) throw new DomainError('PAYMENT_METHOD_REQUIRED');
  requireMayCharge(payingOwners(caller, payer), method);
  return usable;
};

/**
 * The method that a record holds, to be charged while nobody attends: whoever named it was allowed to; it must still be
 * there, and a member's own must still be lent. @returns undefined where it counts as not there
 */
export const findUnattended = async (
  table: Table,
  payer: Owned,
  held: HeldMethod,
): Promise<UsableMethod | undefined> => {
  const { paymentMethodId } = held;
  if (paymentMethodId === undefined) return undefined;
  const method = await loadMethod(table, paymentMethodId);
  if (!method || !(await isLent(table, payer, method))) return undefined;
  const owners = lenderOwners(payer, method);
  const stillThere = { check: paymentMethodRecord.key(paymentMethodId), if: chargeableIf(owners) };
  return passed(held, [stillThere, ...membershipCheck(payer, method)]);
};

/** Whose methods may be charged for this payer, had the method's own user asked. */
const lenderOwners = (payer: Owned, { userId }: PaymentMethod) =>
  payingOwners(
    userId === undefined
      ? { kind: 'anonymous' }
      : { kind: 'session', userId, email: '', organizationId: undefined, isAdmin: false },
    payer,
  );

/** Does it pay for this payer at all? A member's own does until the membership ends. */
export const isLent = async (table: Table, payer: Owned, method: PaymentMethod): Promise<boolean> => {
  if (!mayCharge(lenderOwners(payer, method), method)) return false;
  const lender = lenderOf(payer, method);
  if (!lender) return true;
  const [organization, member] = await table.getMany(standingKeys(lender.userId, lender.organizationId), {
    consistent: true,
  });
  const standing = standingOf(lender.organizationId, organization, member);
  return standing.exists && standing.role !== undefined;
};

/** The member whose own method pays for an organization. */
const lenderOf = (
  payer: Owned,
  { userId, organizationId: owner }: Owned,
): { readonly userId: string; readonly organizationId: string } | undefined =>
  payer.organizationId !== undefined && owner === undefined && userId !== undefined
    ? { userId, organizationId: payer.organizationId }
    : undefined;

const membershipCheck = (payer: Owned, method: PaymentMethod): readonly TransactionStep[] => {
  const lender = lenderOf(payer, method);
  return lender ? [{ check: memberKey(lender.organizationId, lender.userId), if: [{ exists: true }] }] : [];
};

const loadMethod = async (table: Table, id: string): Promise<PaymentMethod | undefined> => {
  const item = await table.get(paymentMethodRecord.key(id));
  return item && paymentMethodRecord.parse(item);
};
