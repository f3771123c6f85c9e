/** @module Finds payments with one-time methods by the facts of their methods and declines, and sums them by method. */

import { beforeAll, describe, expect, test } from 'vitest';
import { guestIntentBody, paidIntentBody, VISA } from '../builders/intent.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { confirm, createIntent, PATIENT, read, signIn, type User } from './flow.ts';
import { type RequestOptions, withHost } from './host.ts';
import { signInAdmin } from './refunders.ts';
import type { ParsedJson } from './routes.ts';

const service = withHost({ frozen: true, env: { ...PATIENT, FINGERPRINT_SECRET: 'a secret of the test' } });

const WANTED = 100;
const AT_ONCE = 10;

let admin: User;
let user: User;
const visas: string[] = [];
const others: Record<string, string> = {};

const pay = async (fields: object, payer: RequestOptions = user.options): Promise<string> => {
  const { body } = await service.post('/payments/intents', paidIntentBody({ ...fields }), payer);
  await confirm(service, body.id, payer);
  return body.id;
};

const payAsGuest = async (): Promise<string> => {
  const { body } = await service.post('/payments/intents', guestIntentBody({ payment_method_id: VISA }));
  await confirm(service, body.id, { guestToken: body.guest_token });
  return body.id;
};

const OTHERS: readonly (readonly [provider_id: string, payment_method_id: string])[] = [
  ['provider_a', 'pm_card_mastercard'],
  ['provider_a', 'pm_card_amex'],
  ['provider_a', 'pm_card_chargeDeclinedLostCard'],
  ['provider_a', 'pm_card_chargeDeclinedInsufficientFunds'],
  ['provider_b', 'SIM-CARD'],
  ['provider_b', 'SIM-OK'],
  ['provider_b', 'SIM-NSF'],
  ['provider_c', 'cnon:card-nonce-ok'],
];

beforeAll(async () => {
  admin = await signInAdmin(service);
  user = await signIn(service, { expires_in: 10 * DAY_SECONDS });
  for (let made = 0; made < WANTED; made += AT_ONCE) {
    const batch = Array.from({ length: AT_ONCE }, (_, index) => (index === 0 ? payAsGuest() : pay({})));
    visas.push(...(await Promise.all(batch)));
  }
  for (const [provider_id, payment_method_id] of OTHERS) {
    others[payment_method_id] = await pay({ provider_id, payment_method_id, total_cents: 4_242, description: '4242' });
  }
  others['unpaid'] = (await createIntent(service, user, { total_cents: 4_242, reference_code: 'A-4242' })).id;
  await service.settle();
}, 120_000);

type Query = Readonly<Record<string, string>>;
const found = async (query: Query): Promise<readonly string[]> => {
  const answer = await service.get(`/admin/payments?${new URLSearchParams({ limit: '100', ...query })}`, admin.options);
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200 });
  const rest: ParsedJson = answer.body.meta.next_cursor;
  const ids = answer.body.data.map(({ id }) => id);
  return rest === null ? ids : [...ids, ...(await found({ ...query, cursor: rest }))];
};
const other = (...methods: string[]) => methods.map((method) => others[method]).toSorted();

describe('GET /admin/payments', () => {
  test('finds exactly the 100 one-time payments by the last four digits of their card', async () => {
    expect(visas).toHaveLength(WANTED);
    expect((await found({ search: '4242' })).toSorted()).toEqual(visas.toSorted());
    expect((await found({ search: '4242', limit: '7' })).toSorted()).toEqual(visas.toSorted());
    expect(await found({ search: '9987' })).toEqual(other('pm_card_chargeDeclinedLostCard'));
    expect((await found({ search: '1111' })).toSorted()).toEqual(other('SIM-CARD', 'SIM-NSF', 'cnon:card-nonce-ok'));
    expect(await found({ search: '4243' })).toEqual([]);
  });

  test('filters by brand and decline code', async () => {
    expect(await found({ card_brand: 'Mastercard' })).toEqual(other('pm_card_mastercard'));
    expect(await found({ card_brand: 'amex' })).toEqual(other('pm_card_amex'));
    expect(await found({ card_brand: 'visa' })).toHaveLength(WANTED + 5);
    expect(await found({ wallet_type: 'paypal' })).toEqual(other('SIM-OK'));
    expect(await found({ decline_code: 'lost_card' })).toEqual(other('pm_card_chargeDeclinedLostCard'));
    const noFunds = other('pm_card_chargeDeclinedInsufficientFunds', 'SIM-NSF');
    expect((await found({ decline_code: 'insufficient_funds' })).toSorted()).toEqual(noFunds);
    expect(await found({ decline_code: 'insufficient_funds', search: '1111' })).toEqual(other('SIM-NSF'));
  });

  test('drops the decline of a payment paid later by another card', async () => {
    const retried = others['pm_card_chargeDeclinedLostCard'] ?? '';
    const paid = await confirm(service, retried, {
      ...user.options,
      body: { payment_method_id: 'pm_card_discover' },
    });
    expect(paid).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    await service.settle();
    expect(await found({ decline_code: 'lost_card' })).toEqual([]);
    expect(await found({ search: '9987' })).toEqual([]);
    expect(await found({ search: '1117' })).toEqual([retried]);
    expect(await read(service, retried, user.options)).toMatchObject({
      decline: null,
      payment_method_details: { last_four: '1117', card_brand: 'discover' },
    });
  });

  test('finds payments by fingerprint only for the same card and slot', async () => {
    const payment = await read(service, visas[0] ?? '', admin.options);
    const { fingerprint } = payment.payment_method_details;
    expect(fingerprint).toMatch(/^fp_[0-9a-f]{24}$/);
    expect((await found({ fingerprint })).toSorted()).toEqual(visas.toSorted());
  });

  test.each([
    ['card_brand=%3Cscript%3E', 'card_brand'],
    ['wallet_type=%2F', 'wallet_type'],
    ['fingerprint=fp_1', 'fingerprint'],
    ['decline_code=broke', 'decline_code'],
  ])('refuses %s', async (query, path) => {
    const { status, body } = await service.get(`/admin/payments?${query}`, admin.options);
    expect([status, body.code, body.details[0]?.path]).toEqual([400, 'VALIDATION_ERROR', path]);
  });
});

describe('GET /admin/search', () => {
  test('finds payments by last four digits, and reports that there may be more', async () => {
    const { body } = await service.get('/admin/search?q=4242', admin.options);
    expect(body.meta).toEqual({ truncated: true });
    expect(body.data.length).toBeGreaterThanOrEqual(40);
    for (const { kind, id } of body.data) expect([kind, visas.includes(id)]).toEqual(['payment', true]);
    const few = await service.get('/admin/search?q=0005', admin.options);
    expect(few.body).toMatchObject({
      data: [{ kind: 'payment', id: others['pm_card_amex'] }],
      meta: { truncated: false },
    });
  });
});

describe('the summary by payment method', () => {
  test('counts each paid payment once, cards by brand and wallets by name', async () => {
    const { body } = await service.get('/admin/summary?group_by=method', admin.options);
    const counts = Object.fromEntries(body.data.map(({ method, count }) => [method, count]));
    expect(counts).toMatchObject({ visa: WANTED + 2, mastercard: 1, amex: 1, paypal: 1 });
  });
});
