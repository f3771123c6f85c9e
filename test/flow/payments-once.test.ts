import { describe, expect, test } from 'vitest';
import { paidIntentBody } from '../builders/intent.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import {
  atProvider,
  confirm,
  createPaidIntent,
  eventsOf,
  itemsOf,
  PATIENT,
  read,
  signIn,
  timesCharged,
} from './flow.ts';
import { type TestAnswer, withHost } from './host.ts';

/** Any number of concurrent requests have one effect. */
const service = withHost({ frozen: true, env: PATIENT });

const atOnce = <T>(count: number, task: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => task(index)));

const tally = (answers: readonly TestAnswer[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const name = `${status} ${body.code ?? body.status}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
};

describe('200 concurrent confirms of one payment', () => {
  test('charge the payment once, and publish one event', async () => {
    const user = await signIn(service);
    const payment = await createPaidIntent(service, user);
    const answers = await atOnce(200, () => confirm(service, payment.id, user.options));
    const counts = tally(answers);
    const known = (counts['200 succeeded'] ?? 0) + (counts['409 PAYMENT_IN_PROGRESS'] ?? 0);
    expect({ known, counts }).toMatchObject({ known: 200, counts: { '200 succeeded': expect.any(Number) } });
    await service.settle();
    expect((await atProvider(service, payment.id)).charges).toMatchObject([{ status: 'succeeded', amount: 2_500 }]);
    expect(await eventsOf(service, payment.id)).toEqual(['payment.created', 'payment.succeeded']);
    expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'succeeded' });
  });

  test('get the same response under one key, or an error while the first request is running', async () => {
    const user = await signIn(service);
    const payment = await createPaidIntent(service, user);
    const options = { ...user.options, idempotencyKey: 'one' };
    const answers = await atOnce(50, () => confirm(service, payment.id, options));
    const counts = tally(answers);
    expect((counts['200 succeeded'] ?? 0) + (counts['409 IDEMPOTENCY_IN_PROGRESS'] ?? 0)).toBe(50);
    for (const { status, headers } of answers) {
      if (status === 409) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    const later = await confirm(service, payment.id, options);
    expect(later.headers.get('idempotent-replayed')).toBe('true');
    expect(await timesCharged(service, payment.id)).toBe(1);
  });
});

describe('a confirm under a key of the day before', () => {
  test('is not shown the attempt of that key, which is under way', async () => {
    const user = await signIn(service, { expires_in: 3 * DAY_SECONDS });
    const { id } = await createPaidIntent(service, user);
    const options = { ...user.options, idempotencyKey: 'confirm-again' };
    const body = { payment_method_id: 'pm_card_authenticationRequired' };
    expect(await confirm(service, id, { ...options, body })).toMatchObject({
      status: 200,
      body: { status: 'pending' },
    });
    expect(await confirm(service, id, { ...options, body })).toMatchObject({
      status: 200,
      body: { status: 'pending' },
    });
    await service.advance(DAY_SECONDS + 1);
    const later = await confirm(service, id, { ...options, body: { payment_method_id: 'pm_card_visa' } });
    expect(later).toMatchObject({ status: 409, body: { code: 'PAYMENT_IN_PROGRESS' } });
  });
});

describe('50 concurrent creates', () => {
  test('create one record and one intent at the provider under one key', async () => {
    const user = await signIn(service);
    const options = { ...user.options, idempotencyKey: 'basket' };
    const create = () => service.post('/payments/intents', paidIntentBody(), options);
    const answers = await atOnce(50, create);
    const counts = tally(answers);
    expect((counts['201 created'] ?? 0) + (counts['409 IDEMPOTENCY_IN_PROGRESS'] ?? 0)).toBe(50);
    for (const { status, headers } of answers) {
      if (status === 409) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    const made = new Set(answers.filter(({ status }) => status === 201).map(({ body }) => body.id));
    expect(made.size).toBe(1);
    const [id = ''] = made;
    expect((await create()).body.id).toBe(id);
    await service.settle();
    expect((await service.get('/payments', user.options)).body).toMatchObject({ data: [{ id }], meta: { total: 1 } });
    expect((await atProvider(service, id)).intents).toHaveLength(1);
    expect(await eventsOf(service, id)).toEqual(['payment.created']);
    const owned = (await itemsOf(service, 'PAY#')).filter((item) => item.sk === 'PAY' && item.userId === user.userId);
    expect(owned).toHaveLength(1);
  });

  test('can reuse the key of a refused create with a corrected body', async () => {
    const user = await signIn(service);
    const ask = (token: string) =>
      service.post('/payments/intents', paidIntentBody({ payment_method_id: token }), {
        ...user.options,
        idempotencyKey: 'corrected',
      });
    expect(await ask('pm_unknown')).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    const corrected = await ask('pm_card_visa');
    expect(corrected).toMatchObject({ status: 201, body: { status: 'created' } });
    expect((await atProvider(service, corrected.body.id)).intents).toHaveLength(1);
  });
});

describe('concurrent changes of one payment', () => {
  test('preserve every update that returned 200', async () => {
    const user = await signIn(service);
    const fields = ['concept', 'category', 'reference_code', 'tags', 'description', 'return_url'];
    const newValue = (field: string): string => (field === 'return_url' ? 'https://shop.example/' : `new ${field}`);
    for (let round = 0; round < 5; round += 1) {
      const { id } = await createPaidIntent(service, user);
      const answers = await Promise.all(
        fields.map((field) => service.put(`/payments/intents/${id}`, { [field]: newValue(field) }, user.options)),
      );
      const record = await read(service, id, user.options);
      for (const [index, { status, body }] of answers.entries()) {
        const field = fields[index] ?? '';
        if (status === 200) expect({ field, stored: record[field] }).toEqual({ field, stored: newValue(field) });
        else expect({ status, code: body.code }).toEqual({ status: 409, code: 'VERSION_CONFLICT' });
      }
      expect(answers.some(({ status }) => status === 200)).toBe(true);
    }
  });
});
