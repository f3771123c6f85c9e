import { beforeAll, describe, expect, test } from 'vitest';
import { DAY_MS, SECOND_MS } from '../../shared/core/time.ts';
import { logItem } from '../../shared/event-log/log-entry.ts';
import { freePort } from '../builders/free-port.ts';
import { present } from '../builders/present.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { changeTable, confirm, createPaidIntent, signIn, type User } from './flow.ts';
import { type RequestOptions, withHost } from './host.ts';
import { type Company, company, createCustomer } from './payers.ts';
import type { ParsedJson } from './routes.ts';
import { deliveredTo, nodesAt, SECRET, verified, webhookIdOf } from './targets.ts';

const port = await freePort();
const service = withHost({
  frozen: true,
  port,
  env: {
    RATE_LIMITS: 'on',
    ...nodesAt(port, {
      all: { EVENTS: 'all', EVENT_MODE: 'both', SECRET },
      payments: { EVENTS: 'payment.succeeded,payment.failed' },
      resting: { ENABLED: '' },
    }),
  },
});

let user: User;
let admin: User;
let acme: Company;
/** Members of `acme`, each in a session of that organization. */
let owner: User;
let member: User;

const within = (person: User): Promise<User> =>
  signIn(service, { user_id: person.userId, organization_id: acme.id } as object);

const list = async (options: RequestOptions, query = '') => {
  const { status, body } = await service.get(`/webhooks/logs${query}`, options);
  expect({ status, body }).toMatchObject({ status: 200 });
  return body;
};
const namesOf = (entries: readonly ParsedJson[]) => entries.map(({ event_type }) => event_type).sort();

beforeAll(async () => {
  user = await signIn(service);
  admin = await signIn(service, { is_admin: true });
  acme = await company(service);
  [owner, member] = [await within(acme.owner), await within(acme.member)];
  const payment = await createPaidIntent(service, user);
  await service.advance(1);
  await confirm(service, payment.id, user.options);
  await service.advance(1);
  await createPaidIntent(service, acme.owner, { organization_id: acme.id });
  await service.settle();
});

