import { describe, expect, test } from 'vitest';
import { type Attempt, logAttempt, postDelivery } from '../../shared/webhooks/delivery-attempt.ts';
import type { Posted, PostResponse } from '../../shared/webhooks/post-webhook.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { NOON } from '../builders/payment.ts';

const answered = (status: number): PostResponse => ({ kind: 'answered', status, body: 'ok', durationMs: 7 });

const attempt = (fields: Partial<Attempt> = {}): Attempt => ({
  delivery: { id: 'msg_1', event: 'payment.created', provider: 'provider_a', target: 'WEBHOOK_1' },
  target: {
    name: 'WEBHOOK_1',
    url: 'https://a.example/in',
    filters: ['all'],
    mode: 'both',
    secrets: [],
    format: 'event',
  },
  body: Buffer.from('{"event":"payment.created"}'),
  number: 2,
  messageId: 'm1',
  ...fields,
});
const send = async (answer: PostResponse, what = attempt()) => {
  const posted: Posted[] = [];
  const post = async (sent: Posted) => {
    posted.push(sent);
    return answer;
  };
  return { attempted: await postDelivery({ post, now: () => NOON }, what), posted };
};

describe('an attempt to deliver an event', () => {
  test.each([
    [199, 'failed'],
    [200, 'delivered'],
    [204, 'delivered'],
    [299, 'delivered'],
    [300, 'failed'],
    [302, 'failed'],
    [409, 'failed'],
    [410, 'gone'],
    [500, 'failed'],
  ])('ends, after status %i, with the result %s', async (status, outcome) => {
    expect((await send(answered(status))).attempted.outcome).toBe(outcome);
  });

  test('counts as failed if it gets no response', async () => {
    const answer: PostResponse = { kind: 'failed', reason: 'timeout', detail: '', durationMs: 1 };
    expect((await send(answer)).attempted).toEqual({ outcome: 'failed', answer, at: new Date(NOON).toISOString() });
  });

  test('sends the event byte for byte, with its headers', async () => {
    const { posted } = await send(answered(200));
    expect(posted).toEqual([
      {
        url: 'https://a.example/in',
        headers: {
          'content-type': 'application/json',
          traceparent: expect.stringMatching(/^00-[\da-f]{32}-[\da-f]{16}-01$/),
          'user-agent': 'payments-webhooks',
          'webhook-event': 'payment.created',
          'webhook-id': 'msg_1',
          'webhook-timestamp': String(NOON / 1_000),
        },
        body: attempt().body,
      },
    ]);
  });

  test('marks a test event in a header, so that no target processes it as real', async () => {
    const { posted } = await send(answered(200), attempt({ isTest: true }));
    expect(posted[0]?.headers).toMatchObject({ 'webhook-test': 'true' });
    expect((await send(answered(200), attempt({ isTest: false }))).posted[0]?.headers).not.toHaveProperty(
      'webhook-test',
    );
  });

  test('sends a message instead of the event to a chat, also for an event that is not JSON', async () => {
    const target = { ...attempt().target, format: 'chat' } as const;
    for (const body of ['{"event":"payment.created"}', 'not json']) {
      const { posted } = await send(answered(200), attempt({ target, body: Buffer.from(body) }));
      const sent = String(posted[0]?.body);
      expect(sent).not.toBe(body);
      expect(JSON.parse(sent)).toMatchObject({ text: 'Payment created' });
    }
  });

  test('is logged with its request and response', async () => {
    const { table, items } = memoryTable({ now: () => NOON });
    const { attempted } = await send(answered(410));
    await logAttempt(table, attempt(), attempted);
    expect(items()).toMatchObject([
      {
        ...{ direction: 'outbound', status: 'failed', attempt: 2, target: 'WEBHOOK_1' },
        response: { http_status: 410, body: 'ok', duration_ms: 7 },
      },
    ]);
  });
});
