/**
 * @module A payer never decides for the merchant about their own payment. Refunds, captures, releases and merchant-only
 * prices need a person of the merchant who is neither the payer nor a member of the paying organization. A service key
 * counts as its creator and as the receiver of its secret by a rotation.
 */

import { DomainError } from '../core/errors.ts';
import type { Clause } from '../platform/expression.ts';
import { emailHash, memberKey } from '../platform/keys.ts';
import type { Table } from '../platform/table.ts';
import { scopeMissing } from './access.ts';
import { type Caller, mayAsMerchant } from './caller.ts';
import { ROLES, type Role } from './permissions.ts';
import type { Owned } from './record-kind.ts';
import { type CallerRight, NO_CONDITIONS } from './right.ts';
import type { Scope } from './scopes.ts';
import { roleOf } from './standing.ts';

/** The deciding person; for a key, every possible holder of its secret. */
interface Decider {
  readonly userIds: readonly string[];
  readonly emailHash: string | undefined;
  /** The roles in the paying organization with which the person may not decide. */
  readonly bindingRoles: readonly Role[];
}

/**
 * The caller as a decider; undefined if the caller cannot decide. For a key, only the role owner binds, because an
 * owner may add the key's creator as a member without consent.
 */
const deciderOf = (caller: Caller): Decider | undefined => {
  if (caller.kind === 'key') {
    const { holders, holderEmailHash } = caller.key;
    return { userIds: holders, emailHash: holderEmailHash, bindingRoles: ['owner'] };
  }
  if (caller.kind !== 'session') return undefined;
  return {
    userIds: [caller.userId],
    emailHash: caller.email === undefined ? undefined : emailHash(caller.email),
    bindingRoles: ROLES,
  };
};

/**
 * True if the decider is the payer or a member of the paying organization with a binding role.
 * @param roles the decider's roles in the record's organization
 */
const isOwnPayment = (
  { userIds, emailHash: hash, bindingRoles }: Decider,
  { userId, guestEmail }: Owned,
  roles: readonly (Role | undefined)[],
): boolean =>
  (userId !== undefined && userIds.includes(userId)) ||
  (guestEmail !== undefined && emailHash(guestEmail) === hash) ||
  roles.some((role) => role !== undefined && bindingRoles.includes(role));

const decidesFreely = ({ bindingRoles }: Decider): Clause => ({
  any: [{ absent: true }, { every: bindingRoles.map((role) => ({ differs: ['role', role] as const })) }],
});

/** Whether the caller may decide for the merchant about a payment or subscription. */
export type MerchantDecision =
  /** The write of the decision must include the right's conditions. */
  | { readonly kind: 'allowed'; readonly right: CallerRight }
  | { readonly kind: 'no scope' | 'own payment'; readonly refusal: DomainError };

interface Asked {
  readonly caller: Caller;
  /** The payment or subscription. */
  readonly record: Owned;
  readonly scope: Scope;
}

/** Decides whether the caller may decide about this payment. Reads the decider's roles if an organization pays. */
export const ownPayment = async (
  table: Pick<Table, 'get'>,
  { caller, record, scope }: Asked,
): Promise<MerchantDecision> => {
  const decider = mayAsMerchant(caller, scope) ? deciderOf(caller) : undefined;
  if (decider === undefined) return { kind: 'no scope', refusal: scopeMissing(scope) };
  const { organizationId } = record;
  const members = organizationId === undefined ? [] : decider.userIds.map((id) => memberKey(organizationId, id));
  const isOwn = async () =>
    isOwnPayment(decider, record, (await Promise.all(members.map((member) => table.get(member)))).map(roleOf));
  if (await isOwn()) return { kind: 'own payment', refusal: ownPaymentError() };
  if (members.length === 0) return { kind: 'allowed', right: NO_CONDITIONS };
  const requireStill = async (): Promise<void> => {
    if (await isOwn()) throw ownPaymentError();
  };
  const onlyIf = members.map((member) => ({ check: member, if: [decidesFreely(decider)] }));
  return { kind: 'allowed', right: { onlyIf, requireStill } };
};

/**
 * @returns conditions for the write of the decision
 * @throws DomainError INSUFFICIENT_PERMISSIONS without the scope, or if the decider is the payer or a member of the
 * paying organization
 */
export const requireOthersPayment = async (table: Pick<Table, 'get'>, asked: Asked): Promise<CallerRight> => {
  const decision = await ownPayment(table, asked);
  if (decision.kind !== 'allowed') throw decision.refusal;
  return decision.right;
};

const ownPaymentError = (): DomainError =>
  new DomainError('INSUFFICIENT_PERMISSIONS', {
    message: 'You or your organization pays this, so another person of the merchant must decide',
    details: { reason: 'own_payment' },
  });
