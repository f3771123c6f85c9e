/**
 * @module The facts of a payment are its method, decline and fee. These tests check who sees the facts and how many
 * provider calls the facts need.
 */

import { describe, expect, test } from 'vitest';
import { intentBody, paidIntentBody } from '../builders/intent.ts';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS, YEAR_SECONDS } from '../builders/seconds.ts';
import { textOf } from './erasures.ts';
import {
  changeTable,
  confirm,
  createPaidIntent,
  eventsOf,
  itemsOf,
  PATIENT,
  partitionOf,
  read,
  signIn,
  storedPayment,
  type User,
} from './flow.ts';
import { type RequestOptions, withHost } from './host.ts';
import { newOrganization } from './organization-steps.ts';
import { refund, signInAdmin } from './refunders.ts';

const service = withHost({ frozen: true, env: PATIENT });

/** A fee contained in no other number in a response. */
const FEE = 987_123;
const SETTLEMENT = { feeCents: FEE, netCents: 1, currency: 'USD' };

const knowSettlement = async (pk: string, sk: string): Promise<void> => {
  const item = (await partitionOf(service, pk)).find((one) => one.sk === sk);
  await changeTable(service, { put: { ...item, settlement: SETTLEMENT } });
};

/** A paid payment with a refund, both with known settlements. */
const paidAndRefunded = async (payer: RequestOptions, admin: User, fields = {}) => {
  const { status, body: intent } = await service.post('/payments/intents', paidIntentBody(fields), payer);
  expect(status).toBe(201);
  const token: RequestOptions = payer.session === undefined ? { guestToken: intent.guest_token } : payer;
  expect(await confirm(service, intent.id, token)).toMatchObject({ status: 200 });
  await service.settle();
  const { body: made } = await refund(service, intent.id, { body: { amount_cents: 100 }, ...admin.options });
  await service.advance(10 * MINUTE_SECONDS);
  await service.settle();
  await knowSettlement(`PAY#${intent.id}`, 'PAY');
  await knowSettlement(`RFD#${made.id}`, 'RFD');
  return { id: intent.id, refundId: made.id, providerId: intent.provider_payment_id, token };
};

const CSV = { headers: { accept: 'text/csv' } };

/** The responses of every route that returns the payment or its refund. */
const responsesOf = async (
  { id, refundId, providerId }: { readonly id: string; readonly refundId: string; readonly providerId: string },
  caller: RequestOptions,
  query = '',
) => {
  const paths = [
    `/payments/${id}?include=payment_method,subscription,order`,
    `/payments?limit=100${query}`,
    `/payments/${id}/refunds`,
    `/payments/${id}/timeline`,
    `/refunds/${refundId}`,
  ];
  const found = await Promise.all(paths.map((path) => service.get(path, caller)));
  const csv = await service.get(`/payments?limit=100${query}`, { ...caller, ...CSV });
  const synced = await service.post(`/payments/sync/${providerId}`, {}, caller);
  return [...found, csv, synced].filter(({ status }) => status === 200).map(({ body }) => body);
};

describe('the merchant’s settlement', () => {
  test('is hidden from the payer, guests, organization owners and anonymous callers', async () => {
    const admin = await signInAdmin(service);
    const [payer, owner] = [await signIn(service), await signIn(service)];
    const organizationId = await newOrganization(service, owner);
    const ofOrganization = { organization_id: organizationId };
    const guest = { guest_data: { email: 'gus@facts.example.com', name: 'Gus' } };
    const own = await paidAndRefunded(payer.options, admin);
    const organizations = await paidAndRefunded(owner.options, admin, ofOrganization);
    const guests = await paidAndRefunded({}, admin, guest);
    const seen = [
      ...(await responsesOf(own, payer.options)),
      ...(await responsesOf(organizations, owner.options, `&organization_id=${organizationId}`)),
      ...(await responsesOf(guests, guests.token)),
      (await service.get('/payments/guest/gus@facts.example.com', guests.token)).body,
      (await service.get('/payments/guest/gus@facts.example.com')).body,
    ];
    expect(seen.length).toBeGreaterThan(15);
    const text = JSON.stringify(seen);
    for (const id of [own.id, organizations.id, guests.id]) expect(text).toContain(id);
    expect(text).not.toMatch(/settlement|fee_cents|net_cents|987123/);
    const events = JSON.stringify([await service.busEvents(), (await itemsOf(service, 'LOG#')).map(textOf)]);
    expect(events).not.toMatch(/settlement|987123/);
  });

  test('is shown to platform admins in every response, and is null until known', async () => {
    const admin = await signInAdmin(service);
    const payer = await signIn(service);
    const known = await paidAndRefunded(payer.options, admin);
    const shown = { fee_cents: FEE, net_cents: 1, currency: 'USD', exchange_rate: null, available_on: null };
    expect(await read(service, known.id, admin.options)).toMatchObject({ settlement: shown });
    const { body: refunds } = await service.get(`/payments/${known.id}/refunds`, admin.options);
    expect(refunds).toMatchObject([{ settlement: shown }]);
    const { body: one } = await service.get(`/refunds/${known.refundId}`, admin.options);
    expect(one).toMatchObject({ settlement: shown });
    const { body: all } = await service.get(`/admin/payments?search=${known.id}`, admin.options);
    expect(all.data).toMatchObject([{ id: known.id, settlement: shown }]);
    const { body: unpaid } = await service.post('/payments/intents', intentBody(), payer.options);
    expect((await read(service, unpaid.id, admin.options)).settlement).toBeNull();
  });
});

describe('provider reads for payment facts', () => {
  /** The provider calls about the payment. */
  const callsAbout = async (id: string): Promise<readonly string[]> =>
    (await service.providerRequests())
      .filter(({ path }) => path.includes(id))
      .map(({ method, path }) => `${method} ${path.slice(path.indexOf(id) + id.length)}`);

  test('are never made by the payer’s request', async () => {
    const user = await signIn(service);
    const payment = await createPaidIntent(service, user);
    await confirm(service, payment.id, user.options);
    await read(service, payment.id, user.options);
    await service.settle();
    expect(await callsAbout(payment.provider_payment_id)).toEqual(['POST /confirm']);
  });

  test('are made at most three times within a day while the provider is unavailable', async () => {
    const user = await signIn(service, { expires_in: YEAR_SECONDS });
    const payment = await createPaidIntent(service, user);
    await confirm(service, payment.id, user.options);
    await service.settle();
    const before = await eventsOf(service, payment.id);
    await service.fault({ provider: 'provider_a', path: payment.provider_payment_id, action: 'error_500', times: 100 });
    const counts: number[] = [];
    for (const seconds of [30, 2 * MINUTE_SECONDS, HOUR_SECONDS, DAY_SECONDS, 30 * DAY_SECONDS]) {
      await service.advance(seconds);
      await service.settle();
      counts.push((await callsAbout(payment.provider_payment_id)).filter((call) => call.startsWith('GET')).length);
    }
    await service.clearFaults();
    expect(counts).toEqual([0, 1, 2, 3, 3]);
    expect(await eventsOf(service, payment.id)).toEqual(before);
    expect(await storedPayment(service, payment.id)).not.toHaveProperty('factsAt');
  });
});
