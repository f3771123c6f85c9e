/** @module Abuse that rate limits stop: forged events, card testing, and guessing of e-mails and targets. */

import { beforeEach, describe, expect, test } from 'vitest';
import { LOCAL_SECRETS } from '../../infra/local/machine/environment.ts';
import { paypalSignatureHeaders } from '../../infra/simulator/paypal/wire/signing.ts';
import type { Signing } from '../../infra/simulator/protocol/vendor.ts';
import { HOUR_MS } from '../../shared/core/time.ts';
import { partialAddress } from '../builders/address.ts';
import { DECLINED, guestIntentBody, intentBody, VISA } from '../builders/intent.ts';
import { methodBody } from '../builders/payer.ts';
import { HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { subscriptionBody } from '../builders/subscription.ts';
import { confirm, createIntent, itemsOf, PATIENT, signIn, type User } from './flow.ts';
import { from as fromAddress, type RequestOptions, type TestAnswer, withHost } from './host.ts';
import { addMember, newOrganization, newPerson } from './organization-steps.ts';
import { company, saveMethod } from './payers.ts';
import type { ParsedJson } from './routes.ts';

const service = withHost({ frozen: true, env: { ...PATIENT, RATE_LIMITS: 'on' } });

const from = (ip: string, options: RequestOptions = {}): RequestOptions => ({ ...options, ...fromAddress(ip) });
let addresses = 0;
const newAddress = (): string => {
  addresses += 1;
  return `203.0.${Math.floor(addresses / 200)}.${(addresses % 200) + 1}`;
};

const statusesOf = (answers: readonly TestAnswer[]): number[] => answers.map(({ status }) => status);
const times = <T>(count: number, task: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => task(index)));
const inTurn = async (count: number, task: (index: number) => Promise<TestAnswer>): Promise<number[]> => {
  const statuses: number[] = [];
  for (let index = 0; index < count; index += 1) statuses.push((await task(index)).status);
  return statuses;
};
const many = (count: number, status: number): number[] => Array.from({ length: count }, () => status);
/** The element at the index. The list repeats after its end. */
const at = <T>(list: readonly T[], index: number): T => {
  const one = list[index % list.length];
  if (one === undefined) throw new Error('the list is empty');
  return one;
};
/** Waits until the window has passed and one of its `max` requests no longer counts. */
const slideOut = (seconds: number, max: number, passed = 20) => service.advance(seconds - passed + seconds / max);
const RETRY_LATER = { status: 429, body: { success: false, code: 'RATE_LIMITED' } };

/** Moves the clock by more than an hour, so that every window is empty. The current windows started 20 s ago. */
beforeEach(async () => {
  await service.moveTo(new Date(Math.ceil((service.now() + HOUR_MS) / HOUR_MS) * HOUR_MS + 20_000).toISOString());
  await service.clearFaults();
  await service.clearProviderRequests();
});

const slot: Signing['slot'] = {
  adapter: 'paypal',
  apiKey: '',
  webhookUrl: '',
  webhookSecret: LOCAL_SECRETS.PROVIDER_B_WEBHOOK_ID,
};
let events = 0;
/** A new PayPal event with a valid or forged signature. */
const transmission = (kind: 'valid' | 'invalid') => {
  events += 1;
  const body = JSON.stringify({
    id: `WH-${events}`,
    event_type: 'PAYMENT.CAPTURE.PENDING',
    create_time: new Date(service.now()).toISOString(),
    resource: { id: `CAPTURE${events}`, amount: { value: '25.00', currency_code: 'USD' } },
  });
  return { body, headers: paypalSignatureHeaders({ raw: body, slot, at: service.now(), kind }) };
};
const receive = (ip: string, sent: { body: string; headers: Record<string, string> }) =>
  service.request('POST', '/webhooks/provider_b', from(ip, sent));
const deliver = (ip: string, kind: 'valid' | 'invalid') => receive(ip, transmission(kind));

const verifications = async (): Promise<number> =>
  (await service.providerRequests()).filter(({ path }) => path.endsWith('/verify-webhook-signature')).length;

