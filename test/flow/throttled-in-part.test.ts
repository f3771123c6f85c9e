/**
 * @module The service while AWS executes only part of a call. The service retries the rest, so callers see no failure.
 */

import { beforeEach, describe, expect, test, vi } from 'vitest';
import { freePort } from '../builders/free-port.ts';
import { withHost } from './host.ts';
import { deliveredTo, nodesAt } from './targets.ts';

const port = await freePort();
const service = withHost({ port, env: nodesAt(port, { target: {} }) });

const CALLS = ['BatchGetItem', 'TransactWriteItems', 'PutEvents', 'SendMessageBatch'] as const;
type Call = (typeof CALLS)[number];
const throttle = (call: Call, times: number) => service.control('POST', '/throttling', { call, times });
const left = () => service.control('GET', '/throttling');

beforeEach(async () => {
  // The random delay of a retry is zero here.
  vi.spyOn(Math, 'random').mockReturnValue(0);
  await service.control('DELETE', '/throttling');
});

const pay = async () => {
  const { session_id: session } = await service.session();
  const body = { total_cents: 2_500, currency: 'USD', payment_method_id: 'pm_card_visa' };
  const created = await service.post('/payments/intents', body, { session });
  expect(created.status).toBe(201);
  const confirmed = await service.post(`/payments/confirm/${created.body.id}`, {}, { session });
  expect(confirmed.body).toMatchObject({ status: 'succeeded' });
  await service.settle();
  const list = await service.get('/payments', { session });
  expect(list.status).toBe(200);
  return created.body.id as string;
};

const webhooksOf = async (id: string) =>
  (await deliveredTo(service, 'target'))
    .filter(({ raw }) => raw.includes(id))
    .map(({ headers }) => headers['webhook-event'])
    .toSorted();

describe('partial throttling', () => {
  test.each(CALLS)('of %s delays a payment and its events, and loses nothing', async (call) => {
    await throttle(call, 3);
    const id = await pay();
    expect(await left()).toEqual({});
    expect(await webhooksOf(id)).toEqual(['payment.created', 'payment.succeeded']);
    const { body } = await service.get('/_local/failures');
    expect(body).toEqual([]);
  });

  test('of PutEvents beyond the retries is recovered by a later stream retry', async () => {
    await throttle('PutEvents', 12);
    const id = await pay();
    expect(await webhooksOf(id)).toEqual(['payment.created', 'payment.succeeded']);
  });

  test('of reads beyond the retries fails the request like full throttling', async () => {
    const { session_id: session } = await service.session();
    const body = { total_cents: 2_500, currency: 'USD', payment_method_id: 'pm_card_visa' };
    await service.post('/payments/intents', body, { session });
    await service.settle();
    await throttle('BatchGetItem', 1_000);
    const answer = await service.get('/payments', { session });
    expect(answer).toMatchObject({ status: 500, body: { code: 'INTERNAL_ERROR' } });
    await service.control('DELETE', '/throttling');
    expect((await service.get('/payments', { session })).status).toBe(200);
  });

  test('is refused for a call that AWS executes as a whole', async () => {
    await expect(service.control('POST', '/throttling', { call: 'PutItem' })).rejects.toThrow();
  });
});
