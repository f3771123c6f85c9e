import { DomainError } from '../core/errors.ts';
import type { Clause } from '../table/expression.ts';
import type { Caller } from './caller.ts';
import type { Owned } from './record-kind.ts';

/**
 * Who may charge a payment method. A method pays only for its owner: an organization's for that organization, a user's
 * for that user and, named by that very user, for an organization in which they may pay (the endpoint's own permission,
 * checked before). The rule is a list of owners, so that the decision on a record and the condition of a write are one.
 */
export type MethodOwner =
  | { readonly organizationId: string }
  | { readonly userId: string }
  | { readonly guestId: string; readonly guestEmail: string };

/** Whose methods this caller may charge for this payer (the owner of the payment or subscription). */
export const payingOwners = (caller: Caller, payer: Owned): readonly MethodOwner[] => {
  const { organizationId, userId, guestId, guestEmail } = payer;
  if (organizationId !== undefined) {
    return [{ organizationId }, ...(caller.kind === 'session' ? [{ userId: caller.userId }] : [])];
  }
  if (userId !== undefined) return caller.kind === 'session' && caller.userId === userId ? [{ userId }] : [];
  return guestId !== undefined && guestEmail !== undefined ? [{ guestId, guestEmail }] : [];
};

/** The one owner of a record, in the order in which records name them. */
export const methodOwner = ({ organizationId, userId, guestId, guestEmail }: Owned): MethodOwner | undefined => {
  if (organizationId !== undefined) return { organizationId };
  if (userId !== undefined) return { userId };
  return guestId !== undefined && guestEmail !== undefined ? { guestId, guestEmail } : undefined;
};

const nameOf = (owner: MethodOwner): string => {
  if ('organizationId' in owner) return `organization ${owner.organizationId}`;
  return 'userId' in owner ? `user ${owner.userId}` : `guest ${owner.guestId} ${owner.guestEmail}`;
};

/** May a method of this owner be charged? */
export const mayCharge = (owners: readonly MethodOwner[], method: Owned): boolean => {
  const owner = methodOwner(method);
  return owner !== undefined && owners.some((allowed) => nameOf(allowed) === nameOf(owner));
};

/** The same as a condition on the stored method. */
export const chargeableIf = (owners: readonly MethodOwner[]): readonly Clause[] => [
  { exists: true },
  { lacks: 'tombstone' },
  { any: owners.map(belongsTo) },
];

const belongsTo = (owner: MethodOwner): Clause => {
  if ('organizationId' in owner) return { equals: ['organizationId', owner.organizationId] };
  const personal: Clause = { lacks: 'organizationId' };
  if ('userId' in owner) return { every: [personal, { equals: ['userId', owner.userId] }] };
  return {
    every: [personal, { equals: ['guestId', owner.guestId] }, { equals: ['guestEmail', owner.guestEmail] }],
  };
};

/**
 * An organization's customers and addresses serve that organization only; whether the caller may name them is decided
 * before. @throws DomainError ORGANIZATION_ACCESS_DENIED
 */
export const requireSameOwner = (record: Pick<Owned, 'organizationId'>, organizationId: string | undefined): void => {
  if (record.organizationId === undefined || record.organizationId === organizationId) return;
  throw new DomainError('ORGANIZATION_ACCESS_DENIED', { message: 'It belongs to another organization' });
};

/**
 * What a payment saves is kept for its customer, so that customer belongs to the payment's owner. (A subscription saves
 * nothing, and may name the customer of a member whose method it is charged to.)
 * @throws DomainError ORGANIZATION_ACCESS_DENIED; INSUFFICIENT_PERMISSIONS for a member's own customer
 */
export const requirePayersCustomer = (
  customer: Pick<Owned, 'organizationId'>,
  organizationId: string | undefined,
): void => {
  requireSameOwner(customer, organizationId);
  if (customer.organizationId === organizationId) return;
  throw new DomainError('INSUFFICIENT_PERMISSIONS', {
    message: "An organization's payment takes a customer of the organization",
  });
};

/** @throws DomainError INSUFFICIENT_PERMISSIONS where the method does not pay for this payer, or is not the caller's. */
export const requireMayCharge = (owners: readonly MethodOwner[], method: Owned): void => {
  if (mayCharge(owners, method)) return;
  throw new DomainError('INSUFFICIENT_PERMISSIONS', {
    message: 'A payment method pays only for its owner: name another payment method',
  });
};