describe('forged events at provider_b', () => {
  test('cause at most 60 PayPal calls per minute, and the remaining events get 429', async () => {
    const [forger, paypal] = [newAddress(), newAddress()];
    const answers = await times(150, () => deliver(forger, 'invalid'));
    expect(statusesOf(answers).toSorted()).toEqual([...many(60, 401), ...many(90, 429)]);
    expect(answers.find(({ status }) => status === 429)?.headers.get('retry-after')).toBe('41');
    expect(await verifications()).toBe(60);
    expect(statusesOf(await times(5, () => deliver(paypal, 'valid')))).toEqual(many(5, 200));
    expect(await deliver(forger, 'valid')).toMatchObject(RETRY_LATER);
    await slideOut(MINUTE_SECONDS, 60);
    expect(await deliver(forger, 'valid')).toMatchObject({ status: 200 });
  });

  test('cause no PayPal call if malformed, but count toward the same limit', async () => {
    const forger = newAddress();
    const { body, headers } = transmission('invalid');
    const malformed: readonly Record<string, string>[] = [
      {},
      { ...headers, 'paypal-cert-url': 'https://api.paypal.com.evil.example/cert' },
      { ...headers, 'paypal-cert-url': 'http://api.paypal.com/cert' },
      { ...headers, 'paypal-transmission-id': '' },
    ];
    const answers = await times(64, (index) => receive(forger, { body, headers: at(malformed, index) }));
    expect(statusesOf(answers).toSorted()).toEqual([...many(60, 401), ...many(4, 429)]);
    expect(await verifications()).toBe(0);
    expect(await deliver(forger, 'invalid')).toMatchObject(RETRY_LATER);
    expect(await verifications()).toBe(0);
  });

  test('cause no PayPal call if repeated, but still count', async () => {
    const forger = newAddress();
    const same = transmission('invalid');
    expect(await inTurn(62, () => receive(forger, same))).toEqual([...many(60, 401), ...many(2, 429)]);
    expect(await verifications()).toBe(1);
  });
});

describe('genuine events from one IP address', () => {
  test('do not count toward the limit of refused events', async () => {
    const paypal = newAddress();
    for (let batch = 0; batch < 3; batch += 1) {
      expect(statusesOf(await times(25, () => deliver(paypal, 'valid')))).toEqual(many(25, 200));
    }
    const forged = await times(70, () => deliver(paypal, 'invalid'));
    expect(statusesOf(forged).toSorted()).toEqual([...many(60, 401), ...many(10, 429)]);
  });

  test('are accepted despite forged events from other addresses', async () => {
    const [forger, paypal] = [newAddress(), newAddress()];
    const [forged, genuine] = await Promise.all([
      times(100, () => deliver(forger, 'invalid')),
      times(20, () => deliver(paypal, 'valid')),
    ]);
    expect(statusesOf(forged)).toContain(429);
    expect(statusesOf(genuine)).toEqual(many(20, 200));
  });

  test('cause at most 60 calls per minute while PayPal does not respond', async () => {
    const paypal = newAddress();
    await service.fault({ action: 'error_500', path: '/v1/notifications/verify-webhook-signature' });
    const answers = await times(70, () => deliver(paypal, 'valid'));
    expect(statusesOf(answers).toSorted()).toEqual([...many(10, 429), ...many(60, 503)]);
    expect(await verifications()).toBe(60);
    await service.clearFaults();
    await slideOut(MINUTE_SECONDS, 60);
    expect(await deliver(paypal, 'valid')).toMatchObject({ status: 200 });
  });
});

