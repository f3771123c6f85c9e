/**
 * @module The caller loses the right to act for an organization after the access check. Each test repeats this at every
 * call before the write that claims the charge, update or save. The response must be 403, and the provider must not
 * receive the charge, update or save.
 */

import { describe, expect, test, vi } from 'vitest';
import type { Env } from '../../infra/local/machine/environment.ts';
import { intentBody } from '../builders/intent.ts';
import { methodBody } from '../builders/payer.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { subscriptionBody } from '../builders/subscription.ts';
import { itemsOf, PATIENT, storedPayment } from './flow.ts';
import type { TestAnswer, TestHost } from './host.ts';
import { addMember, newOrganization, newPerson, type UserWithEmail } from './organization-steps.ts';
import { createCustomer, saveMethod } from './payers.ts';
import { type Stoppable, withStops } from './stops.ts';
import { OWN_BILLING } from './subscribers.ts';

vi.setConfig({ testTimeout: 1_200_000 });

interface Team {
  readonly service: TestHost;
  readonly id: string;
  readonly owner: UserWithEmail;
  readonly admin: UserWithEmail;
  readonly memberPath: string;
}

const team = async (service: TestHost): Promise<Team> => {
  const [owner, admin] = [await newPerson(service), await newPerson(service)];
  const id = await newOrganization(service, owner);
  const memberId = await addMember(service, owner, { organizationId: id, email: admin.email, role: 'admin' });
  return { service, id, owner, admin, memberPath: `/organizations/${id}/members/${memberId}` };
};

type Lose = (team: Team) => Promise<TestAnswer>;

const LOSSES: readonly (readonly [name: string, lose: Lose])[] = [
  ['removed', ({ service, memberPath, owner }) => service.request('DELETE', memberPath, owner.options)],
  ['demoted', ({ service, memberPath, owner }) => service.put(memberPath, { role: 'member' }, owner.options)],
  [
    'acting for a deleted organization',
    ({ service, id, owner }) => service.request('DELETE', `/organizations/${id}`, owner.options),
  ],
];

/** The caller's request, after the set-up. */
interface Act {
  readonly run: () => Promise<TestAnswer>;
  /** How often the provider (or the table, for a save) has executed the request. */
  readonly count: () => Promise<number>;
}

interface Case {
  readonly name: string;
  readonly prepare: (team: Team) => Promise<Act>;
  /**
   * The first provider call after the claim. The claim is the last transaction before this call. Without `sends`, the
   * claim is the last transaction of all.
   */
  readonly sends?: RegExp;
  /** The seconds between the set-up and the request. */
  readonly waits?: number;
}

const TRANSACTION = 'TransactWriteItems';

/** The position of the claim among the calls, counted from 1. */
const claimIn = (calls: readonly string[], sends: RegExp | undefined): number => {
  if (sends === undefined) return calls.lastIndexOf(TRANSACTION) + 1;
  const sent = calls.findIndex((name) => sends.test(name));
  if (sent === -1) throw new Error(`no call is a ${sends}: ${calls.join(', ')}`);
  return calls.lastIndexOf(TRANSACTION, sent) + 1;
};

const ok = async (answer: Promise<TestAnswer>) => {
  const { status, body } = await answer;
  expect({ isDone: status < 300, body }).toEqual({ isDone: true, body });
  return body;
};

