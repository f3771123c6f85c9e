/**
 * @module An organization's subscription may use a member's own customer. This gives the member no rights to the
 * subscription.
 */

import { describe, expect, test } from 'vitest';
import { DAY_SECONDS, HOUR_SECONDS } from '../builders/seconds.ts';
import { withHost } from './host.ts';
import { addMember, newOrganization, newPerson, type UserWithEmail } from './organization-steps.ts';
import { saveMethod } from './payers.ts';
import type { ParsedJson } from './routes.ts';
import { command, OWN_BILLING, patch, payer, readSubscription, type Subscriber, subscribe } from './subscribers.ts';
import { takenSince } from './use/charges.ts';

const WAYS = [
  ['provider_a', 'the provider', {}, 'pm_card_visa'],
  ['provider_a', 'the service', OWN_BILLING, 'pm_card_visa'],
  ['provider_c', 'the service', {}, 'cnon:card-nonce-ok'],
] as const;

describe.each(WAYS)('a subscription of an organization at %s, billed by %s', (...[slot, _, env, token]) => {
  const service = withHost({ frozen: true, env });
  const card = { provider_id: slot, provider_payment_method_token: token };
  const PERSONAL = { organization_id: null } as const;

  /** One amount per subscription, to tell the subscriptions apart in the ledger. */
  let amounts = 1_000;

  interface Prepared {
    readonly owner: UserWithEmail;
    readonly member: UserWithEmail;
    readonly asMember: Subscriber;
    readonly asOwner: Subscriber;
    readonly made: ParsedJson;
    readonly organizationId: string;
    readonly charges: () => Promise<(string | undefined)[]>;
    readonly removeMember: () => Promise<void>;
    readonly lowerMember: () => Promise<void>;
    readonly deleteCustomer: () => Promise<number>;
  }

  const prepare = async (paysWith: 'own card' | 'card of the organization'): Promise<Prepared> => {
    const owner = await newPerson(service);
    const member = await newPerson(service);
    const organizationId = await newOrganization(service, owner);
    const memberId = await addMember(service, owner, { organizationId, email: member.email, role: 'admin' });
    const own = await payer(service, member.options, { token, fields: { provider_id: slot, ...PERSONAL } });
    const theirs = await saveMethod(service, owner.options, { ...card, organization_id: organizationId });
    const isOwn = paysWith === 'own card';
    const names = { ...own.names, ...(!isOwn && { payment_method_id: theirs.id }) };
    const asMember = { options: member.options, names };
    amounts += 1;
    const total_cents = amounts;
    const made = await subscribe(service, asMember, { organization_id: organizationId, total_cents });
    const path = `/organizations/${organizationId}/members/${memberId}`;
    return {
      owner,
      member,
      asMember,
      asOwner: { options: owner.options, names },
      made,
      organizationId,
      charges: async () =>
        (await takenSince(service)).filter(({ amount }) => amount === total_cents).map(({ method }) => method),
      removeMember: async () => {
        expect((await service.request('DELETE', path, owner.options)).status).toBe(200);
        await service.settle();
      },
      lowerMember: async () => {
        expect((await service.put(path, { role: 'member' }, owner.options)).status).toBe(200);
      },
      deleteCustomer: async () => {
        const { status } = await service.request('DELETE', `/customers/${names.customer_id}`, member.options);
        await service.settle();
        return status;
      },
    };
  };

  const ownCardOf = (who: UserWithEmail) => saveMethod(service, who.options, { ...card, ...PERSONAL });

  test('switches to the customer of the new card, and survives the deletion of the former customer', async () => {
    const { owner, asOwner, made, removeMember, deleteCustomer, charges } = await prepare('own card');
    await removeMember();
    const own = await ownCardOf(owner);
    const changed = await patch(service, asOwner, { id: made.id, body: { payment_method_id: own.id } });
    expect(changed).toMatchObject({ status: 200, body: { status: 'active', customer_id: own.customer_id } });
    expect(await deleteCustomer()).toBe(204);
    await service.advance(32 * DAY_SECONDS);
    expect(await readSubscription(service, asOwner, made.id)).toMatchObject({ status: 'active' });
    expect(await charges()).toHaveLength(2);
    expect((await charges())[1]).toBe(own.provider_payment_method_id);
  });

  test.each(['removed', 'lowered'])(
    'continues with the organization’s card if a %s member deletes the subscription’s customer',
    async (how) => {
      const { asMember, asOwner, made, charges, removeMember, lowerMember, deleteCustomer } =
        await prepare('card of the organization');
      await (how === 'removed' ? removeMember() : lowerMember());
      const body = { cancel_at_period_end: false };
      expect((await command(service, asMember, { id: made.id, name: 'cancel', body })).status).toBe(403);
      expect(await deleteCustomer()).toBe(204);
      const shown = await readSubscription(service, asOwner, made.id);
      expect(shown).toMatchObject({ status: 'active', payment_method_id: made.payment_method_id });
      expect(shown.customer_id).not.toBe(made.customer_id);
      await service.advance(32 * DAY_SECONDS);
      expect(await readSubscription(service, asOwner, made.id)).toMatchObject({ status: 'active' });
      expect(await charges()).toHaveLength(2);
    },
  );

  test('can be reactivated by the owner after its customer is deleted', async () => {
    const { owner, asOwner, made, charges, removeMember, deleteCustomer } = await prepare('own card');
    await command(service, asOwner, { id: made.id, name: 'cancel', body: { cancel_at_period_end: false } });
    await removeMember();
    expect(await deleteCustomer()).toBe(204);
    const own = await ownCardOf(owner);
    expect(await patch(service, asOwner, { id: made.id, body: { payment_method_id: own.id } })).toMatchObject({
      status: 200,
    });
    expect(await command(service, asOwner, { id: made.id, name: 'reactivate' })).toMatchObject({
      status: 200,
      body: { status: 'active', customer_id: own.customer_id },
    });
    await service.advance(32 * DAY_SECONDS);
    expect((await charges())[1]).toBe(own.provider_payment_method_id);
  });

  test('is canceled when the organization’s own customer is deleted', async () => {
    const { owner, organizationId } = await prepare('own card');
    const names = await payer(service, owner.options, {
      token,
      fields: { provider_id: slot, organization_id: organizationId },
    });
    const made = await subscribe(service, names, { organization_id: organizationId });
    const path = `/customers/${names.names.customer_id}`;
    expect((await service.request('DELETE', path, owner.options)).status).toBe(204);
    expect(await readSubscription(service, names, made.id)).toMatchObject({ status: 'canceled' });
  });
});