describe('the list of the webhook log', () => {
  test('shows a user the entries of their own payments, newest first', async () => {
    const entries = await list(user.options);
    expect(entries.map(({ event_type, direction, target }) => [event_type, direction, target])).toEqual(
      expect.arrayContaining([
        ['payment.succeeded', 'outbound', 'WEBHOOK_2'],
        ['payment.succeeded', 'outbound', 'WEBHOOK_1'],
        ['payment.created', 'outbound', 'WEBHOOK_1'],
        ['payment_intent.succeeded', 'inbound', null],
      ]),
    );
    const times = entries.map(({ created_at }) => created_at);
    expect(times).toEqual(times.toSorted().reverse());
    for (const entry of entries) {
      expect(entry).toEqual({
        id: expect.stringMatching(/^log_/),
        provider: 'provider_a',
        event_type: expect.any(String),
        status: 'success',
        direction: expect.stringMatching(/^(in|out)bound$/),
        attempt: 1,
        target: expect.toSatisfy((target) => target === null || /^WEBHOOK_[12]$/.test(target)),
        event_id: expect.any(String),
        payload: expect.any(Object),
        response: expect.any(Object),
        created_at: expect.any(String),
        next_attempt_at: null,
      });
    }
  });

  test('shows members of any role the entries of the session’s organization, without personal entries', async () => {
    for (const person of [owner, member]) {
      const entries = await list(person.options);
      expect(namesOf(entries.filter(({ direction }) => direction === 'outbound'))).toEqual(['payment.created']);
    }
    // Without an organization in the session, members see only their own entries, and here they have none.
    expect(await list(acme.owner.options)).toEqual([]);
  });

  test('is refused to callers who are not members of the session’s organization', async () => {
    const stranger = await signIn(service, { organization_id: acme.id });
    expect(await service.get('/webhooks/logs', stranger.options)).toMatchObject({
      status: 403,
      body: { code: 'ORGANIZATION_ACCESS_DENIED' },
    });
  });

  test('shows platform admins everything, including raw events', async () => {
    const all = await list(admin.options);
    expect(new Set(namesOf(all))).toEqual(
      new Set([
        'payment.created',
        'payment.succeeded',
        'payment_intent.created',
        'payment_intent.succeeded',
        'charge.succeeded',
        'provider_a:payment_intent.created',
        'provider_a:payment_intent.succeeded',
        'provider_a:charge.succeeded',
      ]),
    );
    const elsewhere = await signIn(service, { is_admin: true, organization_id: acme.id });
    expect(await list(elsewhere.options)).toEqual(all);
  });

  test('filters by provider, event type and status, alone and combined', async () => {
    const all = await list(admin.options);
    const wanted = (filter: (entry: ParsedJson) => boolean) => all.filter(filter);
    expect(await list(admin.options, '?provider=provider_a')).toEqual(all);
    expect(await list(admin.options, '?provider=provider_b')).toEqual([]);
    expect(await list(admin.options, '?event_type=payment.succeeded')).toEqual(
      wanted(({ event_type }) => event_type === 'payment.succeeded'),
    );
    expect(await list(admin.options, '?status=success')).toEqual(all);
    expect(await list(admin.options, '?status=failed')).toEqual([]);
    expect(await list(user.options, '?status=success&event_type=payment.succeeded&provider=provider_a')).toHaveLength(
      2,
    );
    expect(await list(user.options, '?event_type=payment.failed')).toEqual([]);
  });

  test('is paged, with total and next page in headers', async () => {
    const all = await list(admin.options);
    const pages: ParsedJson[] = [];
    let next: string | undefined = '/webhooks/logs?limit=3';
    while (next) {
      const { body, headers }: Awaited<ReturnType<typeof service.get>> = await service.get(next, admin.options);
      expect(body.length).toBeLessThanOrEqual(3);
      pages.push(...body);
      next = /^<(.*)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
    }
    expect(pages).toEqual(all);
    const { headers } = await service.get('/webhooks/logs', admin.options);
    expect(headers.get('x-total-count')).toBe(String(all.length));
    expect(await list(admin.options, `?limit=2&offset=${all.length - 1}`)).toEqual(all.slice(-1));
    expect(await list(admin.options, '?limit=100000')).toEqual(all);
  });

  test.each(['limit=0', 'limit=x', 'offset=-1', 'offset=10001', 'status=ok', 'provider=stripe'])(
    'is refused for %s',
    async (query) => {
      expect(await service.get(`/webhooks/logs?${query}`, user.options)).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_ERROR' },
      });
    },
  );

  test('omits a large payload, which the single entry shows', async () => {
    const payload = { items: Array.from({ length: 40 }, () => 'x'.repeat(500)) };
    const entry = logItem({
      provider: 'provider_c',
      eventType: 'large',
      eventId: 'evt_large',
      status: 'success',
      direction: 'inbound',
      attempt: 1,
      payload,
      response: {},
      createdAt: new Date(service.now()).toISOString(),
    });
    await changeTable(service, { put: entry });
    const [listed] = await list(admin.options, '?event_type=large');
    expect(listed?.payload).toEqual({ left_out: true, bytes: JSON.stringify(payload).length });
    expect((await service.get(`/webhooks/logs/${present(listed).id}`, admin.options)).body).toEqual({
      ...listed,
      payload,
    });
  });
});

