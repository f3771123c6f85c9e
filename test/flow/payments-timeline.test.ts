import { describe, expect, test } from 'vitest';
import { DECLINED, guestIntentBody, VISA } from '../builders/intent.ts';
import { intentEvent } from '../builders/provider-event.ts';
import { DAY_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { confirm, createIntent, signIn } from './flow.ts';
import { type RequestOptions, withHost } from './host.ts';
import { company, removeMember } from './payers.ts';
import type { ParsedJson, PaymentEntry } from './routes.ts';

const service = withHost({ frozen: true, env: { EXTERNAL_WEBHOOKS_ENABLED: 'true' } });

const timelineOf = async (paymentId: string, options: RequestOptions) => {
  const { status, body } = await service.get(`/payments/${paymentId}/timeline`, options);
  expect({ status, meta: body.meta }).toMatchObject({
    status: 200,
    meta: { payment_id: paymentId, is_complete: true },
  });
  return body.data;
};
const changesIn = (timeline: readonly PaymentEntry[]): string[] =>
  timeline
    .filter(({ kind }) => kind === 'change')
    .map(({ status, cause, attempt }) => `${cause} ${attempt}: ${status}`);

describe('a long timeline', () => {
  const UPDATES = 510;

  const pagesOf = async (path: string, options: RequestOptions) => {
    const pages: ParsedJson[][] = [];
    let next = path;
    while (next) {
      const { status, body, headers } = await service.get(next, options);
      expect(status).toBe(200);
      if (path.includes('limit=')) expect(body.data.length).toBeLessThanOrEqual(body.meta.limit);
      pages.push(body.data);
      const link = /^<(.*)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
      expect({ has_more: body.meta.has_more, cursor: body.meta.next_cursor !== null }).toEqual({
        has_more: link !== undefined,
        cursor: link !== undefined,
      });
      next = link ?? '';
    }
    return pages;
  };

  test('pages back to the first entry after 510 updates', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user);
    for (let update = 1; update <= UPDATES; update += 1) {
      const changed = await service.put(
        `/payments/intents/${payment.id}`,
        { category: `category ${update}` },
        user.options,
      );
      expect(changed.status).toBe(200);
    }
    await service.settle();
    const path = `/payments/${payment.id}/timeline`;
    const first = await service.get(path, user.options);
    expect(first.body.meta).toMatchObject({ is_complete: false, has_more: true, limit: 500 });
    for (const query of ['', '?limit=100']) {
      const entries = (await pagesOf(`${path}${query}`, user.options)).flat();
      const versions = entries.filter(({ kind }) => kind === 'change').map(({ version }) => version);
      expect(versions.toSorted((one, other) => one - other)).toEqual(
        Array.from({ length: UPDATES + 1 }, (_, index) => index + 1),
      );
      expect(entries.find(({ version }) => version === 1)).toMatchObject({ cause: 'create' });
      expect(entries.filter(({ kind }) => kind === 'delivery').map(({ event_type }) => event_type)).toEqual([
        'payment.created',
      ]);
      const named = entries.map(({ version, log_id }) => version ?? log_id);
      expect(new Set(named).size).toBe(named.length);
    }
    const newest = await service.get(`${path}?limit=3`, user.options);
    expect(newest.body.data.map(({ version }: ParsedJson) => version)).toEqual([509, 510, 511]);
  });

  test('is whole without a limit if it is short, and the same in pages of any size', async () => {
    const body = guestIntentBody({ payment_method_id: VISA });
    const { body: payment } = await service.post('/payments/intents', body);
    const guest = { guestToken: payment.guest_token };
    await confirm(service, payment.id, guest);
    await service.settle();
    const path = `/payments/${payment.id}/timeline`;
    const whole = await service.get(path, guest);
    expect(whole.body.meta).toMatchObject({ is_complete: true, has_more: false, next_cursor: null });
    const pages = await pagesOf(`${path}?limit=2`, guest);
    expect(pages.map((page) => page.map(({ cause }) => cause))).toEqual([['claim', 'answer'], ['create']]);
    expect(pages.toReversed().flat()).toEqual(whole.body.data);
  });

  test.each(['limit=0', 'limit=101', 'limit=x', 'cursor=x', 'cursor=of another'])(
    'is refused for %s',
    async (query) => {
      const user = await signIn(service);
      const [payment, other] = [await createIntent(service, user), await createIntent(service, user)];
      await service.put(`/payments/intents/${other.id}`, { category: 'books' }, user.options);
      await service.settle();
      const { body } = await service.get(`/payments/${other.id}/timeline?limit=1`, user.options);
      const asked = query === 'cursor=of another' ? `cursor=${body.meta.next_cursor}` : query;
      expect(await service.get(`/payments/${payment.id}/timeline?${asked}`, user.options)).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_ERROR' },
      });
    },
  );
});

