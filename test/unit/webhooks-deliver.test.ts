import { describe, expect, test } from 'vitest';
import { iso } from '../../shared/core/time.ts';
import { deliveryForReplay, keyForReplay } from '../../shared/event-log/delivery.ts';
import { logRecordOf } from '../../shared/event-log/log-entry.ts';
import { storedEventItem } from '../../shared/event-log/stored-event.ts';
import { deliveryKey } from '../../shared/platform/keys.ts';
import { deliverWebhook } from '../../shared/webhooks/deliver-webhook.ts';
import type { Posted, PostResponse } from '../../shared/webhooks/post-webhook.ts';
import type { Target } from '../../shared/webhooks/webhook-targets.ts';
import { logLines } from '../builders/log-lines.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { NOON } from '../builders/payment.ts';
import { present } from '../builders/present.ts';

const TARGET: Target = {
  name: 'WEBHOOK_1',
  url: 'https://hooks.example/in',
  filters: ['all'],
  mode: 'both',
  secrets: [],
  format: 'event',
};
const OK: PostResponse = { kind: 'answered', status: 200, body: '', durationMs: 1 };

const rig = (first: PostResponse = OK, targets: readonly Target[] = [TARGET], schedule: readonly number[] = []) => {
  let answer = first;
  const { table, items } = memoryTable({ now: () => NOON });
  const { log, lines } = logLines();
  const posted: Posted[] = [];
  const sent: unknown[] = [];
  const deps = {
    table,
    log,
    now: () => NOON,
    targets: async () => targets,
    queues: {
      send: async (_: string, messages: readonly unknown[]) => {
        sent.push(...messages);
      },
    },
    retryPlan: { retries: 3, delayMs: 5_000, schedule },
    post: async (what: Posted) => {
      posted.push(what);
      return answer;
    },
  };
  const deliver = (fields: object = {}, count = 1) => {
    const delivery = { id: 'msg_1', event: 'payment.created', provider: 'provider_a', target: 'WEBHOOK_1' };
    return deliverWebhook(deps, { ...delivery, content: { body: '{"a":1}' }, ...fields }, { messageId: 'm1', count });
  };
  const answers = (next: PostResponse): void => {
    answer = next;
  };
  return { deliver, posted, sent, items, lines, table, answers };
};

