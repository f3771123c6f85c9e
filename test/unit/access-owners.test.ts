import { describe, expect, test } from 'vitest';
import { decideAccess, decideScope, decideShowing, standingRefusal } from '../../shared/access/access.ts';
import { actorOfCaller } from '../../shared/access/caller.ts';
import {
  methodOwner,
  payingOwners,
  requireMayCharge,
  requirePayersCustomer,
  requireSameOwner,
} from '../../shared/access/may-charge.ts';
import { type Owned, ownerFieldsOf, ownerIdsOf, ownerOfRecord } from '../../shared/access/record-kind.ts';
import type { Standing } from '../../shared/access/standing.ts';
import { guest, session } from '../builders/api-request.ts';
import { refusalOf } from '../builders/refusal.ts';

const ANONYMOUS = { kind: 'anonymous' } as const;
const admin = session({ userId: 'user_9', isAdmin: true });
const standing = (role: Standing['role'], exists = true): Standing => ({ organizationId: 'org_1', exists, role });
const owned = { resource: 'payment', rule: 'owned', readScope: 'payments:read' } as const;
const project = { resource: 'project', rule: 'project' } as const;
const ofOrg: Owned = { userId: 'user_2', organizationId: 'org_1' };
const mineInOrg: Owned = { userId: 'user_1', organizationId: 'org_1' };

describe('an access decision', () => {
  test('lets a platform admin see another owner’s record without the payer-only fields', () => {
    const decision = decideAccess('read', { caller: admin, kind: owned, record: { userId: 'user_2' } });
    expect(decision).toEqual({ kind: 'granted', canWrite: false, asAdmin: true });
  });

  test('names the role or the owner as the reason when it refuses a platform admin', () => {
    const refusal = (record: Owned, role: Standing['role']) => {
      const asked = { caller: admin, kind: owned, record, standing: standing(role) };
      const decision = decideAccess('canManagePayments', asked);
      return decision.kind === 'refused' ? decision.error : undefined;
    };
    expect(refusal(ofOrg, 'member')?.details).toEqual({ role: 'member', permission: 'canManagePayments' });
    expect(refusal({ userId: 'user_2' }, undefined)).toMatchObject({
      message: "Platform admins cannot do this to another owner's record",
      details: undefined,
    });
  });

  test('lets every current member, but no former member, perform a member action', () => {
    const decide = (role: Standing['role']) =>
      decideAccess('member', { caller: session(), kind: owned, record: ofOrg, standing: standing(role) });
    expect(decide('member')).toEqual({ kind: 'granted', canWrite: true });
    expect(decide(undefined)).toMatchObject({ kind: 'refused', error: { code: 'ORGANIZATION_ACCESS_DENIED' } });
  });

  test('shows a record to its creator who has left the organization, but allows no change', () => {
    const asked = { caller: session(), kind: owned, record: mineInOrg };
    expect(decideAccess('read', { ...asked, standing: standing('billing') })).toMatchObject({ canWrite: true });
    expect(decideAccess('read', { ...asked, standing: standing(undefined) })).toMatchObject({ canWrite: false });
  });

  test('lets the owner of a project change it in any role', () => {
    const asked = { caller: session(), kind: project, record: mineInOrg };
    expect(decideAccess('read', asked)).toEqual({ kind: 'granted', canWrite: true });
    expect(decideAccess('read', { ...asked, record: ofOrg })).toMatchObject({ kind: 'needs standing' });
  });

  test('lets a guest filter by any project, and change no project', () => {
    const decision = decideAccess('read', { caller: guest(), kind: project, record: ofOrg });
    expect(decision).toEqual({ kind: 'granted', canWrite: false });
  });

  test('names the field project_id when it refuses a project', () => {
    const decision = decideAccess('canManagePayments', { caller: guest(), kind: project, record: ofOrg });
    expect(decision).toMatchObject({ kind: 'refused', error: { details: { path: 'project_id' } } });
  });

  test.each(['open', 'project'] as const)(
    'shows the whole record to its owner under the rule %s, without a membership lookup',
    (rule) => {
      const asked = {
        caller: session(),
        kind: { resource: 'product', rule, readScope: 'payments:read' as const },
        record: mineInOrg,
      };
      expect(decideShowing(asked)).toEqual({ kind: 'granted', canWrite: true });
      expect(decideShowing({ ...asked, caller: admin })).toMatchObject({ asAdmin: true });
    },
  );

  test('marks the access of a platform admin who is not a member of the organization as admin access', () => {
    expect(
      decideScope('read', { caller: session(), standing: standing('member'), scopes: { merchant: 'payments:read' } }),
    ).toEqual({ kind: 'granted' });
    expect(
      decideScope('read', { caller: admin, standing: standing(undefined), scopes: { merchant: 'payments:read' } }),
    ).toEqual({ kind: 'granted', asAdmin: true });
    expect(standingRefusal(standing('owner', false), 'read')?.message).toBe('No access to this organization');
    expect(standingRefusal(standing('member'), 'member')).toBeUndefined();
  });
});