describe('the timeline of a payment', () => {
  test('lists each claim and response, each event’s outcome and each delivery, in order', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user);
    await service.advance(MINUTE_SECONDS);
    await confirm(service, payment.id, { ...user.options, body: { payment_method_id: DECLINED } });
    await service.advance(MINUTE_SECONDS);
    await confirm(service, payment.id, { ...user.options, body: { payment_method_id: VISA } });
    await service.settle();
    const late = intentEvent(payment, 'payment_intent.processing', {
      created: Math.floor(service.now() / 1_000) - 3_600,
    });
    await service.sendEvent(late);
    await service.settle();
    const timeline = await timelineOf(payment.id, user.options);
    expect(changesIn(timeline)).toEqual([
      'create 0: requires_payment_method',
      'claim 1: processing',
      'answer 1: failed',
      'claim 2: processing',
      'answer 2: succeeded',
    ]);
    expect(timeline.find(({ status }) => status === 'failed')).toMatchObject({ failure_code: expect.any(String) });
    const events = timeline.filter(({ kind }) => kind === 'provider_event');
    expect(events.find(({ event_type }) => event_type === 'payment_intent.processing')).toMatchObject({
      outcome: 'ignored',
      reason: 'stale',
    });
    expect(timeline.filter(({ kind }) => kind === 'delivery')).toContainEqual(
      expect.objectContaining({
        event_type: 'payment.succeeded',
        target: 'WEBHOOK_1',
        status: 'success',
        http_status: 200,
      }),
    );
    expect(timeline.map(({ at }) => at)).toEqual(timeline.map(({ at }) => at).toSorted());
  });

  test('shows every attempt to deliver to a failing target', async () => {
    await service.control('POST', '/sink/default/behaviour', { status: 500 });
    const user = await signIn(service);
    const payment = await createIntent(service, user);
    await service.advance(6);
    await service.control('POST', '/sink/default/behaviour', { status: 200 });
    await service.advance(MINUTE_SECONDS);
    const tries = (await timelineOf(payment.id, user.options)).filter(
      ({ event_type, kind }) => kind === 'delivery' && event_type === 'payment.created',
    );
    expect(tries.map(({ attempt, status, http_status }) => [attempt, status, http_status])).toEqual([
      [1, 'failed', 500],
      [2, 'failed', 500],
      [3, 'success', 200],
    ]);
  });

  test('contains no secret, address or card', async () => {
    const { body: payment } = await service.post('/payments/intents', guestIntentBody({}, { email: 'g@example.com' }));
    await confirm(service, payment.id, { guestToken: payment.guest_token, body: { payment_method_id: VISA } });
    await service.settle();
    const text = JSON.stringify(await timelineOf(payment.id, { guestToken: payment.guest_token }));
    for (const secret of [payment.client_secret, payment.guest_token, 'g@example.com', '4242', VISA]) {
      expect(text).not.toContain(secret);
    }
  });

  test('shows provider events and deliveries only to callers who may read the webhook log', async () => {
    const acme = await company(service);
    const payment = await createIntent(service, acme.billing, { organization_id: acme.id });
    await service.settle();
    const kindsFor = async (options: RequestOptions) =>
      new Set((await timelineOf(payment.id, options)).map(({ kind }) => kind));
    for (const { options } of [acme.owner, acme.member, acme.billing]) {
      expect(await kindsFor(options)).toEqual(new Set(['change', 'delivery']));
    }
    await removeMember(service, acme, acme.billing);
    expect(await kindsFor(acme.billing.options)).toEqual(new Set(['change']));
  });

  test('shows guests only the changes of their payment', async () => {
    const { body: payment } = await service.post('/payments/intents', guestIntentBody({ payment_method_id: VISA }));
    const options = { guestToken: payment.guest_token };
    expect((await confirm(service, payment.id, options)).status).toBe(200);
    await service.settle();
    const timeline = await timelineOf(payment.id, options);
    expect(timeline.length).toBeGreaterThan(1);
    expect(changesIn(timeline)).toHaveLength(timeline.length);
  });

  test('keeps changes indefinitely, and log entries for 90 days', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user, { payment_method_id: VISA });
    await confirm(service, payment.id, user.options);
    // The provider's fee is read after a minute.
    await service.advance(2 * MINUTE_SECONDS);
    const before = await timelineOf(payment.id, user.options);
    expect(before.some(({ kind }) => kind !== 'change')).toBe(true);
    await service.advance(91 * DAY_SECONDS);
    const { session_id: session } = await service.session({ user_id: user.userId });
    const after = await timelineOf(payment.id, { session });
    expect(after.map(({ kind }) => kind)).toEqual(changesIn(before).map(() => 'change'));
  });

  test('returns 404 to all other callers', async () => {
    const payment = await createIntent(service, await signIn(service));
    const stranger = await signIn(service);
    expect((await service.get(`/payments/${payment.id}/timeline`, stranger.options)).status).toBe(404);
    expect((await service.get(`/payments/${payment.id}/timeline`)).status).toBe(401);
  });
});