const runCase = async ({ service, watch, overtaken }: Stoppable, { prepare, sends, waits = 0 }: Case) => {
  const ready = async (): Promise<Act & { readonly acme: Team }> => {
    const acme = await team(service);
    return { acme, ...(await prepare(acme)) };
  };
  const first = await ready();
  await service.advance(waits);
  const calls = await watch(() => ok(first.run()));
  const claim = claimIn(calls, sends);
  expect(claim).toBeGreaterThan(1);
  const held = Array.from({ length: claim - 1 }, (_, index) => index + 1);
  const all = held.flatMap((at) => LOSSES.map(([how, lose]) => ({ at, how, lose })));
  const caught = [];
  // All cases are prepared before the clock moves, so they share one wait.
  for (const one of all) caught.push({ ...one, ...(await ready()) });
  await service.advance(waits);
  for (const { how, lose, at, acme, run, count } of caught) {
    await service.settle();
    const before = await count();
    const { status, body } = await overtaken(at, () => ok(lose(acme)), run);
    await service.settle();
    const where = `${how} at ${at} of ${calls.join(', ')}`;
    expect({ where, status, code: body.code, count: await count() }).toEqual({
      where,
      status: 403,
      code: expect.stringMatching(/^(ORGANIZATION_ACCESS_DENIED|INSUFFICIENT_PERMISSIONS)$/),
      count: before,
    });
  }
};

const describeCases = (of: string, env: Env, cases: readonly Case[]): void => {
  describe(of, () => {
    const stoppable = withStops({ ...PATIENT, ...env });
    test.each(cases)('$name is refused if the caller loses the right between check and claim', (one) =>
      runCase(stoppable(), one),
    );
  });
};

/** The adapters' calls that match the pattern. */
const callsTo = async (service: TestHost, form: RegExp): Promise<number> =>
  (await service.providerRequests()).filter(({ method, path }) => form.test(`${method} ${path}`)).length;

const CONFIRM = /^POST \/v1\/payment_intents\/[^/]+\/confirm/;
const UPDATE = /^POST \/v1\/payment_intents\/[^/]+$/;

const ofOrganization = ({ id }: Team) => ({ organization_id: id });
const PERSONAL = { organization_id: null } as const;

type Fields = Readonly<Record<string, unknown>>;

const createPayment = async (acme: Team, fields: Fields = {}) =>
  ok(acme.service.post('/payments/intents', intentBody({ ...ofOrganization(acme), ...fields }), acme.admin.options));

const methodOf = async (acme: Team, fields: Fields = ofOrganization(acme)): Promise<string> =>
  (await saveMethod(acme.service, acme.admin.options, fields)).id;

const confirming =
  (fieldsOf: (acme: Team) => Promise<Fields>) =>
  async (acme: Team): Promise<Act> => {
    const { service, admin } = acme;
    const { id } = await createPayment(acme, await fieldsOf(acme));
    return {
      run: () => service.post(`/payments/confirm/${id}`, {}, admin.options),
      count: () => callsTo(service, CONFIRM),
    };
  };

/** The payer has approved the order and the event is lost, so the confirmation captures. */
const capturing = async (acme: Team): Promise<Act> => {
  const { service, admin } = acme;
  const { id } = await createPayment(acme, { provider_id: 'provider_b' });
  await service.webhookMode('drop');
  await service.authenticate(id);
  return {
    run: () => service.post(`/payments/confirm/${id}`, {}, admin.options),
    count: () => callsTo(service, /\/capture$/),
  };
};

/** Updates the payment. The change affects the provider, or only the record. */
const updating =
  (change: Fields) =>
  async (acme: Team): Promise<Act> => {
    const { service, admin } = acme;
    const { id } = await createPayment(acme, { payment_method_id: await methodOf(acme) });
    await service.settle();
    const { version } = await storedPayment(service, id);
    return {
      run: () => service.put(`/payments/intents/${id}`, change, admin.options),
      count: async () => (await storedPayment(service, id)).version - version + (await callsTo(service, UPDATE)),
    };
  };

const saving = async (acme: Team): Promise<Act> => {
  const { service, id, admin } = acme;
  const isTheirs = ({ sk, organizationId }: { readonly sk: string; readonly organizationId: string }) =>
    sk === 'PM' && organizationId === id;
  return {
    run: () => service.post('/payment-methods', methodBody(ofOrganization(acme)), admin.options),
    count: async () => (await itemsOf(service, 'PM#')).filter(isTheirs).length,
  };
};

