/** @module Checks who can see the provider's fee. */

import { beforeAll, describe, expect, test } from 'vitest';
import { paidIntentBody } from '../builders/intent.ts';
import { present } from '../builders/present.ts';
import { MINUTE_SECONDS } from '../builders/seconds.ts';
import { textOf } from './erasures.ts';
import { confirm, itemsOf, PATIENT, read, type User } from './flow.ts';
import { type RequestOptions, type TestAnswer, withHost } from './host.ts';
import { untilFactsRead } from './ledger-facts.ts';
import { type Company, company } from './payers.ts';
import { refund, signInAdmin } from './refunders.ts';
import { payer, subscribe } from './subscribers.ts';

const service = withHost({ frozen: true, env: { ...PATIENT, EXTERNAL_WEBHOOKS_ENABLED: 'true' } });

/** The fee of 9,876.00 is 286.70, a number that appears nowhere else in a response. */
const TOTAL = { total_cents: 987_600 };
const SETTLEMENT = /settlement|fee_cents|net_cents|28670|958930/;

let admin: User;
let acme: Company;
let guest: RequestOptions;
/** Paths of every route that returns a payment, a refund, a subscription or their events. */
let paths: readonly string[];
let ids: readonly string[];
let refunds: readonly string[];

const pay = async (body: object, options: RequestOptions) => {
  const { status, body: made } = await service.post(
    '/payments/intents',
    paidIntentBody({ ...TOTAL, ...body }),
    options,
  );
  expect(status).toBe(201);
  const by = made.guest_token === undefined ? options : { guestToken: made.guest_token };
  expect(await confirm(service, made.id, by)).toMatchObject({ status: 200 });
  return made;
};

beforeAll(async () => {
  admin = await signInAdmin(service);
  acme = await company(service);
  const who = await payer(service, acme.owner.options);
  const subscription = await subscribe(service, who, { subtotal_cents: 987_600, total_cents: 987_600 });
  const payments = [
    await pay({}, acme.owner.options),
    await pay({ organization_id: acme.id }, acme.owner.options),
    await pay({ guest_data: { email: 'gus@private.example.com', name: 'Gus' } }, {}),
  ];
  guest = { guestToken: present(payments[2]).guest_token };
  await untilFactsRead(service);
  ids = [...payments.map(({ id }) => id), subscription.latest_payment_id];
  const made = await Promise.all(
    ids.map((id) => refund(service, id, { body: { amount_cents: 100 }, ...admin.options })),
  );
  refunds = made.map(({ body }) => body.id);
  await untilFactsRead(service);
  await service.advance(5 * MINUTE_SECONDS);
  await service.settle();
  paths = [
    ...ids.flatMap((id) => [
      `/payments/${id}`,
      `/payments/${id}?include=payment_method,subscription,order`,
      `/payments/${id}/timeline`,
      `/payments/${id}/refunds`,
      `/payments/${id}/disputes`,
    ]),
    ...refunds.map((id) => `/refunds/${id}`),
    ...['/payments?limit=50', `/payments?limit=50&organization_id=${acme.id}`, '/payments/summary?group_by=method'],
    ...[`/payments/summary?organization_id=${acme.id}`, '/payments/guest/gus@private.example.com'],
    ...['/subscriptions', `/subscriptions/${subscription.id}`, `/subscriptions/${subscription.id}/timeline`],
    ...[
      '/memberships',
      '/payment-methods',
      '/customers',
      '/webhooks/logs?limit=100',
      `/webhooks/logs?payment_id=${ids[0]}`,
    ],
    ...['/refunds', '/disputes', '/admin/payments', '/admin/subscriptions', '/admin/summary?group_by=method'],
    ...[`/admin/search?q=${ids[0]}`, '/admin/search?q=4242'],
  ];
}, 60_000);

const CSV = { headers: { accept: 'text/csv' } };
const responsesTo = async (caller: RequestOptions): Promise<readonly TestAnswer[]> => {
  const asked = paths.flatMap((path) => [service.get(path, caller), service.get(path, { ...caller, ...CSV })]);
  const synced = (await Promise.all(ids.map((id) => read(service, id, admin.options)))).map((payment) =>
    service.post(`/payments/sync/${payment.provider_payment_id}`, {}, caller),
  );
  return Promise.all([...asked, ...synced]);
};

const textsOf = (answers: readonly TestAnswer[]): readonly string[] =>
  answers.map(({ body }) => JSON.stringify(body ?? null));

describe('the provider’s fee', () => {
  test('is known for every test payment, and is shown to a platform admin', async () => {
    const payments = await Promise.all(ids.map((id) => read(service, id, admin.options)));
    for (const { settlement } of payments) expect(settlement).toMatchObject({ fee_cents: 28_670, net_cents: 958_930 });
    const { body } = await service.get('/admin/payments?limit=50', admin.options);
    expect(body.data.filter(({ settlement }) => settlement?.fee_cents === 28_670)).toHaveLength(4);
    const csv = await service.get('/admin/payments?limit=50', { ...admin.options, ...CSV });
    expect(String(csv.body).match(/28670,958930,USD/g)).toHaveLength(4);
    for (const id of refunds) {
      const made = await service.get(`/refunds/${id}`, admin.options);
      expect(made.body).toMatchObject({ settlement: { fee_cents: 0, net_cents: -100 } });
    }
  });

  test('is hidden from owners, members with billing rights, guests and anonymous callers', async () => {
    for (const caller of [acme.owner.options, acme.billing.options, acme.member.options, guest, {}]) {
      const answers = await responsesTo(caller);
      expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
      for (const text of textsOf(answers)) expect(text).not.toMatch(SETTLEMENT);
    }
    const shown = textsOf(await responsesTo(acme.owner.options)).join();
    for (const id of ids.filter((_, index) => index !== 2)) expect(shown).toContain(id);
  });

  test('is in no canonical event and in no webhook request', async () => {
    const events = (await service.busEvents()).filter(({ source }) => source === 'payments');
    expect(JSON.stringify(events)).toContain('payment_method_details');
    expect(JSON.stringify(events)).not.toMatch(SETTLEMENT);
    const sent = (await itemsOf(service, 'LOG#')).map(textOf).filter((text) => text.includes('payment.succeeded'));
    expect(sent.length).toBeGreaterThan(0);
    for (const text of sent) expect(text).not.toMatch(SETTLEMENT);
  });
});
