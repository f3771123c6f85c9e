/**
 * @module The only source of a payment method that may be charged. Every charge, and every use at a provider, requires
 * a `UsableMethod`. A saved method becomes a `UsableMethod` only by the check in `access/may-charge.ts`.
 */

import type { Caller } from '../access/caller.ts';
import { chargeableIf, type MethodOwner, mayCharge, payingOwners, requireMayCharge } from '../access/may-charge.ts';
import type { Owned } from '../access/record-kind.ts';
import { standingKeys, standingOf } from '../access/standing.ts';
import { DomainError, invalid } from '../core/errors.ts';
import type { MethodKind } from '../core/fact-words.ts';
import type { ProviderSlot } from '../core/settings.ts';
import { findAlias } from '../platform/alias.ts';
import type { Clause } from '../platform/expression.ts';
import { aliasKey, memberKey } from '../platform/keys.ts';
import type { Table, TransactionStep } from '../platform/table.ts';
import type { PaymentProvider } from '../providers/provider.ts';
import { requireOwnToken, requireProvider, unansweredError } from '../providers/unwrap.ts';
import { requireSetUp } from './method-setup.ts';
import { kindOf, type PaymentMethod, paymentMethodRecord } from './payment-method.ts';

const PASSED: unique symbol = Symbol('passed the rule of use');

export interface UsableMethod {
  readonly [PASSED]: true;
  /** The method's id at the provider, or its one-time token. */
  readonly methodRef: string | undefined;
  /** The id of our record, if the method is saved. */
  readonly paymentMethodId: string | undefined;
  /** The kind of a saved method. */
  readonly methodKind?: MethodKind | undefined;
  /** The customer to charge. A saved method is charged only for its own customer. */
  readonly providerCustomerId: string | undefined;
  /** The id of our record of that customer. */
  readonly customerId?: string | undefined;
  /** True for a member's own method paying for an organization. The customer is the member's. */
  readonly isLent?: boolean | undefined;
  /** Conditions of the write that claims a charge. They require that the method still exists and may be charged. */
  readonly onlyIf: readonly TransactionStep[];
}

/** The method as a payment or subscription stores it. */
export type HeldMethod = Partial<
  Pick<UsableMethod, 'methodRef' | 'paymentMethodId' | 'methodKind' | 'providerCustomerId' | 'customerId' | 'isLent'>
>;

const passed = (
  { methodRef, paymentMethodId, methodKind, providerCustomerId, customerId, isLent }: HeldMethod,
  onlyIf: readonly TransactionStep[],
) =>
  ({ [PASSED]: true, methodRef, paymentMethodId, methodKind, providerCustomerId, customerId, isLent, onlyIf }) as const;

export const heldAs = (method: PaymentMethod): HeldMethod => ({
  methodRef: method.providerMethodId,
  paymentMethodId: method.id,
  methodKind: kindOf(method),
  providerCustomerId: method.providerCustomerId,
  customerId: method.customerId,
});

const heldFor = (payer: Owned, method: PaymentMethod): HeldMethod => ({
  ...heldAs(method),
  isLent: lenderOf(payer, method) !== undefined,
});

/** No payment method, or a method that the payer chose at the provider. */
export const useNone = (providerCustomerId?: string): UsableMethod =>
  passed({ methodRef: undefined, paymentMethodId: undefined, providerCustomerId }, []);

/** The conditions that the stored method belongs to one of these owners and is set up. */
const usableIf = (owners: readonly MethodOwner[]): readonly Clause[] => [...chargeableIf(owners), { lacks: 'setup' }];

/**
 * @throws DomainError PROVIDER_MISMATCH; INSUFFICIENT_PERMISSIONS if the method may not pay for this payer;
 * INVALID_STATE if the payer still has to authenticate the method
 */
export const useSaved = (
  method: PaymentMethod,
  { caller, payer, slot }: { readonly caller: Caller; readonly payer: Owned; readonly slot: ProviderSlot },
): UsableMethod => {
  requireProvider('payment_method_id', slot, method.providerId);
  const owners = payingOwners(caller, payer);
  requireMayCharge(owners, method);
  requireSetUp(method);
  return passed(heldFor(payer, method), [{ check: paymentMethodRecord.key(method.id), if: usableIf(owners) }]);
};

/**
 * Uses a provider's one-time token. The caller must first resolve the id of a saved method to its record.
 * @throws DomainError PROVIDER_MISMATCH for a token of another vendor; VALIDATION_ERROR for a method stored at the
 * provider without a record here
 */
export const useToken = (
  provider: PaymentProvider,
  token: string,
  providerCustomerId: string | undefined,
): UsableMethod => {
  requireOwnToken(provider, { path: 'payment_method_id', token, record: 'payment' });
  if (provider.isStoredMethod(token)) throw storedError();
  return passed({ methodRef: token, paymentMethodId: undefined, providerCustomerId }, []);
};

const storedError = (): DomainError => {
  const message = 'is stored at the provider; save it as a payment method first';
  return invalid([{ path: 'payment_method_id', rule: 'stored', message }]);
};

/**
 * Refuses a stored method without a record here. Reads the provider if the token's format does not show whether the
 * method is stored. The provider itself refuses a method of another customer.
 * @param isRepeat resolves to true if the request was accepted before; its method may have been saved since
 * @throws DomainError like `useToken`, or an error if the provider cannot be read
 */
