/**
 * @module Decides which payment methods a caller may charge. A method pays only for its owner. A user's own method may
 * also pay for an organization if the same user names it and may pay there (the endpoint has checked that permission).
 * The rule is a list of owners, so the check of a record and the condition of a write are identical.
 */

import { DomainError } from '../core/errors.ts';
import type { Clause } from '../platform/expression.ts';
import type { Caller } from './caller.ts';
import type { Owned } from './record-kind.ts';

export type MethodOwner =
  | { readonly organizationId: string }
  | { readonly userId: string }
  | { readonly guestId: string; readonly guestEmail: string };

/**
 * The owners whose methods the caller may charge for this payer. The payer is the owner of the payment or subscription.
 */
export const payingOwners = (caller: Caller, payer: Owned): readonly MethodOwner[] => {
  const { organizationId, userId, guestId, guestEmail } = payer;
  if (organizationId !== undefined) {
    return [{ organizationId }, ...(caller.kind === 'session' ? [{ userId: caller.userId }] : [])];
  }
  if (userId !== undefined) return caller.kind === 'session' && caller.userId === userId ? [{ userId }] : [];
  return guestId !== undefined && guestEmail !== undefined ? [{ guestId, guestEmail }] : [];
};

/** The owner of a record, which is its organization, else its user, else its guest. */
export const methodOwner = ({ organizationId, userId, guestId, guestEmail }: Owned): MethodOwner | undefined => {
  if (organizationId !== undefined) return { organizationId };
  if (userId !== undefined) return { userId };
  return guestId !== undefined && guestEmail !== undefined ? { guestId, guestEmail } : undefined;
};

const nameOf = (owner: MethodOwner): string => {
  if ('organizationId' in owner) return `organization ${owner.organizationId}`;
  return 'userId' in owner ? `user ${owner.userId}` : `guest ${owner.guestId} ${owner.guestEmail}`;
};

/** True if one of these owners owns the method. */
export const mayCharge = (owners: readonly MethodOwner[], method: Owned): boolean => {
  const owner = methodOwner(method);
  return owner !== undefined && owners.some((allowed) => nameOf(allowed) === nameOf(owner));
};

/** `mayCharge` as a condition on the stored method. */
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
 * An organization's customers and addresses are for that organization only. The access rule has already checked whether
 * the caller may name them.
 * @throws DomainError ORGANIZATION_ACCESS_DENIED
 */
export const requireSameOwner = (record: Pick<Owned, 'organizationId'>, organizationId: string | undefined): void => {
  if (record.organizationId === undefined || record.organizationId === organizationId) return;
  throw new DomainError('ORGANIZATION_ACCESS_DENIED', {
    message: 'The customer or address belongs to another organization',
  });
};

/**
 * True if a guest names a customer of another guest_id with the same e-mail. Without a token, a guest may name a
 * customer and a method of different guest_ids. Then the request runs under the method's guest_id and customer.
 */
export const isOfOtherGuest = (caller: Caller, { guestId }: Pick<Owned, 'guestId'>): boolean =>
  caller.kind === 'guest' && guestId !== caller.guestId;

/**
 * The customer of a payment must belong to the payment's organization, or to no organization if the payment has none.
 * The reason is that the payment may save its method for this customer. Subscriptions save no method, so this rule does
 * not apply to them.
 * @throws DomainError ORGANIZATION_ACCESS_DENIED; INSUFFICIENT_PERMISSIONS for a member's own customer
 */
export const requirePayersCustomer = (
  customer: Pick<Owned, 'organizationId'>,
  organizationId: string | undefined,
): void => {
  requireSameOwner(customer, organizationId);
  if (customer.organizationId === organizationId) return;
  throw new DomainError('INSUFFICIENT_PERMISSIONS', {
    message: "The customer must belong to the payment's organization",
  });
};

/** @throws DomainError INSUFFICIENT_PERMISSIONS if none of these owners owns the method */
export const requireMayCharge = (owners: readonly MethodOwner[], method: Owned): void => {
  if (mayCharge(owners, method)) return;
  throw new DomainError('INSUFFICIENT_PERMISSIONS', {
    message: 'The payment method belongs to another owner; use a payment method of the payer',
  });
};
