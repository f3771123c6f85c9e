/** @module After a membership ends, the organization may no longer use the former member's payment methods. */

import { describe, expect, test } from 'vitest';
import { DAY_SECONDS, HOUR_SECONDS } from '../builders/seconds.ts';
import {
  changeTable,
  confirm,
  createIntent,
  IMPATIENT,
  PATIENT,
  partitionOf,
  read,
  signIn,
  type User,
} from './flow.ts';
import { type TestHost, withHost } from './host.ts';
import { addMember, newOrganization, newPerson } from './organization-steps.ts';
import { createCustomer, saveMethod } from './payers.ts';
import type { PaymentBody } from './routes.ts';
import { withStops } from './stops.ts';
import { OWN_BILLING, payer, readSubscription, subscribe, subscriptionEventsOf } from './subscribers.ts';
import { takenSince } from './use/charges.ts';

const SLOTS = {
  provider_a: 'pm_card_visa',
  provider_b: 'SIM-OK',
  provider_c: 'cnon:card-nonce-ok',
} as const;
type Slot = keyof typeof SLOTS;

/** Methods that can be saved, but decline every charge. */
const DECLINED: Readonly<Record<Slot, string>> = {
  provider_a: 'pm_card_chargeCustomerFail',
  provider_b: 'SIM-FAIL-LATER',
  provider_c: 'cnon:sim-fail-on-charge',
};

/** The ways to end a membership. */
const ENDINGS = ['is removed', 'leaves'] as const;
type Ending = (typeof ENDINGS)[number];

const WAYS = [
  ['provider_a', 'the provider', {}],
  ['provider_a', 'the service', OWN_BILLING],
  ['provider_b', 'the service', {}],
  ['provider_c', 'the service', {}],
] as const;