describeCases('a command on a payment or a method', {}, [
  {
    name: 'a confirmation with a token',
    prepare: confirming(async () => ({ payment_method_id: 'pm_card_visa' })),
    sends: CONFIRM,
  },
  {
    name: 'a confirmation with a saved method',
    prepare: confirming(async (acme) => ({ payment_method_id: await methodOf(acme) })),
    sends: CONFIRM,
  },
  {
    name: 'a confirmation with their own card',
    prepare: confirming(async (acme) => ({ payment_method_id: await methodOf(acme, PERSONAL) })),
    sends: CONFIRM,
  },
  { name: 'a capture', prepare: capturing },
  { name: 'a new amount', prepare: updating({ total_cents: 99_900 }), sends: UPDATE },
  { name: 'a new category', prepare: updating({ category: 'books' }) },
  { name: 'a save', prepare: saving },
]);

/** Longer than a period, while the retries of a renewal continue. */
const MONTH_SECONDS = 33 * DAY_SECONDS;

/** An organization's subscription, paid by its own card or the caller's card. */
const subscribed = async (acme: Team, owner: Fields, token = 'pm_card_visa'): Promise<string> => {
  const body = subscriptionBody(await namesOf(acme, owner, token));
  return `/subscriptions/${(await ok(acme.service.post('/subscriptions', body, acme.admin.options))).id}`;
};

const namesOf = async (acme: Team, owner: Fields, token = 'pm_card_visa'): Promise<Fields> => ({
  ...ofOrganization(acme),
  customer_id: (await createCustomer(acme.service, acme.admin.options, owner)).id,
  payment_method_id: await methodOf(acme, { ...owner, provider_payment_method_token: token }),
});

/** The caller's request, and the number of matching calls. */
const acting = ({ service }: Team, sends: RegExp, run: () => Promise<TestAnswer>): Act => ({
  run,
  count: () => callsTo(service, sends),
});

const changing =
  (sends: RegExp, owner: (acme: Team) => Fields, token?: string) =>
  async (acme: Team): Promise<Act> => {
    const { service, admin } = acme;
    const path = await subscribed(acme, owner(acme), token);
    const body = { payment_method_id: await methodOf(acme, PERSONAL) };
    return acting(acme, sends, () => service.request('PATCH', path, { ...admin.options, body }));
  };

const casesOf = (sends: RegExp): readonly Case[] => {
  const startingAgain = (stop: string, start: string, body: Fields) => async (acme: Team) => {
    const { service, admin } = acme;
    const path = await subscribed(acme, ofOrganization(acme));
    await ok(service.post(`${path}/${stop}`, body, admin.options));
    return acting(acme, sends, () => service.post(`${path}/${start}`, {}, admin.options));
  };
  const creating = async (acme: Team) => {
    const body = subscriptionBody(await namesOf(acme, ofOrganization(acme)));
    return acting(acme, sends, () => acme.service.post('/subscriptions', body, acme.admin.options));
  };
  const again = { sends, waits: MONTH_SECONDS };
  return [
    { name: 'a creation', prepare: creating, sends },
    { name: 'a resumption', prepare: startingAgain('pause', 'resume', {}), ...again },
    {
      name: 'a reactivation',
      prepare: startingAgain('cancel', 'reactivate', { cancel_at_period_end: false }),
      ...again,
    },
    // After the wait, the subscription is past due, so the new method is charged immediately.
    { name: 'a new method', prepare: changing(sends, () => PERSONAL, 'pm_sim_ok_1_then_decline'), ...again },
  ];
};

const BILLED = /^POST \/v1\/(subscriptions|invoices\/\w+\/pay)/;

describeCases('a command on a service-billed subscription', OWN_BILLING, casesOf(CONFIRM));
describeCases('a command on a provider-billed subscription', {}, [
  ...casesOf(BILLED),
  { name: "a change to the caller's card", prepare: changing(BILLED, ofOrganization), sends: BILLED },
]);