describe('one entry of the webhook log', () => {
  test('shows redacted payload and response to callers who see it in the list', async () => {
    const [entry] = await list(user.options, '?event_type=payment.created');
    const { status, body } = await service.get(`/webhooks/logs/${entry?.id}`, user.options);
    expect({ status, body }).toEqual({ status: 200, body: entry });
    expect(body).toMatchObject({
      event_id: webhookIdOf((await deliveredTo(service, 'all', 'payment.created'))[0] as never),
      payload: { event: 'payment.created', data: { user: { email: expect.stringMatching(/^p\*\*\*@/) } } },
    });
    expect(body.response).toEqual({ http_status: 200, duration_ms: expect.any(Number) });
    const asAdmin = (await service.get(`/webhooks/logs/${entry?.id}`, admin.options)).body;
    expect(asAdmin).toEqual({ ...entry, response: { ...entry?.response, body: { received: true } } });
  });

  test('returns 404 to all other callers', async () => {
    const [own] = await list(user.options);
    const [organizations] = await list(owner.options);
    const raw = (await list(admin.options)).find(({ event_type }) => event_type.startsWith('provider_a:'));
    const stranger = await signIn(service);
    const former = await signIn(service, { organization_id: acme.id });
    for (const [entry, options] of [
      [own, stranger.options],
      [own, owner.options],
      [organizations, user.options],
      [organizations, acme.owner.options],
      [organizations, former.options],
      [raw, user.options],
      [{ id: 'log_000000000000000000000000' }, admin.options],
    ] as const) {
      expect(await service.get(`/webhooks/logs/${entry?.id}`, options)).toMatchObject({
        status: 404,
        body: { code: 'RESOURCE_NOT_FOUND', details: { resource: 'webhook_log' } },
      });
    }
  });

  test('expires after 90 days', async () => {
    const entry = logItem({
      provider: 'provider_c',
      eventType: 'old',
      eventId: 'evt_old',
      status: 'failed',
      direction: 'inbound',
      attempt: 1,
      payload: {},
      response: {},
      createdAt: new Date(service.now() - 90 * DAY_MS + 2 * SECOND_MS).toISOString(),
    });
    await changeTable(service, { put: entry });
    expect(await list(admin.options, '?event_type=old')).toHaveLength(1);
    await service.advance(2);
    expect(await list(admin.options, '?event_type=old')).toEqual([]);
    expect((await service.get(`/webhooks/logs/${entry['id']}`, admin.options)).status).toBe(404);
  });
});