describe('confirms', () => {
  /** A new guest's payment, with the request options of the guest. */
  const guestPayment = async (email?: string) => {
    const body = guestIntentBody({}, email === undefined ? {} : { email });
    const { body: payment } = await service.post('/payments/intents', body, from(newAddress()));
    return { id: payment.id, guestToken: payment.guest_token };
  };
  type GuestPayment = Awaited<ReturnType<typeof guestPayment>>;
  const tryCard = (ip: string, { id, guestToken }: GuestPayment, card?: string) =>
    confirm(service, id, { ...from(ip, { guestToken }), body: card === undefined ? {} : { payment_method_id: card } });
  const cardsTried = async (): Promise<number> =>
    (await service.providerRequests()).filter(({ path }) => path.endsWith('/confirm')).length;

  test('without a session are limited to 20 per minute per IP address', async () => {
    const ip = newAddress();
    const guests = await times(4, () => guestPayment());
    // Without a method, a confirmation is refused before the claim.
    const answers = await times(20, (index) => tryCard(ip, at(guests, index)));
    expect(statusesOf(answers)).toEqual(many(20, 400));
    const fifth = await guestPayment();
    expect(await tryCard(ip, fifth)).toMatchObject(RETRY_LATER);
    expect(await tryCard(newAddress(), fifth)).toMatchObject({ status: 400 });
    const user = await signIn(service);
    const payment = await createIntent(service, user);
    expect(await confirm(service, payment.id, from(ip, user.options))).toMatchObject({ status: 400 });
    await slideOut(MINUTE_SECONDS, 20);
    expect(await tryCard(ip, fifth)).toMatchObject({ status: 400 });
  });

  test('are limited to 5 declines per hour per payment, and later confirms charge nothing', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user);
    const pay = (card: string) => confirm(service, payment.id, { ...user.options, body: { payment_method_id: card } });
    expect(await inTurn(5, () => pay(DECLINED))).toEqual(many(5, 402));
    const refused = await pay(VISA);
    expect(refused).toMatchObject(RETRY_LATER);
    expect(refused.headers.get('retry-after')).toBe(String(HOUR_SECONDS - 20 + HOUR_SECONDS / 5));
    const other = await createIntent(service, user);
    expect(await confirm(service, other.id, { ...user.options, body: { payment_method_id: VISA } })).toMatchObject({
      status: 200,
    });
    await slideOut(HOUR_SECONDS, 5);
    expect(await pay(VISA)).toMatchObject({ status: 200 });
  });

  test('are limited to 10 declines per hour per IP address, across guests and payments', async () => {
    const ip = newAddress();
    const guests = await times(12, () => guestPayment());
    const answers = await inTurn(12, (index) => tryCard(ip, at(guests, index), DECLINED));
    expect(answers).toEqual([...many(10, 402), ...many(2, 429)]);
    await service.advance(2 * MINUTE_SECONDS);
    const next = await guestPayment();
    expect(await tryCard(ip, next, VISA)).toMatchObject(RETRY_LATER);
    expect(await tryCard(newAddress(), next, VISA)).toMatchObject({ status: 200 });
    await service.advance(2 * HOUR_SECONDS);
    expect(await tryCard(ip, await guestPayment(), DECLINED)).toMatchObject({ status: 402 });
  });

  test('are limited to 20 declines per hour per user, across payments and addresses', async () => {
    const [user, other] = [await signIn(service), await signIn(service)];
    const pay = async (who: User, card: string) => {
      const payment = await createIntent(service, who);
      return confirm(service, payment.id, { ...from(newAddress(), who.options), body: { payment_method_id: card } });
    };
    const statuses: number[] = [];
    for (let batch = 0; batch < 2; batch += 1) {
      statuses.push(...(await inTurn(11, () => pay(user, DECLINED))));
      await service.advance(MINUTE_SECONDS);
    }
    expect(statuses).toEqual([...many(20, 402), ...many(2, 429)]);
    expect(await pay(user, VISA)).toMatchObject(RETRY_LATER);
    expect(await pay(other, VISA)).toMatchObject({ status: 200 });
  });

  test('are limited to 10 declines per hour per guest token holder, from any address', async () => {
    const first = await guestPayment();
    const payments = [first];
    for (let index = 0; index < 3; index += 1) {
      const options = from(newAddress(), { guestToken: first.guestToken });
      const created = await service.post('/payments/intents', intentBody(), options);
      payments.push({ id: created.body.id, guestToken: first.guestToken });
    }
    const answers = await inTurn(12, (index) => tryCard(newAddress(), at(payments, index), DECLINED));
    expect(answers).toEqual([...many(10, 402), ...many(2, 429)]);
    expect(await tryCard(newAddress(), await guestPayment(), VISA)).toMatchObject({ status: 200 });
  });

  test('do not lock out the guest whose e-mail an attacker names', async () => {
    const email = 'victim@example.com';
    for (let index = 0; index < 12; index += 1) {
      const { id, guestToken } = await guestPayment(email);
      expect(await tryCard(newAddress(), { id, guestToken }, DECLINED)).toMatchObject({ status: 402 });
    }
    expect(await tryCard(newAddress(), await guestPayment(email), VISA)).toMatchObject({ status: 200 });
  });

  test('do not count if they succeed', async () => {
    const ip = newAddress();
    const guests = await times(12, () => guestPayment());
    expect(await inTurn(12, (index) => tryCard(ip, at(guests, index), VISA))).toEqual(many(12, 200));
  });

  test('can test at most ten cards from one address, even with ten guests and 100 attempts', async () => {
    const ip = newAddress();
    const guests = await times(10, () => guestPayment());
    await service.clearProviderRequests();
    for (let round = 0; round < 10; round += 1) {
      const answers = await times(10, (index) => tryCard(ip, at(guests, index), DECLINED));
      expect(statusesOf(answers)).toEqual(many(10, round === 0 ? 402 : 429));
    }
    await service.advance(2 * MINUTE_SECONDS);
    expect(await tryCard(ip, at(guests, 0), DECLINED)).toMatchObject(RETRY_LATER);
    expect(await cardsTried()).toBe(10);
  });

  test('count once if an Idempotency-Key replays the response', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user);
    const once = { ...user.options, idempotencyKey: 'declined-once-and-for-all' };
    const again = () => confirm(service, payment.id, { ...once, body: { payment_method_id: DECLINED } });
    expect(await inTurn(8, again)).toEqual(many(8, 402));
    expect(await confirm(service, payment.id, { ...user.options, body: { payment_method_id: VISA } })).toMatchObject({
      status: 200,
    });
  });
});

