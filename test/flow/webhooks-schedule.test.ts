import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../builders/free-port.ts';
import { present } from '../builders/present.ts';
import { createIntent, itemsOf, signIn } from './flow.ts';
import { startTestHost, type TestHost, withHost } from './host.ts';
import { spawned } from './payctl.ts';
import { createCustomer } from './payers.ts';
import { deliveredTo, nodesAt } from './targets.ts';

const port = await freePort();
const SCHEDULE = [5, 120, 900, 3_600, 86_400];
/** The sweep runs every minute, so a wait handled as due work may end up to a minute late. */
const SWEEP_SECONDS = 60;
const envAt = (at: number) => ({
  ...nodesAt(at, { target: {} }),
  EXTERNAL_WEBHOOK_RETRY_SCHEDULE: SCHEDULE.join(),
  // The schedule replaces this setting.
  EXTERNAL_WEBHOOK_MAX_RETRIES: '1',
});
const service = withHost({ frozen: true, port, env: envAt(port) });

const behave = (of: TestHost, behaviour: object) => of.control('POST', '/sink/target/behaviour', behaviour);
const attemptsOf = async (of: TestHost, id: string): Promise<readonly number[]> =>
  (await deliveredTo(of, 'target'))
    .filter(({ body }) => body.data.customer_id === id)
    .map(({ received_at }) => Date.parse(received_at));
const secondsBetween = (attempts: readonly number[]): readonly number[] =>
  attempts.slice(1).map((at, before) => Math.round((at - (attempts[before] ?? 0)) / 1_000));
const deadLetters = async (of: TestHost): Promise<number> => (await of.queues())['webhook-delivery-dlq']?.visible ?? 0;
/** The log entries for the deliveries of a customer's event, oldest first. */
const entriesOf = async (of: TestHost, id: string) => {
  // Each read needs a new session, because a session expires before the schedule ends.
  const { options } = await signIn(of, { is_admin: true });
  const { body } = await of.get('/webhooks/logs?limit=100', options);
  return body.filter(({ payload }) => payload.data?.customer_id === id).toReversed();
};

describe('a target that is down', () => {
  test('gets an attempt after each wait of the schedule, and then the event becomes a dead letter', async () => {
    await behave(service, { status: 500 });
    const before = await deadLetters(service);
    const { options } = await signIn(service);
    const { id } = await createCustomer(service, options);
    await service.advance(2 * 86_400);
    const waited = secondsBetween(await attemptsOf(service, id));
    expect(waited).toHaveLength(SCHEDULE.length);
    expect(waited.slice(0, 3)).toEqual([5, 120, 900]);
    for (const [at, seconds] of waited.entries()) {
      expect(seconds).toBeGreaterThanOrEqual(SCHEDULE[at] ?? 0);
      expect(seconds).toBeLessThanOrEqual((SCHEDULE[at] ?? 0) + SWEEP_SECONDS);
    }
    expect((await deadLetters(service)) - before).toBe(1);
    const entries = await entriesOf(service, id);
    expect(entries.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6]);
    const planned = entries.map(({ next_attempt_at: next, created_at: at }) =>
      next === null ? null : Math.round((Date.parse(next) - Date.parse(at)) / 1_000),
    );
    expect(planned).toEqual([...SCHEDULE, null]);
    await service.advance(86_400);
    expect(await attemptsOf(service, id)).toHaveLength(6);
  });

  test('gets the event once if it is back after a night, without a redrive', async () => {
    await behave(service, { status: 503 });
    const before = await deadLetters(service);
    const { options } = await signIn(service);
    const { id } = await createCustomer(service, options);
    await service.advance(8 * 3_600);
    await behave(service, { status: 200 });
    await service.advance(2 * 86_400);
    expect(await entriesOf(service, id)).toMatchObject([
      ...Array(5).fill({ status: 'failed' }),
      { status: 'success', attempt: 6, next_attempt_at: null },
    ]);
    expect(await deadLetters(service)).toBe(before);
    const waiting = (await itemsOf(service, 'DLV#')).filter((item) => item.due !== undefined || item.postponed);
    expect(waiting).toEqual([]);
  });

  test('gets no further attempt after it accepted a replay', async () => {
    await behave(service, { status: 500 });
    const { options } = await signIn(service, { is_admin: true });
    const { id } = await createCustomer(service, options);
    await service.advance(2 * 3_600);
    await behave(service, { status: 200 });
    const [first] = await entriesOf(service, id);
    expect((await service.request('POST', `/webhooks/logs/${present(first).id}/replay`, options)).status).toBe(200);
    await service.settle();
    const tries = await attemptsOf(service, id);
    await service.advance(2 * 86_400);
    expect(await attemptsOf(service, id)).toEqual(tries);
  });

  test('has its next attempt shown in the timeline of the payment', async () => {
    await behave(service, { status: 500 });
    const user = await signIn(service);
    const { id } = await createIntent(service, user);
    await service.advance(3_000);
    const admin = await signIn(service, { is_admin: true });
    const { body } = await service.get(`/payments/${id}/timeline`, admin.options);
    const deliveries = body.data.filter(
      ({ kind, event_type: event }) => kind === 'delivery' && event === 'payment.created',
    );
    expect(deliveries).toHaveLength(4);
    const { stdout } = await spawned(service.host().baseUrl, ['timeline', id]);
    expect(stdout).toContain(`next attempt ${present(deliveries[3]).next_attempt_at}`);
    expect(Date.parse(present(deliveries[3]).next_attempt_at) - Date.parse(present(deliveries[3]).at)).toBe(3_600_000);
  });
});

test('a restart keeps every waiting delivery', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'webhooks-schedule-'));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  const at = await freePort();
  const options = { dataDir, port: at, env: envAt(at), frozen: true };
  const before = await startTestHost(options);
  await behave(before, { status: 500 });
  const user = await signIn(before);
  const { id } = await createCustomer(before, user.options);
  await before.advance(8_000);
  expect(await attemptsOf(before, id)).toHaveLength(5);
  await before.stop();

  const after = await startTestHost(options);
  onTestFinished(() => after.stop());
  await behave(after, { status: 200 });
  await after.advance(2 * 86_400);
  expect((await entriesOf(after, id)).at(-1)).toMatchObject({ status: 'success', attempt: 6 });
});
