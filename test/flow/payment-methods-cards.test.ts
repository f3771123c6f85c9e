/** @module If the setting allows raw card numbers, a card becomes a saved method, and its number is never stored. */

import { beforeEach, expect, test, vi } from 'vitest';
import { methodBody, rawCardBody } from '../builders/payer.ts';
import { itemsOf, signIn } from './flow.ts';
import { withHost } from './host.ts';
import { saveMethod } from './payers.ts';

const lines: string[] = [];
const service = withHost({
  frozen: true,
  env: { ALLOW_RAW_CARDS: 'true', LOG_LEVEL: 'DEBUG' },
  log: (line) => lines.push(line),
});

const NUMBER = '4000056655665556';
const CVC = '9137';
const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;
/** The value as text without request ids, because four random characters of such an id may equal the CVC. */
const textOf = (value: unknown): string => JSON.stringify(value).replaceAll(UUID, 'uuid');
const raw = (fields = {}) => rawCardBody({ card_number: NUMBER, card_cvc: CVC, ...fields });

/** Collects the log lines of functions. Functions write logs only to standard output and standard error. */
beforeEach(() => {
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((chunk) => {
      lines.push(String(chunk));
      return true;
    });
  }
});

test('a raw card becomes a saved method and is never stored, logged, queued or published', async () => {
  const user = await signIn(service);
  const keyed = { ...user.options, idempotencyKey: 'raw' };
  const answer = await service.post('/payment-methods', raw({ alias: 'Raw' }), keyed);
  expect(answer).toMatchObject({
    status: 201,
    body: { card_brand: 'visa', card_last_four: '5556', card_exp_month: '07', card_exp_year: '2031', alias: 'Raw' },
  });
  const replayed = await service.post('/payment-methods', raw({ alias: 'Raw' }), keyed);
  expect(replayed).toMatchObject({ status: 201, body: { id: answer.body.id } });
  const refused = [
    raw({ card_number: `${NUMBER}0000000` }),
    raw({ card_cvc: `${CVC}5` }),
    raw({ provider_id: undefined }),
    raw({ card_exp_year: '2019', card_exp_month: '01' }),
    raw({ card_number: '4000000000000002' }),
    raw({ card_number: '4000056655665557' }),
  ];
  for (const body of refused) {
    const { status, body: said } = await service.post('/payment-methods', body, user.options);
    expect([400, 402]).toContain(status);
    expect(textOf(said)).not.toMatch(/\b(40000|9137)/);
  }
  await service.fault({ action: 'error_500', path: '/v1/payment_methods', times: 1 });
  expect((await service.post('/payment-methods', raw(), { ...keyed, idempotencyKey: 'faulty' })).status).toBe(502);
  const guest = { email: 'raw@example.com', name: 'Raw' };
  expect((await service.post('/payment-methods', raw({ guest_data: guest }))).status).toBe(201);
  await service.settle();
  const kept = {
    table: await itemsOf(service),
    bus: await service.busEvents(),
    sink: await service.sink(),
    lines,
  };
  for (const [place, content] of Object.entries(kept)) {
    const text = textOf(content);
    // Only whole words are compared, because a longer random id may contain the same digits.
    const cvc = new RegExp(`\\b${CVC}\\b`).test(text);
    expect({ place, card: text.includes(NUMBER), cvc }).toEqual({ place, card: false, cvc: false });
  }
  expect(lines.join('')).toContain('payment-methods.create');
});

test('another card under the same key counts as the same request, because no card hash is stored', async () => {
  const user = await signIn(service);
  const keyed = { ...user.options, idempotencyKey: 'hash' };
  const first = await service.post('/payment-methods', raw(), keyed);
  const again = await service.post('/payment-methods', raw({ card_number: '5555555555554444' }), keyed);
  expect(again).toMatchObject({ status: 201, body: { id: first.body.id, card_last_four: '5556' } });
  expect(await service.post('/payment-methods', raw({ alias: 'Other' }), keyed)).toMatchObject({ status: 422 });
});

test.each([
  ['4242 4242 4242 4242', '4242'],
  ['5555-5555-5555-4444', '4444'],
  ['378282246310005', '0005'],
])('a card is saved from the number %s', async (card_number, lastFour) => {
  const user = await signIn(service);
  const answer = await service.post('/payment-methods', rawCardBody({ card_number }), user.options);
  expect(answer).toMatchObject({ status: 201, body: { card_last_four: lastFour } });
});

test.each([
  ['4000000000009995', 'insufficient_funds'],
  ['4000000000000069', 'expired_card'],
  ['4000000000000127', 'incorrect_cvc'],
])('the card number %s is declined', async (card_number, decline_code) => {
  const user = await signIn(service);
  const answer = await service.post('/payment-methods', rawCardBody({ card_number }), user.options);
  expect(answer).toMatchObject({ status: 402, body: { code: 'PAYMENT_DECLINED', details: { decline_code } } });
});

test('a token takes precedence over a card in the same request', async () => {
  const user = await signIn(service);
  const both = methodBody({ ...raw(), provider_payment_method_token: 'pm_card_amex' });
  expect(await saveMethod(service, user.options, both)).toMatchObject({ card_brand: 'amex' });
});