describe('the owner of a record', () => {
  const all: Owned = { userId: 'user_1', organizationId: 'org_1', guestId: 'gst_1', guestEmail: 'a@b.example' };
  const { organizationId: _, ...personal } = all;
  const { userId: __, ...ofGuest } = personal;

  test('is its organization, else its user, else its guest', () => {
    expect(ownerOfRecord(all)).toEqual({ kind: 'organization', organizationId: 'org_1' });
    expect(ownerOfRecord(personal)).toEqual({ kind: 'user', userId: 'user_1' });
    expect(ownerOfRecord(ofGuest)).toEqual({ kind: 'guest', guestId: 'gst_1', email: 'a@b.example' });
    expect(ownerOfRecord({})).toBeUndefined();
  });

  test('has the guest’s id in place of the e-mail after an erasure, so the record stays listed', () => {
    expect(ownerOfRecord({ guestId: 'gst_1' })).toEqual({ kind: 'guest', guestId: 'gst_1', email: 'gst_1' });
  });

  test('is described by the four owner fields of the record, and by no other field', () => {
    expect(ownerIdsOf({ ...all, ...{ status: 'created' } })).toEqual(all);
  });

  test('follows the same rule for a payment method, but a guest needs both an id and an e-mail', () => {
    expect(methodOwner(all)).toEqual({ organizationId: 'org_1' });
    expect(methodOwner(personal)).toEqual({ userId: 'user_1' });
    expect(methodOwner(ofGuest)).toEqual(ofGuest);
    for (const part of [{ guestId: 'gst_1' }, { guestEmail: 'a@b.example' }, {}]) {
      expect(methodOwner(part)).toBeUndefined();
      expect(payingOwners(guest(), part)).toEqual([]);
    }
  });

  test('sets the owner fields of a new record', () => {
    expect(ownerFieldsOf({ kind: 'organization', organizationId: 'org_1' }, session())).toEqual({
      organizationId: 'org_1',
    });
    expect(ownerFieldsOf({ kind: 'user', userId: 'user_1' }, session())).toEqual({ userId: 'user_1' });
    const owner = { kind: 'guest', guestId: 'gst_1', email: 'a@b.example' } as const;
    expect(ownerFieldsOf(owner, session())).toEqual({ guestId: 'gst_1', guestEmail: 'a@b.example' });
    expect(ownerFieldsOf(owner, guest())).toEqual({ guestId: 'gst_1', guestEmail: 'ada@example.com' });
  });
});

describe('a record that a request names', () => {
  test.each([
    [undefined, undefined],
    [undefined, 'org_1'],
    ['org_1', 'org_1'],
  ])(
    'is accepted if the record’s organization is %s and the requested organization is %s',
    (organizationId, wanted) => {
      expect(() => requireSameOwner({ organizationId }, wanted)).not.toThrow();
    },
  );

  test.each([undefined, 'org_2'])(
    'is refused if an organization owns the record and the request is for another owner: %s',
    (wanted) => {
      for (const require of [requireSameOwner, requirePayersCustomer]) {
        expect(refusalOf(() => require({ organizationId: 'org_1' }, wanted))).toMatchObject({
          code: 'ORGANIZATION_ACCESS_DENIED',
          message: 'The customer or address belongs to another organization',
        });
      }
    },
  );

  test('must belong to the organization if it is the customer of an organization’s payment', () => {
    expect(() => requirePayersCustomer({ organizationId: 'org_1' }, 'org_1')).not.toThrow();
    expect(() => requirePayersCustomer({}, undefined)).not.toThrow();
    expect(refusalOf(() => requirePayersCustomer({}, 'org_1'))).toMatchObject({
      code: 'INSUFFICIENT_PERMISSIONS',
      message: "The customer must belong to the payment's organization",
    });
  });

  test('is refused with advice if it is a payment method that the caller may not charge', () => {
    expect(refusalOf(() => requireMayCharge([], { userId: 'user_1' })).message).toBe(
      'The payment method belongs to another owner; use a payment method of the payer',
    );
  });
});

test('the history names the caller as a user, a platform admin who acts on another’s record, or a guest', () => {
  expect(actorOfCaller(session(), false)).toEqual({ type: 'user', id: 'user_1' });
  expect(actorOfCaller(admin, true)).toEqual({ type: 'admin', id: 'user_9' });
  expect(actorOfCaller(guest(), false)).toEqual({ type: 'guest', id: 'gst_1' });
  expect(actorOfCaller(ANONYMOUS, false)).toEqual({ type: 'guest', id: 'anonymous' });
});
