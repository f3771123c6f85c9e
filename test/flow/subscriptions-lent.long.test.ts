/**
 * @module A member's own card pays for an organization's Stripe-billed subscription. The membership ends while work is
 * in progress. Work that resumes later must not charge the card.
 */

import { beforeEach, describe, expect, test } from 'vitest';
import { MINUTE_MS } from '../../shared/core/time.ts';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { PATIENT } from './flow.ts';
import type { TestAnswer } from './host.ts';
import { addMember, newOrganization, newPerson, type UserWithEmail } from './organization-steps.ts';
import { saveMethod } from './payers.ts';
import type { MethodBody, ParsedJson } from './routes.ts';
import { withStops } from './stops.ts';
import { command, patch, payer, readSubscription, type Subscriber, subscribe, trySubscribe } from './subscribers.ts';
import { takenSince } from './use/charges.ts';

const stoppable = withStops(PATIENT);

beforeEach(async () => {
  await stoppable().service.webhookMode('normal');
  await stoppable().service.clearFaults();
});

interface Team {
  readonly organizationId: string;
  readonly owner: UserWithEmail;
  readonly admin: UserWithEmail;
  /** The owner removes the admin from the organization. */
  readonly end: () => Promise<void>;
}

const team = async (): Promise<Team> => {
  const { service } = stoppable();
  const [owner, admin] = [await newPerson(service), await newPerson(service)];
  const organizationId = await newOrganization(service, owner);
  const memberId = await addMember(service, owner, { organizationId, email: admin.email, role: 'admin' });
  const end = async (): Promise<void> => {
    const path = `/organizations/${organizationId}/members/${memberId}`;
    expect((await service.request('DELETE', path, owner.options)).status).toBe(200);
    await service.settle();
  };
  return { organizationId, owner, admin, end };
};

/** The subscription statuses at Stripe, the former subscription first. */
const there = async (id: string): Promise<string[]> =>
  (await stoppable().service.ledger()).subscriptions
    .filter((one) => one.subscription_id === id)
    .map(({ status }) => status);

const timesTaken = async ({
  provider_payment_method_id: card,
}: {
  readonly provider_payment_method_id: string;
}): Promise<number> => (await takenSince(stoppable().service)).filter(({ method }) => method === card).length;

const CREATE = 'POST /v1/subscriptions';
const END_FORMER = 'DELETE /v1/subscriptions/:id';

interface Transfer extends Team {
  readonly who: Subscriber;
  readonly made: ParsedJson;
  readonly card: MethodBody;
  /** The admin replaces the organization's card with their own card. */
  readonly act: () => Promise<TestAnswer>;
}

const transfer = async (theirs: string): Promise<Transfer> => {
  const { service } = stoppable();
  const of = await team();
  const { organizationId: organization_id, owner, admin } = of;
  const who = await payer(service, owner.options, { token: theirs, fields: { organization_id } });
  const made = await subscribe(service, who, { organization_id });
  const card = await saveMethod(service, admin.options, { organization_id: null });
  const act = () =>
    patch(service, { ...who, options: admin.options }, { id: made.id, body: { payment_method_id: card.id } });
  return { ...of, who, made, card, act };
};

type How = 'losing' | 'stopped';

interface Interrupted {
  readonly how: How;
  readonly call: string;
  /** True if Stripe executed the call. */
  readonly executed: boolean;
}

const TO_GO_BACK: readonly (Interrupted & { readonly state: 'past due' | 'paid for'; readonly there: string[] })[] = [
  { state: 'past due', how: 'losing', call: CREATE, executed: false, there: ['past_due'] },
  { state: 'past due', how: 'stopped', call: CREATE, executed: false, there: ['past_due'] },
  { state: 'paid for', how: 'stopped', call: CREATE, executed: false, there: ['active'] },
  { state: 'paid for', how: 'losing', call: CREATE, executed: true, there: ['active', 'canceled'] },
  { state: 'paid for', how: 'stopped', call: END_FORMER, executed: false, there: ['active', 'canceled'] },
];