describe('member additions', () => {
  test('are limited to 30 per hour per caller, with or without an account for the e-mail', async () => {
    const [owner, other] = [await newPerson(service), await newPerson(service)];
    const [acme, mine, theirs] = [
      await newOrganization(service, owner),
      await newOrganization(service, owner),
      await newOrganization(service, other),
    ];
    const add = (user: User, organizationId: string, index: number) =>
      service.post(
        `/organizations/${organizationId}/members`,
        { email: `invited.${index}@example.com`, role: 'member' },
        user.options,
      );
    const answers = await times(30, (index) => add(owner, index % 2 ? acme : mine, index));
    expect(new Set(statusesOf(answers))).toEqual(new Set([404]));
    const refused = await add(owner, acme, 30);
    expect(refused).toMatchObject(RETRY_LATER);
    expect(refused.headers.get('retry-after')).toBe(String(HOUR_SECONDS - 20 + HOUR_SECONDS / 30));
    expect(await add(other, theirs, 31)).toMatchObject({ status: 404 });
    // A caller without the right to add members gets no information and is not counted.
    expect(await add(other, acme, 32)).toMatchObject({ status: 403 });
    await slideOut(HOUR_SECONDS, 30);
    expect(await add(owner, acme, 33)).toMatchObject({ status: 404 });
  });
});

