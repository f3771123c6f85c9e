import { beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../builders/free-port.ts';
import { signIn, type User } from './flow.ts';
import { startTestHost, withHost } from './host.ts';
import { createCustomer } from './payers.ts';
import type { ParsedJson } from './routes.ts';
import { deliveredTo, nodesAt, webhookIdOf } from './targets.ts';

const port = await freePort();
const service = withHost({
  frozen: true,
  port,
  env: {
    ...nodesAt(port, { target: {} }),
    EXTERNAL_WEBHOOK_MAX_RETRIES: '2',
    EXTERNAL_WEBHOOK_RETRY_DELAY: '1500',
    EXTERNAL_WEBHOOK_TIMEOUT: '300',
  },
});

let user: User;
beforeAll(async () => {
  user = await signIn(service);
});

const behave = (behaviour: object) => service.control('POST', '/sink/target/behaviour', behaviour);
/** All delivery attempts of one event with their log entries, oldest first. */
const afterAllTries = async () => {
  const { id } = await createCustomer(service, user.options);
  await service.advance(60);
  const tries = (await deliveredTo(service, 'target')).filter(({ body }) => body.data.customer_id === id);
  const entries: ParsedJson[] = (await service.get('/webhooks/logs', user.options)).body.filter(
    ({ event_id, direction }) => direction === 'outbound' && event_id === (tries[0] && webhookIdOf(tries[0])),
  );
  return { tries, entries: entries.toReversed() };
};
const deadLetters = async (): Promise<number> => (await service.queues())['webhook-delivery-dlq']?.visible ?? 0;

describe('a target’s response', () => {
  test.each([200, 201, 202, 204, 299])('completes the delivery with %i', async (status) => {
    await behave({ status });
    const { tries, entries } = await afterAllTries();
    expect(tries).toHaveLength(1);
    expect(entries).toMatchObject([{ status: 'success', attempt: 1, response: { http_status: status } }]);
    expect(await deadLetters()).toBe(0);
  });

  test.each([300, 301, 302, 307, 308, 400, 401, 404, 409, 429, 500, 502, 503])(
    'causes retries with %i on the configured schedule, and then a dead letter',
    async (status) => {
      await behave({ status });
      const before = await deadLetters();
      const { tries, entries } = await afterAllTries();
      const [first = 0, ...later] = tries.map(({ received_at }) => Date.parse(received_at));
      // The delays are 1.5 s and 3 s. Queues count whole seconds, and a retry is never early.
      expect(later.map((at) => at - first)).toEqual([2_000, 5_000]);
      expect(entries.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
      expect(entries).toMatchObject(Array(3).fill({ status: 'failed', response: { http_status: status } }));
      expect((await deadLetters()) - before).toBe(1);
    },
  );

  test('with 410 ends the delivery after one attempt, as failed and without a dead letter', async () => {
    await behave({ status: 410 });
    const before = await deadLetters();
    const { tries, entries } = await afterAllTries();
    expect(tries).toHaveLength(1);
    expect(entries).toMatchObject([{ status: 'failed', attempt: 1, response: { http_status: 410 } }]);
    expect(await deadLetters()).toBe(before);
  });

  test('causes a retry if it arrives too late', async () => {
    await behave({ status: 200, delay_ms: 1_000, times: 1 });
    const { tries, entries } = await afterAllTries();
    expect(new Set(tries.map(webhookIdOf)).size).toBe(1);
    expect(entries).toMatchObject([
      { status: 'failed', response: { error: 'timeout' } },
      { status: 'success', response: { http_status: 200 } },
    ]);
    const admin = await signIn(service, { is_admin: true });
    const { body: seenByAdmin } = await service.get(`/webhooks/logs/${entries[0]?.id}`, admin.options);
    expect(seenByAdmin).toMatchObject({ response: { error: 'timeout', detail: 'no response in time' } });
  });
});

describe('a busy target that requests a delay', () => {
  const waits = async (minutes = 30) => {
    const before = await deadLetters();
    const { id } = await createCustomer(service, user.options);
    await service.advance(minutes * 60);
    const tries = (await deliveredTo(service, 'target')).filter(({ body }) => body.data.customer_id === id);
    const [first = 0, ...later] = tries.map(({ received_at }) => Date.parse(received_at));
    expect(new Set(tries.map(webhookIdOf)).size).toBe(1);
    return { seconds: later.map((at) => (at - first) / 1_000), dead: (await deadLetters()) - before };
  };

  test.each([
    ['429', 429, '60', 60],
    ['503', 503, '47', 47],
    ['less than half a minute', 503, '1', 30],
    ['no time', 429, '0', 30],
    ['a date that has passed', 503, 'Thu, 01 Jan 2015 00:00:00 GMT', 30],
    ['more than five minutes', 429, '86400', 300],
    ['a number of 400 digits', 429, '9'.repeat(400), 300],
  ])(
    'gets the event after the requested time, limited to 30 s to 5 min, for %s',
    async (...[, status, retryAfter, seconds]) => {
      await behave({ status, headers: { 'Retry-After': retryAfter }, times: 1 });
      expect(await waits()).toEqual({ seconds: [seconds], dead: 0 });
    },
  );

  test('gets the event at the requested time if it sends a date', async () => {
    const at = new Date(Math.ceil(service.now() / 1_000) * 1_000 + 40_000);
    await behave({ status: 503, headers: { 'Retry-After': at.toUTCString() }, times: 1 });
    const { seconds } = await waits();
    expect(seconds).toEqual([expect.closeTo(40, -1)]);
  });

  test('does not use up its retries, and the normal schedule continues afterwards', async () => {
    await behave({ status: 429, headers: { 'Retry-After': '100' }, times: 5 });
    expect(await waits()).toEqual({ seconds: [100, 200, 300, 400, 500], dead: 0 });
    await behave({ status: 500, times: 1 });
    const { id } = await createCustomer(service, user.options);
    await service.settle();
    await behave({ status: 503, headers: { 'Retry-After': '100' }, times: 1 });
    await service.advance(2);
    await behave({ status: 500 });
    await service.advance(300);
    const tries = (await deliveredTo(service, 'target')).filter(({ body }) => body.data.customer_id === id);
    const [first = 0, ...later] = tries.map(({ received_at }) => Date.parse(received_at));
    expect(later.map((time) => (time - first) / 1_000)).toEqual([2, 102, 105]);
    await behave({ status: 200 });
  });

  test.each([
    ['of another status', 500, '60'],
    ['that cannot be read', 429, 'soon'],
  ])('gets the event on the normal schedule with a header %s', async (_, status, retryAfter) => {
    await behave({ status, headers: { 'Retry-After': retryAfter }, times: 1 });
    expect(await waits(5)).toEqual({ seconds: [2], dead: 0 });
  });
});

describe('the webhook settings', () => {
  test('prevent the start if they are invalid, with one line per error', async () => {
    const env = { WEBHOOK_1_URL: 'x', WEBHOOK_2_EVENT_MODE: 'x', EXTERNAL_WEBHOOK_TIMEOUT: '1', WEBHOOK_SCAN_MAX: 'x' };
    const lines = await startTestHost({ env }).then(
      () => [],
      (error: Error) => error.message.split('\n'),
    );
    expect(lines.map((line) => line.split(':')[0])).toEqual([
      'EXTERNAL_WEBHOOK_TIMEOUT',
      'WEBHOOK_SCAN_MAX',
      'WEBHOOK_1_URL',
      'WEBHOOK_2_EVENT_MODE',
    ]);
  });
});