describe('a webhook delivery', () => {
  test('is dropped with a log line if its target was removed', async () => {
    const { deliver, posted, items, lines } = rig(OK, [{ ...TARGET, name: 'WEBHOOK_2' }]);
    expect(await deliver()).toBe('done');
    expect(posted).toEqual([]);
    expect(items()).toMatchObject([
      { pk: expect.stringMatching(/^LOG#/), status: 'failed', response: { error: 'target no longer configured' } },
    ]);
    expect(lines).toMatchObject([{ level: 'warn', message: 'webhook dropped', fields: { target: 'WEBHOOK_1' } }]);
  });

  test('is dropped if its provider’s event is no longer kept', async () => {
    const { deliver, posted, lines } = rig();
    expect(await deliver({ content: { providerId: 'provider_a', eventId: 'evt_1' } })).toBe('done');
    expect(posted).toEqual([]);
    expect(lines).toMatchObject([{ fields: { reason: 'event no longer kept' } }]);
  });

  test('sends the stored bytes of a provider’s event', async () => {
    const { deliver, posted, table } = rig();
    const raw = Buffer.from('{ "id" : "evt_1" }');
    const event = { id: 'evt_1', rawType: 'x', type: undefined, createdAt: 0, object: { id: '' } } as never;
    await table.put(
      storedEventItem({ providerId: 'provider_a', event, raw, receivedAt: new Date(NOON).toISOString() }),
    );
    await deliver({ event: 'provider_a:x', content: { providerId: 'provider_a', eventId: 'evt_1' } });
    expect(posted.map(({ body }) => body.toString())).toEqual([raw.toString()]);
  });

  test('is retried with growing delays, and then moved to the dead-letter queue without a delay', async () => {
    const { deliver } = rig({ ...OK, status: 500 });
    const answers = [];
    for (const count of [1, 2, 3, 4]) answers.push(await deliver({}, count));
    expect(answers).toEqual([5, 10, 20, 0].map((retryAfterSeconds) => ({ retryAfterSeconds })));
  });

  test('uses up an attempt per busy response after the tenth, with a delay of half a minute', async () => {
    const { deliver, sent } = rig({ ...OK, status: 429, retryAfter: '1' });
    expect(await deliver({ postponed: { times: 9, attempts: 1 } })).toBe('done');
    expect(sent).toMatchObject([{ group: 'WEBHOOK_1', delaySeconds: 30 }]);
    expect(JSON.parse((sent as { body: string }[])[0]?.body ?? '')).toMatchObject({
      id: 'msg_1',
      postponed: { times: 10, attempts: 1 },
    });
    const last = { postponed: { times: 10, attempts: 1 } };
    expect(await deliver(last)).toEqual({ retryAfterSeconds: 30 });
    expect(await deliver(last, 2)).toEqual({ retryAfterSeconds: 30 });
    expect(await deliver(last, 3)).toEqual({ retryAfterSeconds: 0 });
    const patient = rig({ ...OK, status: 503, retryAfter: '200' });
    expect(await patient.deliver(last)).toEqual({ retryAfterSeconds: 200 });
  });

  test('is not sent again after its last attempt, while the queue still redelivers it', async () => {
    const { deliver, posted } = rig({ ...OK, status: 500 });
    expect(await deliver({ postponed: { times: 1, attempts: 3 } }, 1)).toEqual({ retryAfterSeconds: 0 });
    expect(await deliver({ postponed: { times: 1, attempts: 3 } }, 2)).toEqual({ retryAfterSeconds: 0 });
    expect(posted).toHaveLength(1);
  });

  test('names its event in a header, for any name that the provider uses', async () => {
    const { deliver, posted } = rig();
    await deliver({ event: 'provider_a:a b\r\nx: ä' });
    expect(posted[0]?.headers['webhook-event']).toBe('provider_a:a?b??x:??');
  });

  test('stores its request once, and an entry for each attempt', async () => {
    const { deliver, items } = rig();
    await deliver();
    await deliver({}, 2);
    expect(items().map(({ pk }) => String(pk).split('#')[0])).toEqual(['DLV', 'LOG', 'LOG']);
  });

  test('logs the network error or the response, without secrets', async () => {
    const failed = rig({ kind: 'failed', reason: 'unreachable', detail: 'ECONNREFUSED', durationMs: 3 });
    await failed.deliver();
    expect(failed.items()[1]).toMatchObject({
      status: 'failed',
      response: { error: 'unreachable', detail: 'ECONNREFUSED', duration_ms: 3 },
    });
    const answered = rig({ ...OK, body: '{"token":"canary","ok":true}' });
    await answered.deliver();
    expect(answered.items()[1]).toMatchObject({
      status: 'success',
      response: { http_status: 200, body: { token: '[redacted]', ok: true } },
    });
    const text = rig({ ...OK, body: 'x'.repeat(2_048) });
    await text.deliver();
    expect(text.items()[1]).toMatchObject({ response: { body: 'x'.repeat(2_048) } });
  });
});

describe('a delivery of a provider’s event as received', () => {
  const RECEIVED = { event: 'provider_a:x', content: { providerId: 'provider_a', eventId: 'evt_1' } };
  const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const raws = async (answer: PostResponse = OK, schedule: readonly number[] = []) => {
    const made = rig(answer, [TARGET], schedule);
    const event = { id: 'evt_1', rawType: 'x', type: undefined, createdAt: 0, object: { id: '' } } as never;
    const raw = Buffer.from('{"id":"evt_1"}');
    await made.table.put(storedEventItem({ providerId: 'provider_a', event, raw, receivedAt: iso(NOON) }));
    const deliver = (fields: object = {}, count = 1) => made.deliver({ ...RECEIVED, ...fields }, count);
    const waiting = () => made.table.get(deliveryKey('msg_1', 'WEBHOOK_1'));
    const kinds = () => made.items().map(({ sk }) => sk);
    const entry = () => logRecordOf(present(made.items().find(({ sk }) => sk === 'LOG')));
    return { ...made, deliver, waiting, kinds, entry };
  };

  test('is not stored, and its log entry names the event for a replay', async () => {
    const { deliver, kinds, entry, table } = await raws();
    await deliver({ traceparent: TRACE });
    expect(kinds()).toEqual(['EVT', 'LOG']);
    const key = present(keyForReplay(entry()));
    expect(deliveryForReplay(entry(), present(await table.get(key)))).toEqual({
      ...{ id: 'msg_1', provider: 'provider_a', target: 'WEBHOOK_1', traceparent: TRACE },
      ...RECEIVED,
    });
  });

  test('is stored during a long delay, and stops waiting after a replay that its target accepts', async () => {
    const made = await raws({ ...OK, status: 500 }, [3_600]);
    expect(await made.deliver()).toBe('done');
    expect(await made.waiting()).toMatchObject({ due: 'DUE#DLV', postponed: { times: 0, attempts: 1 }, ...RECEIVED });
    made.answers(OK);
    expect(await made.deliver({ isReplay: true })).toBe('done');
    expect(Object.keys(present(await made.waiting()))).not.toContain('due');
  });

  test('can be replayed from the log entry of a removed target after its first attempt', async () => {
    const made = rig(OK, []);
    const sources = () => made.items().map(({ sourceId }) => sourceId);
    await made.deliver(RECEIVED);
    expect(sources()).toEqual([undefined]);
    await made.deliver(RECEIVED, 2);
    expect(sources()).toEqual([undefined, 'evt_1']);
    await made.deliver({ ...RECEIVED, postponed: { times: 1, attempts: 0 } });
    expect(sources()).toEqual(['evt_1', 'evt_1']);
  });
});