const TO_FINISH = [
  { state: 'past due', how: 'losing', call: CREATE, executed: true, there: ['canceled', 'active'], taken: 1 },
  { state: 'past due', how: 'stopped', call: CREATE, executed: true, there: ['canceled', 'active'], taken: 1 },
  { state: 'past due', how: 'stopped', call: END_FORMER, executed: true, there: ['canceled', 'active'], taken: 1 },
  { state: 'paid for', how: 'stopped', call: END_FORMER, executed: true, there: ['canceled', 'trialing'], taken: 0 },
] as const;

const nameOf = ({ how, call, executed }: Interrupted): string =>
  `${call} ${how === 'losing' ? 'lost its response' : 'was the last call'}, ${executed ? 'done' : 'not done'}`;

/** Interrupts the transfer, ends the membership, and waits an hour for the service's follow-up. */
const interrupted = async ({ state, how, call, executed }: Interrupted & { readonly state: string }) => {
  const { service, [how]: interrupt } = stoppable();
  const test = await transfer(state === 'past due' ? 'pm_sim_ok_1_then_decline' : 'pm_card_visa');
  if (state === 'past due') {
    await service.moveTo(test.made.current_period_end);
    await service.advance(2 * HOUR_SECONDS);
  }
  expect((await interrupt({ call, executed }, test.act)).status).toBeGreaterThanOrEqual(500);
  await test.end();
  await service.advance(HOUR_SECONDS);
  return test;
};

/** Expects that the card is no longer charged, and that its owner can delete it. */
const expectFree = async ({ made, card, admin, who }: Transfer, taken: number): Promise<void> => {
  const { service } = stoppable();
  expect(await timesTaken(card)).toBe(taken);
  const { current_period_end } = await readSubscription(service, who, made.id);
  await service.moveTo(current_period_end);
  await service.advance(2 * HOUR_SECONDS);
  expect(await timesTaken(card)).toBe(taken);
  const { status } = await service.request('DELETE', `/payment-methods/${card.id}`, admin.options);
  expect(status).toBe(204);
};

describe('an interrupted transfer to a member’s card before the membership ended', () => {
  test.each(TO_GO_BACK.map((one) => ({ ...one, name: nameOf(one) })))(
    'is reverted if nothing was charged: $state, $name',
    async ({ there: left, ...one }) => {
      const test = await interrupted(one);
      expect(await there(test.made.id)).toEqual(left);
      expect(await readSubscription(stoppable().service, test.who, test.made.id)).toMatchObject({
        status: left[0],
        payment_method_id: test.who.names.payment_method_id,
      });
      await expectFree(test, 0);
    },
  );

  test.each(TO_FINISH.map((one) => ({ ...one, name: nameOf(one) })))(
    'is completed if the card was charged or the former subscription ended: $state, $name',
    async ({ there: left, taken, ...one }) => {
      const { service } = stoppable();
      const test = await interrupted(one);
      expect(await there(test.made.id)).toEqual(left);
      expect(await readSubscription(service, test.who, test.made.id)).toMatchObject({
        status: 'active',
        payment_method_id: null,
      });
      const { body } = await service.get(`/payments?organization_id=${test.organizationId}`, test.owner.options);
      const paid = body.data.filter(({ status }) => status === 'succeeded');
      expect(paid).toHaveLength(1 + taken);
      await expectFree(test, taken);
    },
  );
});

interface Creation extends Team {
  readonly card: MethodBody;
  /** The admin subscribes for the organization with their own card. */
  readonly act: () => Promise<TestAnswer>;
  /** The organization's subscriptions, as the owner reads them. */
  readonly here: () => Promise<ParsedJson[]>;
}

const creation = async (token = 'pm_card_visa'): Promise<Creation> => {
  const { service } = stoppable();
  const of = await team();
  const { organizationId: organization_id, owner, admin } = of;
  const who = await payer(service, admin.options, { token, fields: { organization_id: null } });
  const { body: card } = await service.get(`/payment-methods/${who.names.payment_method_id}`, admin.options);
  return {
    ...of,
    card,
    act: () => trySubscribe(service, who, { organization_id }),
    here: async () => (await service.get(`/subscriptions?organization_id=${organization_id}`, owner.options)).body,
  };
};

/**
 * Stripe has the subscription, and the member has left. Stripe was then unavailable for an hour, so we have no record.
 */
const unknownHere = async () => {
  const { service, stopped } = stoppable();
  const of = await creation();
  await service.webhookMode('drop');
  expect((await stopped({ call: CREATE, executed: true }, of.act)).status).toBe(500);
  await of.end();
  await service.fault({ provider: 'provider_a', path: '/v1/', action: 'error_500' });
  await service.advance(HOUR_SECONDS);
  expect(await of.here()).toEqual([]);
  return { service, ...of };
};