describe.each(WAYS)('a subscription at %s, billed by %s, with a member’s personal card', (slot, _, env) => {
  const service = withHost({ frozen: true, env });

  /** One amount per subscription, to tell the subscriptions apart in the ledger. */
  let amounts = 1_000;

  /** An organization with a monthly subscription on an admin's own card. */
  const lent = async (provider_id: Slot = slot) => {
    const owner = await newPerson(service);
    const admin = await newPerson(service);
    const organizationId = await newOrganization(service, owner);
    const memberId = await addMember(service, owner, { organizationId, email: admin.email, role: 'admin' });
    const personal = { provider_id, organization_id: null };
    const customer = await createCustomer(service, admin.options, personal);
    const token = { provider_payment_method_token: SLOTS[provider_id] };
    const method = await saveMethod(service, admin.options, { ...personal, ...token });
    const names = { customer_id: customer.id, payment_method_id: method.id, provider_id };
    const who = { options: admin.options, names };
    amounts += 1;
    const amount = amounts;
    const made = await subscribe(service, who, { organization_id: organizationId, total_cents: amount });
    expect(made.status).toBe('active');
    const path = `/organizations/${organizationId}/members`;
    const end = async (ending: Ending): Promise<void> => {
      const { status } =
        ending === 'leaves'
          ? await service.post(`/organizations/${organizationId}/leave`, {}, admin.options)
          : await service.request('DELETE', `${path}/${memberId}`, owner.options);
      expect(status).toBe(200);
    };
    const asOwner = { options: owner.options, names };
    const taken = async () => (await takenSince(service)).filter((charge) => charge.amount === amount);
    return {
      owner,
      admin,
      organizationId,
      taken,
      memberPath: `${path}/${memberId}`,
      method,
      customer,
      made,
      end,
      asOwner,
    };
  };

  test.each(ENDINGS)('is not charged after that member %s, and publishes the reason', async (ending) => {
    const { made, end, taken, asOwner } = await lent();
    await end(ending);
    await service.advance(32 * DAY_SECONDS);
    expect(await taken()).toHaveLength(1);
    expect(await readSubscription(service, asOwner, made.id)).toMatchObject({ status: 'past_due' });
    expect(await subscriptionEventsOf(service, made.id)).toContain('subscription.updated payment_method_unavailable');
    await service.advance(20 * DAY_SECONDS);
    expect(await taken()).toHaveLength(1);
  });

  test.each(['immediately', 'after the charge that was due'])(
    'lets that member delete their card and customer %s',
    async (when) => {
      const { admin, method, customer, end, taken } = await lent();
      await end('is removed');
      if (when !== 'immediately') await service.advance(32 * DAY_SECONDS);
      const { options } = admin;
      expect((await service.request('DELETE', `/payment-methods/${method.id}`, options)).status).toBe(204);
      expect((await service.request('DELETE', `/customers/${customer.id}`, options)).status).toBe(204);
      await service.advance(32 * DAY_SECONDS);
      expect(await taken()).toHaveLength(1);
    },
  );

  if (slot === 'provider_a' && env !== OWN_BILLING) {
    test('is not charged even if its collection is resumed on the provider’s dashboard', async () => {
      const { made, end, taken, asOwner } = await lent();
      await end('is removed');
      await service.advance(2 * HOUR_SECONDS);
      await service.control('POST', `/simulator/subscriptions/${made.id}`, { pause_collection: null });
      await service.advance(32 * DAY_SECONDS);
      expect(await taken()).toHaveLength(1);
      expect(await readSubscription(service, asOwner, made.id)).toMatchObject({ status: 'past_due' });
    });
  }

  test('is paid with a card that a remaining member names', async () => {
    const { owner, method, made, end, taken, asOwner } = await lent();
    await end('is removed');
    await service.advance(32 * DAY_SECONDS);
    const token = { provider_id: slot, provider_payment_method_token: SLOTS[slot], organization_id: null };
    const own = await saveMethod(service, owner.options, token);
    const body = { payment_method_id: own.id };
    const changed = await service.request('PATCH', `/subscriptions/${made.id}`, { ...owner.options, body });
    expect(changed.status).toBe(200);
    await service.advance(HOUR_SECONDS);
    expect(await readSubscription(service, asOwner, made.id)).toMatchObject({ status: 'active' });
    expect((await taken()).map(({ method: of }) => of)).toEqual([
      method.provider_payment_method_id,
      own.provider_payment_method_id,
    ]);
  });

  test('continues if the member gets a lower role', async () => {
    const { owner, memberPath, made, taken, asOwner } = await lent();
    expect((await service.put(memberPath, { role: 'member' }, owner.options)).status).toBe(200);
    await service.advance(32 * DAY_SECONDS);
    expect(await taken()).toHaveLength(2);
    expect(await readSubscription(service, asOwner, made.id)).toMatchObject({ status: 'active' });
  });

  test('is paid with another card of the returning member, even after a decline of the first card', async () => {
    const { owner, admin, organizationId, end, made, taken, asOwner } = await lent();
    await end('leaves');
    await service.advance(32 * DAY_SECONDS);
    expect(await readSubscription(service, asOwner, made.id)).toMatchObject({ status: 'past_due' });
    await addMember(service, owner, { organizationId, email: admin.email, role: 'admin' });
    const pay = async (token: string): Promise<unknown> => {
      const card = { provider_id: slot, organization_id: null };
      const { id } = await saveMethod(service, admin.options, { ...card, provider_payment_method_token: token });
      const path = `/subscriptions/${made.id}`;
      return (await service.request('PATCH', path, { ...admin.options, body: { payment_method_id: id } })).body;
    };
    await pay(DECLINED[slot]);
    expect(await taken()).toHaveLength(1);
    expect(await pay(SLOTS[slot])).toMatchObject({ status: 'active' });
    expect(await taken()).toHaveLength(2);
    await service.advance(32 * DAY_SECONDS);
    expect(await taken()).toHaveLength(3);
  });

  test('ends with its organization, and then the card and customer can be deleted', async () => {
    const { owner, admin, organizationId, taken, method, customer } = await lent();
    const deleted = await service.request('DELETE', `/organizations/${organizationId}`, owner.options);
    expect(deleted.status).toBe(200);
    await service.settle();
    expect((await service.request('DELETE', `/payment-methods/${method.id}`, admin.options)).status).toBe(204);
    expect((await service.request('DELETE', `/customers/${customer.id}`, admin.options)).status).toBe(204);
    await service.advance(32 * DAY_SECONDS);
    expect(await taken()).toHaveLength(1);
  });
});