describe('a test webhook', () => {
  const send = (options: RequestOptions, body: object) => service.post('/webhooks/test', body, options);

  test('goes to every target with a matching filter, marked as a test, with a result per target', async () => {
    const test_data = { payment_id: 'pay_mine', extra: { deep: [1] } };
    const { status, body } = await send(admin.options, { event: 'payment.created', test_data });
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        success: true,
        message: '1 of 1 targets accepted the test event',
        data: {
          event_id: expect.stringMatching(/^msg_test_/),
          event: 'payment.created',
          targets: [
            { node: 'WEBHOOK_1', host: `127.0.0.1:${port}`, matched: true, status: 'success', http_status: 200 },
            { node: 'WEBHOOK_2', host: `127.0.0.1:${port}`, matched: false, status: 'skipped' },
          ],
        },
      },
    });
    const delivered = (await deliveredTo(service, 'all')).at(-1);
    if (!delivered) throw new Error('nothing was delivered');
    expect(verified(delivered)).toEqual({
      event: 'payment.created',
      provider: 'provider_a',
      timestamp: new Date(service.now()).toISOString(),
      test: true,
      data: expect.objectContaining({ ...test_data, amount: 1_000, currency: 'USD', status: 'created', project: null }),
    });
    expect(webhookIdOf(delivered)).toBe(body.data.event_id);
  });

  const NAMED = {
    payment_id: 'pay_0123456789abcdef01234567',
    subscription_id: 'subs_0123456789abcdef01234567',
    customer_id: 'cust_0123456789abcdef01234567',
    membership_id: 'mbr_0123456789abcdef01234567',
    user: { id: 'user_victim', type: 'authenticated', email: 'victim@example.com' },
    organization_id: 'org_0123456789abcdef01234567',
    project: { id: 'proj_victim' },
  };
  const lastAt = async (sink: string) => {
    const delivered = (await deliveredTo(service, sink)).at(-1);
    if (!delivered) throw new Error('nothing was delivered');
    return delivered;
  };

  test('is marked as a test in body, data, header and id, whatever the request says', async () => {
    await service.advance(60);
    const test_data = { test: false, amount: 99_999_999 };
    for (const person of [admin, owner]) {
      const { body } = await send(person.options, { event: 'payment.succeeded', test_data });
      expect(body.data.event_id).toMatch(/^msg_test_[0-9a-f]{24}$/);
      for (const sink of ['all', 'payments']) {
        const { headers, body: sent } = await lastAt(sink);
        expect(headers).toMatchObject({ 'webhook-test': 'true', 'webhook-id': body.data.event_id });
        expect(sent).toMatchObject({ test: true, data: { test: true, amount: 99_999_999 } });
      }
      expect(verified(await lastAt('all'))).toMatchObject({ test: true, data: { test: true } });
      const [entry] = await list(person.options);
      expect(entry).toMatchObject({ event_id: body.data.event_id, payload: { test: true, data: { test: true } } });
      expect(await service.post(`/webhooks/logs/${entry?.id}/replay`, {}, person.options)).toMatchObject({
        status: 409,
        body: { code: 'INVALID_STATE', error: expect.stringContaining('test event') },
      });
    }
    await send(owner.options, { event: 'provider_a:payment_intent.succeeded', test_data });
    expect(await lastAt('all')).toMatchObject({
      headers: { 'webhook-test': 'true', 'webhook-id': expect.stringMatching(/^msg_test_/) },
      body: { test: true, data: { test: true, object: { test: true, amount: 99_999_999 } } },
    });
  });

  test.each(['payment.succeeded', 'subscription.updated', 'membership.activated', 'customer.updated'])(
    'contains the records named by a platform admin, and only sample records for other callers: %s',
    async (event) => {
      await service.advance(60);
      await send(admin.options, { event, test_data: NAMED });
      expect((await lastAt('all')).body.data).toMatchObject(NAMED);
      await send(owner.options, { event });
      const sample = (await lastAt('all')).body.data;
      await send(owner.options, { event, test_data: { ...NAMED, amount: 5 } });
      const { raw, body } = await lastAt('all');
      expect(body.data).toEqual({ ...sample, amount: 5 });
      expect(raw).not.toMatch(/victim|0123456789abcdef/);
      expect(JSON.stringify((await list(owner.options))[0])).not.toMatch(/victim|0123456789abcdef/);
    },
  );

  test.each(['payment.succeeded', 'provider_a:payment_intent.succeeded'])(
    'takes only amount, currency, status and reason from non-admin callers: %s',
    async (event) => {
      await service.advance(60);
      const facts = { amount: 99_999_999, currency: 'EUR', status: 'failed', reason: 'card_declined' };
      await send(owner.options, { event, test_data: facts });
      const taken = (await lastAt('all')).body;
      expect(taken.data.object ?? taken.data).toMatchObject(facts);
      const hidden = {
        provider_payment_id: 'pi_0123456789abcdef01234567',
        metadata: { payment_id: 'pay_0123456789abcdef01234567' },
        amount_received: 5,
        note: 'pay_0123456789abcdef01234567',
      };
      await send(owner.options, { event, test_data: { ...facts, ...hidden } });
      expect((await lastAt('all')).body.data).toEqual(taken.data);
      await send(admin.options, { event, test_data: { ...facts, ...hidden } });
      const byAdmin = (await lastAt('all')).body.data;
      expect(byAdmin.object ?? byAdmin).toMatchObject({ ...facts, ...hidden });
    },
  );

  test('ignores an id in place of an allowed value', async () => {
    await service.advance(60);
    const event = 'provider_a:payment_intent.succeeded';
    await send(owner.options, { event });
    const sample = (await lastAt('all')).body.data;
    const id = 'pay_0123456789abcdef01234567';
    const test_data = { amount: { payment_id: id }, currency: id, status: id, reason: [id] };
    await send(owner.options, { event, test_data });
    expect((await lastAt('all')).body.data).toEqual(sample);
  });

  test('contains no object chosen by a non-admin caller in a provider’s format', async () => {
    await service.advance(60);
    const test_data = { ...NAMED, id: 'pi_0123456789abcdef01234567', amount: 5 };
    await send(owner.options, { event: 'provider_a:payment_intent.succeeded', test_data });
    const { raw, body } = await lastAt('all');
    const sample = { id: 'test', amount: 5, currency: 'usd', status: 'succeeded', customer: 'test', test: true };
    expect(body.data.object).toEqual(sample);
    expect(raw).not.toMatch(/victim|0123456789abcdef/);
  });

  test('can be in a provider’s format', async () => {
    const event = 'provider_b:payment_intent.failed';
    const { body } = await send(admin.options, { event, test_data: { id: 'mine' } });
    expect(body.data.targets.map(({ status }) => status)).toEqual(['success', 'skipped']);
    expect((await deliveredTo(service, 'all', event)).map((delivered) => delivered.body)).toMatchObject([
      { type: 'payment_intent.failed', provider: 'provider_b', test: true, data: { object: { id: 'mine' } } },
    ]);
  });

  test.each([
    ['payment_intent.succeeded', 'succeeded'],
    ['payment_intent.failed', 'failed'],
    ['payment_intent.canceled', 'canceled'],
    ['payment_intent.processing', 'processing'],
    ['payment_intent.requires_action', 'requires_action'],
    ['payment_method.attached', 'active'],
    ['payment_method.detached', 'active'],
    ['payment_method.updated', 'active'],
    ['subscription.deleted', 'canceled'],
    ['subscription.trial_will_end', 'trialing'],
    ['invoice.payment_succeeded', 'succeeded'],
    ['invoice.payment_failed', 'failed'],
    ['customer.deleted', 'active'],
  ])('goes only to raw targets for the inbound type %s, in the interface’s format', async (type, status) => {
    await service.advance(60);
    const { body } = await send(admin.options, { event: type });
    const event = `provider_a:${type}`;
    expect(body.data).toMatchObject({ event, targets: [{ status: 'success' }, { matched: false, status: 'skipped' }] });
    const [delivered] = (await deliveredTo(service, 'all', event)).slice(-1);
    if (!delivered) throw new Error('nothing was delivered');
    expect(verified(delivered)).toEqual({
      ...{
        id: body.data.event_id,
        type,
        provider: 'provider_a',
        test: true,
        created: Math.floor(service.now() / 1_000),
      },
      data: {
        test: true,
        object: { test: true, id: 'test', amount: 1_000, currency: 'usd', status, customer: 'test' },
      },
    });
    expect((await list(admin.options))[0]).toMatchObject({ event_type: event, payload: { test: true } });
  });

  test.each(['subscription.created', 'subscription.updated', 'customer.created', 'customer.updated'])(
    'is the canonical event for %s, or the inbound event if the request names a slot',
    async (event) => {
      await service.advance(60);
      expect((await send(admin.options, { event })).body.data).toMatchObject({ event });
      expect((await lastAt('all')).body).toMatchObject({ event, test: true });
      const slotted = await send(admin.options, { event: `provider_c:${event}` });
      expect(slotted.body.data).toMatchObject({ event: `provider_c:${event}` });
      expect((await lastAt('all')).body).toMatchObject({ type: event, provider: 'provider_c', test: true });
    },
  );

  test('reports a failed target, tries the target once, and is in the sender’s log', async () => {
    await service.control('POST', '/sink/all/behaviour', { status: 503, times: 1 });
    const { body } = await send(owner.options, { event: 'payment.succeeded' });
    expect(body.message).toBe('1 of 2 targets accepted the test event');
    expect(body.data.targets).toMatchObject([
      { status: 'failed', http_status: 503 },
      { status: 'success', http_status: 200 },
    ]);
    await service.advance(60);
    const entries = await list(member.options, '?event_type=payment.succeeded');
    expect(entries.filter(({ event_id }) => event_id === body.data.event_id)).toMatchObject([
      { status: expect.any(String), attempt: 1, payload: { test: true } },
      { status: expect.any(String), attempt: 1, payload: { test: true } },
    ]);
    expect(await list(owner.options, '?status=failed')).toMatchObject([
      { target: 'WEBHOOK_1', event_id: body.data.event_id },
    ]);
  });

  test.each([
    'payment.paid',
    'payment',
    'provider_a:',
    'provider_e:payment_intent.failed',
    'provider_a:provider_a:payment_intent.failed',
    'payment_intent.paid',
    'all',
  ])('is refused for the unknown event %s', async (event) => {
    expect(await send(admin.options, { event })).toMatchObject({ status: 400, body: { code: 'UNKNOWN_EVENT' } });
    await service.advance(60);
  });

  test('can be sent by platform admins, and by owners and admins of the session’s organization', async () => {
    const event = 'payment.created';
    const [billing, organizationAdmin] = [await within(acme.billing), await within(acme.admin)];
    expect((await send(organizationAdmin.options, { event })).status).toBe(200);
    for (const person of [member, billing, user, acme.owner]) {
      expect(await send(person.options, { event })).toMatchObject({
        status: 403,
        body: { code: 'INSUFFICIENT_PERMISSIONS' },
      });
    }
    const stranger = await signIn(service, { organization_id: acme.id });
    expect(await send(stranger.options, { event })).toMatchObject({
      status: 403,
      body: { code: 'ORGANIZATION_ACCESS_DENIED' },
    });
  });

  test('is limited to ten per minute', async () => {
    const sender = await signIn(service, { is_admin: true });
    await service.advance(60);
    const statuses: number[] = [];
    for (let at = 0; at < 11; at += 1)
      statuses.push((await send(sender.options, { event: 'customer.created' })).status);
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 429]);
  });
});