describe('an interrupted create with a member’s card before the membership ended', () => {
  test.each([
    { how: 'losing', status: 201, left: [{ status: 'canceled' }] },
    { how: 'stopped', status: 500, left: [] },
  ] as const)(`leaves no live subscription if Stripe does not have it ($how)`, async ({ how, status, left }) => {
    const { service, [how]: interrupt } = stoppable();
    const { act, end, here, card } = await creation();
    expect((await interrupt({ call: CREATE, executed: false }, act)).status).toBe(status);
    await end();
    await service.advance(HOUR_SECONDS);
    expect(await here()).toMatchObject(left);
    await service.advance(32 * DAY_SECONDS);
    expect(await timesTaken(card)).toBe(0);
  });

  test('stops collection at Stripe after the service finds the subscription there', async () => {
    const { service, losing } = stoppable();
    const { act, end, here, card } = await creation();
    await service.webhookMode('drop');
    expect((await losing({ call: CREATE, executed: true }, act)).status).toBe(201);
    await end();
    await service.advance(HOUR_SECONDS);
    expect(await here()).toMatchObject([{ status: 'active', payment_method_id: null }]);
    await service.advance(32 * DAY_SECONDS);
    expect(await here()).toMatchObject([{ status: 'past_due' }]);
    expect(await timesTaken(card)).toBe(1);
  });

  test('stops collection immediately if the service finds the subscription late', async () => {
    const { service, here, card } = await unknownHere();
    await service.clearFaults();
    await service.advance(HOUR_SECONDS);
    expect(await here()).toMatchObject([{ status: 'active', payment_method_id: null }]);
    await service.advance(32 * DAY_SECONDS);
    expect(await here()).toMatchObject([{ status: 'past_due' }]);
    expect(await timesTaken(card)).toBe(1);
  });

  test('stops collection in a retry if the service finds the subscription late and Stripe refuses at first', async () => {
    const { service, here, card } = await unknownHere();
    await service.clearFaults();
    await service.fault({ provider: 'provider_a', path: '/v1/subscriptions/', method: 'POST', action: 'error_500' });
    await service.advance(HOUR_SECONDS);
    expect(await here()).toMatchObject([{ status: 'active', payment_method_id: card.id }]);
    await service.clearFaults();
    await service.advance(HOUR_SECONDS);
    expect(await here()).toMatchObject([{ status: 'active', payment_method_id: null }]);
    await service.advance(32 * DAY_SECONDS);
    expect(await timesTaken(card)).toBe(1);
  });
});

test('a subscription is stopped once its pending first payment succeeds after its member left', async () => {
  const { service } = stoppable();
  const { act, end, here, card } = await creation('pm_sim_processing_ok');
  expect((await act()).status).toBe(201);
  await end();
  await service.advance(HOUR_SECONDS);
  expect(await here()).toMatchObject([{ status: 'active', payment_method_id: null }]);
  await service.advance(32 * DAY_SECONDS);
  expect(await here()).toMatchObject([{ status: 'past_due' }]);
  expect(await timesTaken(card)).toBe(1);
});

test('a member’s card is checked again if a request uses it while the end of the membership is handled', async () => {
  const { service, overtaken } = stoppable();
  const { act, end, here, card } = await creation();
  await service.moveTo(new Date((Math.ceil(service.now() / MINUTE_MS) + 0.5) * MINUTE_MS).toISOString());
  const endMeanwhile = async (): Promise<void> => {
    await end();
    // Only the first check of the lent card is due. The lookup of the creation is due a minute after its start.
    await service.advance(40);
  };
  expect((await overtaken(CREATE, endMeanwhile, act)).status).toBe(201);
  expect(await here()).toMatchObject([{ status: 'active', payment_method_id: card.id }]);
  await service.advance(10 * MINUTE_SECONDS);
  expect(await here()).toMatchObject([{ status: 'active', payment_method_id: null }]);
  await service.advance(32 * DAY_SECONDS);
  expect(await here()).toMatchObject([{ status: 'past_due' }]);
  expect(await timesTaken(card)).toBe(1);
});