describe('a Stripe-billed subscription whose method was removed', () => {
  const stoppable = withStops(IMPATIENT);

  test('survives the last retry day if the payer’s payment lost its response', async () => {
    const { service, watch, losing } = stoppable();
    const owner = await newPerson(service);
    const admin = await newPerson(service);
    const organizationId = await newOrganization(service, owner);
    await addMember(service, owner, { organizationId, email: admin.email, role: 'admin' });
    const { names } = await payer(service, admin.options, { fields: { organization_id: null } });
    const who = { options: admin.options, names };
    const { id } = await subscribe(service, who, { organization_id: organizationId });
    await service.post(`/organizations/${organizationId}/leave`, {}, admin.options);
    await service.advance(43 * DAY_SECONDS);
    await addMember(service, owner, { organizationId, email: admin.email, role: 'admin' });
    const change = async (token: string) => {
      const card = { provider_id: names.provider_id, organization_id: null, provider_payment_method_token: token };
      const method = await saveMethod(service, admin.options, card);
      return () =>
        service.request('PATCH', `/subscriptions/${id}`, { ...admin.options, body: { payment_method_id: method.id } });
    };
    const toDeclined = await change('pm_card_chargeCustomerFail');
    await service.webhookMode('drop');
    const calls = await watch(async () => expect((await toDeclined()).status).toBe(402));
    const toGood = await change('pm_card_visa');
    // The second change makes the same two calls. They set the method and then resume the collection.
    const collect = calls.lastIndexOf('POST /v1/subscriptions/:id') + 1;
    expect((await losing({ call: collect, executed: true }, toGood)).status).toBeGreaterThanOrEqual(500);
    await service.advance(5 * DAY_SECONDS);
    expect(await readSubscription(service, { options: owner.options, names }, id)).toMatchObject({ status: 'active' });
    await service.webhookMode('normal');
  });
});

/** Removes the membership without informing the subscription. */
const endSilently = async (service: TestHost, organizationId: string, userId: string): Promise<void> => {
  const items = await partitionOf(service, `ORG#${organizationId}`);
  const { pk, sk } = items.find((item) => item.sk !== 'ORG' && item.userId === userId);
  await changeTable(service, { remove: { pk, sk } });
};

describe('a service-billed subscription not informed of a removed membership', () => {
  const service = withHost({ frozen: true, env: OWN_BILLING });

  test.each([
    ['the renewal', 'pm_card_visa', 0],
    ['the retry of a declined charge', 'pm_card_chargeCustomerFail', 1],
  ])('sends the provider only reads at %s', async (_, token, trialDays) => {
    const owner = await newPerson(service);
    const admin = await newPerson(service);
    const organizationId = await newOrganization(service, owner);
    await addMember(service, owner, { organizationId, email: admin.email, role: 'admin' });
    const { names } = await payer(service, admin.options, { token, fields: { organization_id: null } });
    const who = { options: admin.options, names };
    const made = await subscribe(service, who, { organization_id: organizationId, trial_days: trialDays });
    const untilItFailed = trialDays * DAY_SECONDS + HOUR_SECONDS;
    await service.advance(untilItFailed);
    await endSilently(service, organizationId, admin.userId);
    await service.clearProviderRequests();
    await service.advance(trialDays === 0 ? 32 * DAY_SECONDS : 2 * DAY_SECONDS);
    // Reads are allowed, because the service may still read the first charge for its method and fee.
    const sent = (await service.providerRequests()).filter(({ method }) => method !== 'GET');
    expect(sent).toEqual([]);
    const shown = await readSubscription(service, { options: owner.options, names }, made.id);
    expect(shown).toMatchObject({ status: 'past_due' });
    expect(await subscriptionEventsOf(service, made.id)).toContain('subscription.updated payment_method_unavailable');
  });
});

