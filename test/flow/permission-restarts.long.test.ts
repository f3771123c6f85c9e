/** @module A stopped subscription can be restarted only by a caller who may charge its method. */

import { describe, expect, test } from 'vitest';
import { DAY_SECONDS, HOUR_SECONDS } from '../builders/seconds.ts';
import { withHost } from './host.ts';
import { addMember, newOrganization, newPerson, type UserWithEmail } from './organization-steps.ts';
import { saveMethod } from './payers.ts';
import type { ParsedJson } from './routes.ts';
import { command, OWN_BILLING, patch, payer, readSubscription, type Subscriber, subscribe } from './subscribers.ts';
import { type Taken, takenSince } from './use/charges.ts';

const WAYS = [
  ['provider_a', 'the provider', {}, 'pm_card_visa'],
  ['provider_a', 'the service', OWN_BILLING, 'pm_card_visa'],
  ['provider_c', 'the service', {}, 'cnon:card-nonce-ok'],
] as const;

/** After each stop, the current period stays paid. A restart therefore charges nothing until the next period. */
const STOPS = [
  ['canceled immediately', 'cancel', { cancel_at_period_end: false }, 'reactivate'],
  ['canceled at the end of its period', 'cancel', { cancel_at_period_end: true }, 'reactivate'],
  ['paused', 'pause', {}, 'resume'],
] as const;

const DENIED = { status: 403, body: { code: 'INSUFFICIENT_PERMISSIONS' } };

describe.each(WAYS)('a subscription at %s, billed by %s, with a member’s personal card', (...[slot, _, env, token]) => {
  const service = withHost({ frozen: true, env });

  interface Lent {
    readonly asLender: Subscriber;
    readonly asOwner: Subscriber;
    readonly owner: UserWithEmail;
    readonly organizationId: string;
    readonly memberId: string;
    readonly made: ParsedJson;
    readonly charges: () => Promise<readonly Taken[]>;
  }

  /** One amount per subscription, to tell the subscriptions apart in the ledger. */
  let amounts = 1_000;

  const lent = async (): Promise<Lent> => {
    const owner = await newPerson(service);
    const lender = await newPerson(service);
    const organizationId = await newOrganization(service, owner);
    const memberId = await addMember(service, owner, { organizationId, email: lender.email, role: 'billing' });
    const personal = { provider_id: slot, organization_id: null };
    const asLender = await payer(service, lender.options, { token, fields: personal });
    amounts += 1;
    const total_cents = amounts;
    const made = await subscribe(service, asLender, { organization_id: organizationId, total_cents });
    const charges = async () => (await takenSince(service)).filter(({ amount }) => amount === total_cents);
    const asOwner = { ...asLender, options: owner.options };
    return { asLender, asOwner, owner, organizationId, memberId, made, charges };
  };

  describe.each(STOPS)('after the member has %s it', (...[__, stop, body, comeBack]) => {
    test('cannot be restarted by another member', async () => {
      const { asLender, asOwner, made, charges } = await lent();
      expect(await command(service, asLender, { id: made.id, name: stop, body })).toMatchObject({ status: 200 });
      const before = await readSubscription(service, asOwner, made.id);
      await service.settle();
      await service.clearProviderRequests();
      expect(await command(service, asOwner, { id: made.id, name: comeBack })).toMatchObject(DENIED);
      expect(await service.providerRequests()).toEqual([]);
      expect(await readSubscription(service, asOwner, made.id)).toEqual(before);
      await service.advance(32 * DAY_SECONDS);
      expect(await charges()).toHaveLength(1);
    });

    test('can be restarted by that member', async () => {
      const { asLender, made, charges } = await lent();
      await command(service, asLender, { id: made.id, name: stop, body });
      expect(await command(service, asLender, { id: made.id, name: comeBack })).toMatchObject({
        status: 200,
        body: { status: 'active', cancel_at_period_end: false },
      });
      await service.advance(32 * DAY_SECONDS);
      expect(await charges()).toHaveLength(2);
    });

    test('does not restart with that card after the membership ends', async () => {
      const { asLender, asOwner, owner, organizationId, memberId, made, charges } = await lent();
      await command(service, asLender, { id: made.id, name: stop, body });
      const path = `/organizations/${organizationId}/members/${memberId}`;
      expect((await service.request('DELETE', path, owner.options)).status).toBe(200);
      const asFormer = { status: 403, body: { code: 'ORGANIZATION_ACCESS_DENIED' } };
      expect(await command(service, asLender, { id: made.id, name: comeBack })).toMatchObject(asFormer);
      await command(service, asOwner, { id: made.id, name: comeBack });
      await service.advance(32 * DAY_SECONDS);
      expect(await charges()).toHaveLength(1);
    });
  });

  test('continues after a scheduled end with a card named by another member', async () => {
    const { asLender, asOwner, made, charges } = await lent();
    await command(service, asLender, { id: made.id, name: 'cancel' });
    const fields = { provider_id: slot, provider_payment_method_token: token, organization_id: null };
    const own = await saveMethod(service, asOwner.options, fields);
    expect(await patch(service, asOwner, { id: made.id, body: { payment_method_id: own.id } })).toMatchObject({
      status: 200,
    });
    await service.advance(HOUR_SECONDS);
    expect(await command(service, asOwner, { id: made.id, name: 'reactivate' })).toMatchObject({
      status: 200,
      body: { status: 'active', cancel_at_period_end: false },
    });
    await service.advance(32 * DAY_SECONDS);
    const [, renewal] = await charges();
    expect(renewal).toMatchObject({ method: own.provider_payment_method_id });
  });
});