describe('a replayed webhook', () => {
  const replay = (id: string, options: RequestOptions) => service.post(`/webhooks/logs/${id}/replay`, {}, options);
  /** The log entry of a new organization event, and the delivery to its target. */
  const sent = async () => {
    const customer = await createCustomer(service, acme.owner.options, { organization_id: acme.id });
    await service.settle();
    const entries = await list(owner.options, '?event_type=customer.created');
    const entry = entries.find(({ payload }) => payload.data.customer_id === customer.id);
    const received = async () =>
      (await deliveredTo(service, 'all', 'customer.created')).filter(({ raw }) => raw.includes(customer.id));
    return { entry, received };
  };

  test('goes to its target under the same id, byte for byte, with a new timestamp', async () => {
    const { entry, received } = await sent();
    await service.advance(3_600);
    expect(await replay(present(entry).id, owner.options)).toMatchObject({
      status: 200,
      body: {
        success: true,
        data: { event_id: present(entry).event_id, event: 'customer.created', target: 'WEBHOOK_1', status: 'queued' },
      },
    });
    await service.settle();
    const [first, second, ...more] = await received();
    expect(more).toEqual([]);
    if (!first || !second) throw new Error('it was not sent twice');
    expect([webhookIdOf(second), second.raw]).toEqual([webhookIdOf(first), first.raw]);
    expect(Number(second.headers['webhook-timestamp']) - Number(first.headers['webhook-timestamp'])).toBe(3_600);
    expect(verified(second)).toEqual(first.body);
    const entries = (await list(owner.options)).filter(({ event_id }) => event_id === present(entry).event_id);
    expect(entries).toMatchObject([
      { attempt: 1, status: 'success' },
      { attempt: 1, status: 'success' },
    ]);
  });

  test('gets all the retries of a new delivery', async () => {
    const { entry, received } = await sent();
    await service.advance(1);
    await service.control('POST', '/sink/all/behaviour', { status: 500, times: 3 });
    await replay(present(entry).id, owner.options);
    await service.advance(35);
    expect(await received()).toHaveLength(1 + 4);
    const entries = (await list(owner.options, '?event_type=customer.created')).filter(
      ({ event_id }) => event_id === present(entry).event_id,
    );
    expect(entries.map(({ attempt, status }) => [attempt, status])).toEqual([
      [4, 'success'],
      [3, 'failed'],
      [2, 'failed'],
      [1, 'failed'],
      [1, 'success'],
    ]);
  });

  test('has the same bytes in a provider’s format', async () => {
    const raw = (await list(admin.options, '?event_type=provider_a:payment_intent.succeeded')).at(-1);
    await replay(present(raw).id, admin.options);
    await service.settle();
    const same = (await deliveredTo(service, 'all')).filter(
      (delivered) => webhookIdOf(delivered) === present(raw).event_id,
    );
    expect(same.map((delivered) => delivered.raw)).toEqual([same[0]?.raw, same[0]?.raw]);
  });

  test('can be requested by platform admins, and by owners and admins of its organization', async () => {
    const { entry, received } = await sent();
    for (const person of [await within(acme.admin), admin]) {
      expect((await replay(present(entry).id, person.options)).status).toBe(200);
    }
    for (const person of [member, await within(acme.billing)]) {
      expect(await replay(present(entry).id, person.options)).toMatchObject({
        status: 403,
        body: { code: 'INSUFFICIENT_PERMISSIONS' },
      });
    }
    expect((await replay(present(entry).id, user.options)).status).toBe(404);
    const [own] = await list(user.options, '?event_type=payment.created');
    expect(await replay(present(own).id, user.options)).toMatchObject({ status: 403 });
    await service.settle();
    expect(await received()).toHaveLength(3);
  });

  test('can only be made from an outbound entry', async () => {
    const inbound = (await list(admin.options)).find(({ direction }) => direction === 'inbound');
    expect(await replay(present(inbound).id, admin.options)).toMatchObject({
      status: 409,
      body: { code: 'INVALID_STATE' },
    });
  });

  test('is sent once per Idempotency-Key', async () => {
    const { entry, received } = await sent();
    const options = { ...owner.options, idempotencyKey: 'again' };
    const [first, second] = [await replay(present(entry).id, options), await replay(present(entry).id, options)];
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(second.body.data).toEqual(first.body.data);
    await service.settle();
    expect(await received()).toHaveLength(2);
  });

  test('is refused after 60 replays in a minute by the same caller', async () => {
    const [hasty, other] = [await signIn(service, { is_admin: true }), await signIn(service, { is_admin: true })];
    const inbound = (await list(admin.options)).find(({ direction }) => direction === 'inbound');
    await service.moveTo(new Date(Math.ceil((service.now() + 1) / 60_000) * 60_000 + 20_000).toISOString());
    const statuses: number[] = [];
    for (let at = 0; at < 60; at += 1) statuses.push((await replay(present(inbound).id, hasty.options)).status);
    expect(new Set(statuses)).toEqual(new Set([409]));
    const refused = await replay(present(inbound).id, hasty.options);
    expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
    expect(refused.headers.get('retry-after')).toBe('41');
    expect((await replay(present(inbound).id, other.options)).status).toBe(409);
    await service.advance(41);
    expect((await replay(present(inbound).id, hasty.options)).status).toBe(409);
  });

  test('is possible for 30 days', async () => {
    const { entry, received } = await sent();
    await service.advance(30 * DAY_SECONDS - 1);
    const late = await signIn(service, { is_admin: true });
    expect((await replay(present(entry).id, late.options)).status).toBe(200);
    await service.advance(1);
    expect(await replay(present(entry).id, late.options)).toMatchObject({
      status: 409,
      body: { code: 'INVALID_STATE' },
    });
    expect(await received()).toHaveLength(2);
  });
});