describe('a service-billed subscription whose lender leaves between membership read and claim', () => {
  const stoppable = withStops({ ...PATIENT, ...OWN_BILLING });
  const CONFIRM = 'POST /v1/payment_intents/:id/confirm';

  /** Prepares a charge of a member's own card, due within a day. The charge is the first charge or a retry. */
  const beforeCharge = async (token: string, days: number) => {
    const { service } = stoppable();
    const [owner, admin] = [await newPerson(service), await newPerson(service)];
    const organizationId = await newOrganization(service, owner);
    await addMember(service, owner, { organizationId, email: admin.email, role: 'admin' });
    const { names } = await payer(service, admin.options, { token, fields: { organization_id: null } });
    const fields = { organization_id: organizationId, trial_days: 1 };
    const { id } = await subscribe(service, { options: admin.options, names }, fields);
    if (days > 1) await service.advance((days - 1) * DAY_SECONDS + HOUR_SECONDS);
    return {
      leave: () => endSilently(service, organizationId, admin.userId),
      // This subscription's due work must not run while the next subscription is tested.
      end: () => service.post(`/subscriptions/${id}/cancel`, { cancel_at_period_end: false }, owner.options),
    };
  };
  const confirmations = async (): Promise<number> => {
    const { service } = stoppable();
    await service.settle();
    const called = await service.providerRequests();
    return called.filter(({ path }) => path.endsWith('/confirm')).length;
  };

  test.each([
    ['a renewal', 'pm_card_visa', 1],
    ['the retry of a declined charge', 'pm_card_chargeCustomerFail', 2],
  ])('does not charge the card at %s', async (_, token, days) => {
    const { service, watch, overtaken } = stoppable();
    const charge = async (): Promise<void> => {
      await service.advance(DAY_SECONDS + HOUR_SECONDS);
      await service.settle();
    };
    const first = await beforeCharge(token, days);
    const calls = await watch(charge);
    await first.end();
    const claim = calls.lastIndexOf('TransactWriteItems', calls.indexOf(CONFIRM)) + 1;
    expect(claim).toBeGreaterThan(1);
    for (let at = 1; at < claim; at += 1) {
      const { leave, end } = await beforeCharge(token, days);
      const before = await confirmations();
      await overtaken(at, leave, charge);
      const where = `${at} of ${calls.join(', ')}`;
      expect({ where, confirmed: (await confirmations()) - before }).toEqual({ where, confirmed: 0 });
      await end();
      await service.settle();
    }
  });
});

describe('an organization’s payment with a former member’s personal card', () => {
  const service = withHost({ frozen: true });

  test.each(Object.entries(SLOTS))(
    'is not charged at %s, neither for the former member nor for the owner',
    async (slot, token) => {
      const owner = await newPerson(service);
      const billing = await newPerson(service);
      const organizationId = await newOrganization(service, owner);
      const memberId = await addMember(service, owner, { organizationId, email: billing.email, role: 'billing' });
      const fields = { provider_id: slot, provider_payment_method_token: token };
      const { id } = await saveMethod(service, billing.options, fields);
      const names = { provider_id: slot, payment_method_id: id, organization_id: organizationId };
      const payment: PaymentBody = await createIntent(service, billing, names);
      await service.request('DELETE', `/organizations/${organizationId}/members/${memberId}`, owner.options);
      await service.clearProviderRequests();
      const path = `/payments/intents/${payment.id}`;
      const raise = (user: User) => service.put(path, { total_cents: 99_900 }, user.options);
      const denied = { status: 403, body: { code: 'ORGANIZATION_ACCESS_DENIED' } };
      const without = { status: 400, body: { code: 'PAYMENT_METHOD_REQUIRED' } };
      expect(await raise(billing)).toMatchObject(denied);
      expect(await confirm(service, payment.id, billing.options)).toMatchObject(denied);
      expect(await raise(owner)).toMatchObject(without);
      expect(await confirm(service, payment.id, owner.options)).toMatchObject(without);
      expect(await service.providerRequests()).toEqual([]);
      const shown = await read(service, payment.id, owner.options);
      expect(shown).toMatchObject({ status: 'created', total_cents: payment.total_cents });
      const again = await signIn(service, { user_id: owner.userId });
      const named = await confirm(service, payment.id, { ...again.options, body: { payment_method_id: token } });
      expect(named).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    },
  );
});