test('a paused subscription is not resumed with a former member’s card, even in its paid period', async () => {
  const { service } = stoppable();
  const { act, end, card, owner } = await creation();
  const { body: made } = await act();
  const asOwner = { options: owner.options, names: made };
  expect(await command(service, asOwner, { id: made.id, name: 'pause' })).toMatchObject({
    status: 200,
    body: { status: 'paused' },
  });
  await end();
  await service.clearProviderRequests();
  expect(await command(service, asOwner, { id: made.id, name: 'resume' })).toMatchObject({
    status: 400,
    body: { code: 'PAYMENT_METHOD_REQUIRED' },
  });
  expect(await service.providerRequests()).toEqual([]);
  expect(await readSubscription(service, asOwner, made.id)).toMatchObject({ status: 'paused' });
  await service.advance(32 * DAY_SECONDS);
  expect(await timesTaken(card)).toBe(1);
});

test('a trial with a former member’s card is paused at its end, and another card continues it', async () => {
  const { service } = stoppable();
  const { organizationId: organization_id, owner, admin, end } = await team();
  const lender = await payer(service, admin.options, { fields: { organization_id: null } });
  const made = await subscribe(service, lender, { organization_id, trial_days: 5 });
  expect(made).toMatchObject({ status: 'trialing' });
  const { body: lent } = await service.get(`/payment-methods/${lender.names.payment_method_id}`, admin.options);
  await end();
  await service.advance(6 * DAY_SECONDS);
  const asOwner = { options: owner.options, names: made };
  expect(await readSubscription(service, asOwner, made.id)).toMatchObject({ status: 'paused' });
  const other = await saveMethod(service, owner.options, { organization_id: null });
  const set = await patch(service, asOwner, { id: made.id, body: { payment_method_id: other.id } });
  expect(set).toMatchObject({ status: 200 });
  await service.advance(HOUR_SECONDS);
  expect(await readSubscription(service, asOwner, made.id)).toMatchObject({ status: 'active' });
  expect([await timesTaken(lent), await timesTaken(other)]).toEqual([0, 1]);
});

test('a subscription without a method runs until its paid time ends, even if Stripe first reports paused collection', async () => {
  const { service, overtaken } = stoppable();
  const { act, end, here, card, admin } = await creation();
  expect((await act()).status).toBe(201);
  await service.settle();
  await end();
  const remove = () => service.request('DELETE', `/payment-methods/${card.id}`, admin.options);
  // The event about the paused collection is applied while the call that pauses it waits for its response.
  expect((await overtaken('POST /v1/subscriptions/:id', () => service.settle(), remove)).status).toBe(204);
  await service.settle();
  expect(await here()).toMatchObject([{ status: 'active', payment_method_id: null }]);
  await service.advance(32 * DAY_SECONDS);
  expect(await here()).toMatchObject([{ status: 'past_due' }]);
});

test('a subscription’s collection is paused even if Stripe reports the subscription as active just before', async () => {
  const { service, overtaken } = stoppable();
  const { act, end, here, card, admin, owner } = await creation();
  const { body: made } = await act();
  await service.settle();
  await end();
  const remove = () => service.request('DELETE', `/payment-methods/${card.id}`, admin.options);
  // The resume command reads the subscription from Stripe.
  const resume = async () =>
    expect(
      await command(service, { options: owner.options, names: made }, { id: made.id, name: 'resume' }),
    ).toMatchObject({ body: { status: 'active' } });
  expect((await overtaken('PutItem', resume, remove)).status).toBe(204);
  await service.settle();
  expect(await here()).toMatchObject([{ status: 'active', payment_method_id: null }]);
  await service.advance(32 * DAY_SECONDS);
  expect(await here()).toMatchObject([{ status: 'past_due' }]);
});

test('a paused subscription stays paused indefinitely after its method is removed', async () => {
  const { service } = stoppable();
  const { act, end, owner, here } = await creation();
  const { body: made } = await act();
  await command(service, { options: owner.options, names: made }, { id: made.id, name: 'pause' });
  await end();
  await service.advance(10 * MINUTE_SECONDS);
  expect(await here()).toMatchObject([{ status: 'paused', payment_method_id: null }]);
  await service.advance(60 * DAY_SECONDS);
  expect(await here()).toMatchObject([{ status: 'paused' }]);
});