describe('saves of payment methods', () => {
  const save = (options: RequestOptions, fields: object = {}) =>
    service.post('/payment-methods', methodBody({ provider_payment_method_token: DECLINED_TOKEN, ...fields }), options);
  /** A token unknown to the provider, so each attempt causes a provider call. */
  const DECLINED_TOKEN = 'pm_unknown';

  test('are limited to 20 per hour per user', async () => {
    const [user, other] = [await signIn(service), await signIn(service)];
    const first = await inTurn(20, () => save(user.options));
    expect(first).not.toContain(429);
    const refused = await save(user.options);
    expect(refused).toMatchObject(RETRY_LATER);
    expect(refused.headers.get('retry-after')).toBe(String(HOUR_SECONDS - 20 + HOUR_SECONDS / 20));
    expect((await save(other.options)).status).toBe(first[0]);
    await slideOut(HOUR_SECONDS, 20);
    expect((await save(user.options)).status).toBe(first[0]);
  });

  test('are limited to 20 per hour per organization, and refused callers do not count', async () => {
    const acme = await company(service);
    const stranger = await signIn(service);
    const organization_id = acme.id;
    expect(await inTurn(25, () => save(stranger.options, { organization_id }))).toEqual(many(25, 403));
    const both = [acme.owner, acme.admin];
    const answers = await inTurn(20, (index) => save(at(both, index).options, { organization_id }));
    expect(answers).not.toContain(429);
    expect(await save(acme.owner.options, { organization_id })).toMatchObject(RETRY_LATER);
    expect((await save(acme.owner.options)).status).toBe(answers[0]);
  });

  test('are limited to 20 per hour per guest token holder', async () => {
    const { body: payment } = await service.post('/payments/intents', guestIntentBody(), from(newAddress()));
    const answers: number[] = [];
    for (let index = 0; index < 22; index += 1) {
      answers.push((await save({ ...from(newAddress()), guestToken: payment.guest_token })).status);
      await service.advance(20);
    }
    expect(answers.slice(0, 20)).not.toContain(429);
    expect(answers.slice(20)).toEqual([429, 429]);
  });

  test('are limited to 60 per hour per user across organizations, without the personal saves', async () => {
    const [user, other] = [await newPerson(service), await newPerson(service)];
    const organizations: string[] = [];
    for (let index = 0; index < 4; index += 1) organizations.push(await newOrganization(service, user));
    await addMember(service, user, { organizationId: at(organizations, 3), email: other.email, role: 'admin' });
    const saveFor = (person: User, index: number) =>
      save(person.options, { organization_id: at(organizations, index) });
    const answers = await times(60, (index) => saveFor(user, index % 3));
    expect(statusesOf(answers)).not.toContain(429);
    const refused = await saveFor(user, 3);
    expect(refused).toMatchObject(RETRY_LATER);
    expect(refused.headers.get('retry-after')).toBe(String(HOUR_SECONDS - 20 + HOUR_SECONDS / 60));
    for (const answer of [await saveFor(other, 3), await save(user.options)]) expect(answer.status).not.toBe(429);
    await slideOut(HOUR_SECONDS, 60);
    expect((await saveFor(user, 3)).status).not.toBe(429);
  });

  const saveAsGuest = (ip: string, guest: string, token = DECLINED_TOKEN) =>
    save(from(ip), {
      provider_payment_method_token: token,
      guest_data: { email: `${guest}@example.com`, name: 'Guest' },
    });

  test('without a session are limited to 60 per hour per IP address', async () => {
    const ip = newAddress();
    for (let minute = 0; minute < 6; minute += 1) {
      const answers = await times(10, (index) => saveAsGuest(ip, `many.${minute}.${index}`));
      expect(statusesOf(answers)).not.toContain(429);
      await service.advance(2 * MINUTE_SECONDS);
    }
    const refused = await saveAsGuest(ip, 'one.more');
    expect(refused).toMatchObject(RETRY_LATER);
    expect(refused.headers.get('retry-after')).toBe(
      String(HOUR_SECONDS - 20 - 12 * MINUTE_SECONDS + HOUR_SECONDS / 60),
    );
    expect((await saveAsGuest(newAddress(), 'one.more')).status).not.toBe(429);
    expect((await save(from(ip, (await signIn(service)).options))).status).not.toBe(429);
    await slideOut(HOUR_SECONDS, 60, 20 + 12 * MINUTE_SECONDS);
    expect((await saveAsGuest(ip, 'one.more')).status).not.toBe(429);
  });

  const REFUSED_CARD = 'pm_card_visa_chargeDeclined';
  const attached = async (): Promise<number> =>
    (await service.providerRequests()).filter(({ path }) => path.endsWith('/v1/setup_intents')).length;

  test('are limited to 20 declines per hour per user, across organizations', async () => {
    const [user, other] = [await newPerson(service), await newPerson(service)];
    const organizations = [null, await newOrganization(service, user), await newOrganization(service, user)];
    const saveFor = (index: number, token = REFUSED_CARD) =>
      save(user.options, { organization_id: organizations[index % 3], provider_payment_method_token: token });
    expect(await inTurn(22, saveFor)).toEqual([...many(20, 402), ...many(2, 429)]);
    expect(await attached()).toBe(20);
    expect(await saveFor(0, VISA)).toMatchObject(RETRY_LATER);
    const others = { organization_id: null, provider_payment_method_token: VISA };
    expect(await save(other.options, others)).toMatchObject({ status: 201 });
    await slideOut(HOUR_SECONDS, 20);
    expect(await saveFor(0, VISA)).toMatchObject({ status: 201 });
  });

  test('are limited to 10 declines per hour per address without a session, including declined confirms', async () => {
    const ip = newAddress();
    const statuses = await inTurn(6, (index) => saveAsGuest(ip, `declined.${index}`, REFUSED_CARD));
    for (let index = 0; index < 6; index += 1) {
      const { body: payment } = await service.post('/payments/intents', guestIntentBody(), from(newAddress()));
      const options = from(ip, { guestToken: payment.guest_token });
      statuses.push((await confirm(service, payment.id, { ...options, body: { payment_method_id: DECLINED } })).status);
    }
    expect(statuses).toEqual([...many(10, 402), ...many(2, 429)]);
    expect(await saveAsGuest(ip, 'declined.last', VISA)).toMatchObject(RETRY_LATER);
    expect(await saveAsGuest(newAddress(), 'declined.last', VISA)).toMatchObject({ status: 201 });
  });

  test('do not count as declines if the cards are accepted', async () => {
    const { options } = await signIn(service);
    expect(await inTurn(12, () => save(options, { provider_payment_method_token: VISA }))).toEqual(many(12, 201));
  });
});