export const requireOneTime = async (
  provider: PaymentProvider,
  { methodRef, paymentMethodId, providerCustomerId }: HeldMethod,
  isRepeat: () => Promise<boolean> = async () => false,
): Promise<void> => {
  if (methodRef === undefined || paymentMethodId !== undefined || providerCustomerId === undefined) return;
  if (provider.isStoredMethod(methodRef) !== undefined || (await isRepeat())) return;
  const found = await provider.findMethod(methodRef);
  if (found.kind === 'unknown' || found.kind === 'not_done') throw unansweredError(found);
  if (found.kind === 'done' && found.value.customerId !== undefined) throw storedError();
};

/** The owner and the provider of a payment or subscription with a method. */
type Holder = Owned & { readonly providerId: ProviderSlot };

/**
 * The stored method of a payment or subscription, for a charge by this caller. The claim fails if a method without our
 * id has been saved since, or if a saved method no longer has this provider's id. After such a failure, `requireHeld`
 * throws the reason or resolves the method.
 * @throws DomainError INSUFFICIENT_PERMISSIONS
 */
export const useHeld = (caller: Caller, holder: Holder, held: HeldMethod): UsableMethod => {
  const { paymentMethodId, methodRef } = held;
  if (paymentMethodId === undefined) return passed(held, isNotSaved(holder, methodRef));
  const owners = payingOwners(caller, holder);
  if (owners.length === 0) requireMayCharge(owners, {});
  const isNamed = { equals: ['providerMethodId', methodRef ?? null] } as const;
  return passed(held, [{ check: paymentMethodRecord.key(paymentMethodId), if: [...usableIf(owners), isNamed] }]);
};

/**
 * Like `useHeld`, but reads the stored method first, so a provider's id resolves to the saved method.
 * @throws DomainError PAYMENT_METHOD_REQUIRED if the method was deleted or its lender has left the organization;
 * INSUFFICIENT_PERMISSIONS if another member owns the method; INVALID_STATE if the payer still has to authenticate it
 */
export const requireHeld = async (
  { table, caller }: { readonly table: Table; readonly caller: Caller },
  holder: Holder,
  held: HeldMethod & KnownRecord,
): Promise<UsableMethod> => {
  const found = await findHeld(table, holder, held);
  if (found.kind === 'not saved') return passed(held, isNotSaved(holder, held.methodRef));
  if (found.kind === 'deleted' || !(await paysFor(table, holder, found.method))) {
    throw new DomainError('PAYMENT_METHOD_REQUIRED');
  }
  requireMayCharge(payingOwners(caller, holder), found.method);
  requireSetUp(found.method);
  return useHeld(caller, holder, heldFor(holder, found.method));
};

/**
 * The stored method of a payment or subscription, for a charge without a caller. A lender must still be a member.
 * @returns undefined if the record holds no usable method
 */
export const findUnattended = async (
  table: Table,
  holder: Holder,
  held: HeldMethod & KnownRecord,
): Promise<UsableMethod | undefined> => {
  const found = await findHeld(table, holder, held);
  if (found.kind === 'deleted' || held.methodRef === undefined) return undefined;
  if (found.kind === 'not saved') return passed(held, isNotSaved(holder, held.methodRef));
  const { method } = found;
  if (method.providerMethodId !== held.methodRef || method.setup || !(await paysFor(table, holder, method)))
    return undefined;
  const owners = lenderOwners(holder, method);
  const stillExists = { check: paymentMethodRecord.key(method.id), if: usableIf(owners) };
  return passed(heldFor(holder, method), [stillExists, ...membershipCheck(holder, method)]);
};

interface KnownRecord {
  /** The stored method, if already read. */
  readonly record?: PaymentMethod | undefined;
}

type Found =
  | { readonly kind: 'saved'; readonly method: PaymentMethod }
  /** A one-time token, or no method. */
  | { readonly kind: 'not saved' }
  | { readonly kind: 'deleted' };

/** Finds the record by our id, or by the provider's id. The provider's id matches only while the record has it. */
const findHeld = async (
  table: Table,
  { providerId }: Holder,
  { paymentMethodId, methodRef, record }: HeldMethod & KnownRecord,
): Promise<Found> => {
  const id = paymentMethodId ?? (methodRef && (await findSavedId(table, providerId, methodRef)));
  if (id === undefined) return { kind: 'not saved' };
  const method = record?.id === id ? record : await loadMethod(table, id);
  const isHeld = paymentMethodId !== undefined || method?.providerMethodId === methodRef;
  return method && isHeld ? { kind: 'saved', method } : { kind: 'deleted' };
};

const findSavedId = async (table: Table, providerId: ProviderSlot, methodRef: string): Promise<string | undefined> => {
  const alias = await findAlias(table, providerId, methodRef);
  return alias?.kind === 'PM' ? alias.id : undefined;
};

/** The condition that no saved method has the provider's id. A record of another kind may have this id. */
const isNotSaved = ({ providerId }: Holder, methodRef: string | undefined): readonly TransactionStep[] => {
  if (methodRef === undefined) return [];
  return [{ check: aliasKey(providerId, methodRef), if: [{ any: [{ absent: true }, { differs: ['kind', 'PM'] }] }] }];
};

/** The owners whose methods this method's user may charge for the payer. */
const lenderOwners = (payer: Owned, { userId }: PaymentMethod) =>
  payingOwners(
    userId === undefined
      ? { kind: 'anonymous' }
      : { kind: 'session', userId, email: '', organizationId: undefined, isAdmin: false },
    payer,
  );

/** True if the method may pay for this payer. A member's own method may pay until the membership ends. */
export const paysFor = async (table: Table, payer: Owned, method: PaymentMethod): Promise<boolean> => {
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
export const lenderOf = (
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