describe('an organization’s subscription with a member’s card after the member’s customer is deleted', () => {
  const service = withHost({ frozen: true, env: OWN_BILLING });

  test('continues without the card until another member’s card pays', async () => {
    const owner = await newPerson(service);
    const member = await newPerson(service);
    const organization_id = await newOrganization(service, owner);
    await addMember(service, owner, { organizationId: organization_id, email: member.email, role: 'billing' });
    const asMember = await payer(service, member.options, { token: 'pm_card_visa', fields: { organization_id: null } });
    const made = await subscribe(service, asMember, { organization_id });
    const path = `/customers/${asMember.names.customer_id}`;
    expect((await service.request('DELETE', path, member.options)).status).toBe(204);
    const asOwner = { ...asMember, options: owner.options };
    expect(await readSubscription(service, asOwner, made.id)).toMatchObject({
      status: 'active',
      payment_method_id: null,
    });
    await service.advance(32 * DAY_SECONDS);
    expect(await readSubscription(service, asOwner, made.id)).toMatchObject({ status: 'past_due' });
    const own = await saveMethod(service, owner.options, { organization_id: null });
    expect(await patch(service, asOwner, { id: made.id, body: { payment_method_id: own.id } })).toMatchObject({
      status: 200,
    });
    await service.advance(HOUR_SECONDS);
    expect(await readSubscription(service, asOwner, made.id)).toMatchObject({ status: 'active' });
  });
});
