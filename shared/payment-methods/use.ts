import type { Caller } from '../access/caller.ts';
import type { Owned } from '../access/record-kind.ts';
import { standingKeys, standingOf } from '../access/standing.ts';
import { chargeableIf, mayCharge, payingOwners, requireMayCharge } from '../access/use.ts';
import { DomainError, invalid } from '../core/errors.ts';
import type { ProviderSlot } from '../core/settings.ts';
import type { PaymentProvider } from '../providers/port/provider.ts';
import { requireProvider } from '../providers/registry/unwrap.ts';
import { findAlias } from '../table/alias.ts';
import { aliasKey, memberKey } from '../table/keys.ts';
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
  /** For whom it is charged: a saved method's own customer, and no other. */
  readonly providerCustomerId: string | undefined;
  /** Our record of that customer. */
  readonly customerId?: string | undefined;
  /** A member's own, which pays for an organization: its customer is the member's, and nothing is saved for it. */
  readonly isLent?: boolean | undefined;
  /** What must still hold in the write that claims the charge: the method is there and may be charged. */
  readonly onlyIf: readonly TransactionStep[];
}

/** The method that a payment or subscription holds. */
export type HeldMethod = Partial<
  Pick<UsableMethod, 'methodRef' | 'paymentMethodId' | 'providerCustomerId' | 'customerId' | 'isLent'>
>;

const passed = (
  { methodRef, paymentMethodId, providerCustomerId, customerId, isLent }: HeldMethod,
  onlyIf: readonly TransactionStep[],
) => ({ [PASSED]: true, methodRef, paymentMethodId, providerCustomerId, customerId, isLent, onlyIf }) as const;

/** A saved method as a payment or subscription holds it: with its own customer, for which alone it is charged. */
export const heldAs = (method: PaymentMethod): HeldMethod => ({
  methodRef: method.providerMethodId,
  paymentMethodId: method.id,
  providerCustomerId: method.providerCustomerId,
  customerId: method.customerId,
});

const heldFor = (payer: Owned, method: PaymentMethod): HeldMethod => ({
  ...heldAs(method),
  isLent: lenderOf(payer, method) !== undefined,
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
  return passed(heldFor(payer, method), [{ check: paymentMethodRecord.key(method.id), if: chargeableIf(owners) }]);
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

/** The owner of a payment or subscription, and the provider of the method that it holds. */
type Holder = Owned & { readonly providerId: ProviderSlot };

/**
 * The method that a record holds, to be charged by this caller: whether that is allowed is a condition of the claim.
 * A method held by its provider's id alone must not be a saved one; a saved one must be the one that its id names.
 * Where the condition does not hold, `requireHeld` says why, or resolves the method.
 * @throws DomainError INSUFFICIENT_PERMISSIONS
 */
export const useHeld = (caller: Caller, holder: Holder, held: HeldMethod): UsableMethod => {
  const { paymentMethodId, methodRef } = held;
  if (paymentMethodId === undefined) return passed(held, isNotSaved(holder, methodRef));
  const owners = payingOwners(caller, holder);
  if (owners.length === 0) requireMayCharge(owners, {});
  const isNamed = { equals: ['providerMethodId', methodRef ?? null] } as const;
  return passed(held, [{ check: paymentMethodRecord.key(paymentMethodId), if: [...chargeableIf(owners), isNamed] }]);
};

/**
 * The same, read now; a method held by the provider's id of a saved one is that saved method.
 * @throws DomainError PAYMENT_METHOD_REQUIRED where it was deleted or its lender has left the organization;
 * INSUFFICIENT_PERMISSIONS where it is another member's
 */
export const requireHeld = async (
  table: Table,
  caller: Caller,
  holder: Holder,
  held: HeldMethod,
): Promise<UsableMethod> => {
  const found = await findHeld(table, holder, held);
  if (found.kind === 'not saved') return passed(held, isNotSaved(holder, held.methodRef));
  if (found.kind === 'gone' || !(await isLent(table, holder, found.method))) {
    throw new DomainError('PAYMENT_METHOD_REQUIRED');
  }
  requireMayCharge(payingOwners(caller, holder), found.method);
  return useHeld(caller, holder, heldFor(holder, found.method));
};

/**
 * The method that a record holds, to be charged while nobody attends: whoever named it was allowed to; it must still be
 * there, and a member's own must still be lent. @returns undefined where it counts as not there, or none is held
 */
export const findUnattended = async (
  table: Table,
  holder: Holder,
  held: HeldMethod,
): Promise<UsableMethod | undefined> => {
  const found = await findHeld(table, holder, held);
  if (found.kind === 'gone' || held.methodRef === undefined) return undefined;
  if (found.kind === 'not saved') return passed(held, isNotSaved(holder, held.methodRef));
  const { method } = found;
  if (method.providerMethodId !== held.methodRef || !(await isLent(table, holder, method))) return undefined;
  const owners = lenderOwners(holder, method);
  const stillThere = { check: paymentMethodRecord.key(method.id), if: chargeableIf(owners) };
  return passed(heldFor(holder, method), [stillThere, ...membershipCheck(holder, method)]);
};

type Found =
  | { readonly kind: 'saved'; readonly method: PaymentMethod }
  /** A one-time token, or none at all. */
  | { readonly kind: 'not saved' }
  | { readonly kind: 'gone' };

/** The record of a held method: by our id, else by the provider's. */
const findHeld = async (
  table: Table,
  { providerId }: Holder,
  { paymentMethodId, methodRef }: HeldMethod,
): Promise<Found> => {
  const id = paymentMethodId ?? (methodRef && (await savedAs(table, providerId, methodRef)));
  if (id === undefined) return { kind: 'not saved' };
  const method = await loadMethod(table, id);
  return method ? { kind: 'saved', method } : { kind: 'gone' };
};

const savedAs = async (table: Table, providerId: ProviderSlot, methodRef: string): Promise<string | undefined> => {
  const alias = await findAlias(table, providerId, methodRef);
  return alias?.kind === 'PM' ? alias.id : undefined;
};

/** The provider's id names no saved method; it may name something else of ours (a payment, say). */
const isNotSaved = ({ providerId }: Holder, methodRef: string | undefined): readonly TransactionStep[] => {
  if (methodRef === undefined) return [];
  return [{ check: aliasKey(providerId, methodRef), if: [{ any: [{ absent: true }, { differs: ['kind', 'PM'] }] }] }];
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