describe('declined charges of subscriptions', () => {
  const subscribe = (user: User, { id, customer_id }: ParsedJson) =>
    service.post('/subscriptions', subscriptionBody({ customer_id, payment_method_id: id }), user.options);
  const charges = async (): Promise<number> =>
    (await service.providerRequests()).filter(({ method }) => method === 'POST').length;

  test('share a limit of 20 declines per hour per user with payments, and later requests cause no provider call', async () => {
    const user = await signIn(service);
    const method = (token: string) => saveMethod(service, user.options, { provider_payment_method_token: token });
    const [declined, good] = [await method('pm_card_chargeCustomerFail'), await method(VISA)];
    expect(await inTurn(22, () => subscribe(user, declined))).toEqual([...many(20, 402), ...many(2, 429)]);
    const payment = await createIntent(service, user);
    await service.clearProviderRequests();
    expect(await subscribe(user, good)).toMatchObject(RETRY_LATER);
    expect(await confirm(service, payment.id, { ...user.options, body: { payment_method_id: VISA } })).toMatchObject(
      RETRY_LATER,
    );
    expect(await charges()).toBe(0);
    await slideOut(HOUR_SECONDS, 20);
    expect(await subscribe(user, good)).toMatchObject({ status: 201 });
  });
});

describe('writes', () => {
  test('are limited to 60 per minute per caller on one record, across its routes', async () => {
    const [user, stranger] = [await signIn(service), await signIn(service)];
    const [payment, other] = [await createIntent(service, user), await createIntent(service, user)];
    const put = (who: User, id: string, text: string) =>
      service.put(`/payments/intents/${id}`, { description: text }, who.options);
    expect(await inTurn(70, () => put(stranger, payment.id, 'theirs'))).not.toContain(200);
    expect(await inTurn(60, (index) => put(user, payment.id, `text ${index}`))).toEqual(many(60, 200));
    expect(await put(user, payment.id, 'one more')).toMatchObject(RETRY_LATER);
    expect(await service.post(`/payments/intents/${payment.id}/cancel`, {}, user.options)).toMatchObject(RETRY_LATER);
    expect(await put(user, other.id, 'another')).toMatchObject({ status: 200 });
    await slideOut(MINUTE_SECONDS, 60);
    expect(await put(user, payment.id, 'a minute later')).toMatchObject({ status: 200 });
  });

  test('are limited to 300 creates per minute and to 20 organizations per hour per caller', async () => {
    const user = await newPerson(service);
    const made = await inTurn(21, (index) => service.post('/organizations', { name: `Org ${index}` }, user.options));
    expect(made).toEqual([...many(20, 201), 429]);
    const address = (index: number) =>
      service.post('/addresses', partialAddress({ line1: `${index} Main Street` }), user.options);
    // The refused create does not count in any window.
    expect(new Set(await inTurn(280, address))).toEqual(new Set([201]));
    expect(await address(301)).toMatchObject(RETRY_LATER);
    await slideOut(MINUTE_SECONDS, 300);
    expect(await address(302)).toMatchObject({ status: 201 });
  });
});

describe('the service with RATE_LIMITS=off', () => {
  const free = withHost({ frozen: true, env: { ...PATIENT, RATE_LIMITS: 'off' } });

  test('limits neither declined confirms nor forged events', async () => {
    const user = await signIn(free);
    const payment = await createIntent(free, user);
    const pay = (card: string) => confirm(free, payment.id, { ...user.options, body: { payment_method_id: card } });
    expect(await inTurn(8, () => pay(DECLINED))).toEqual(many(8, 402));
    expect(await pay(VISA)).toMatchObject({ status: 200 });
    const forged = await times(70, () => free.request('POST', '/webhooks/provider_b', transmission('invalid')));
    expect(new Set(statusesOf(forged))).toEqual(new Set([401]));
    expect(await itemsOf(free, 'RATE#')).toEqual([]);
  });
});
