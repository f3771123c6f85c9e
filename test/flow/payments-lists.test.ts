import { beforeAll, describe, expect, test } from 'vitest';
import { guestIntentBody, VISA } from '../builders/intent.ts';
import { present } from '../builders/present.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { confirm, createIntent, createPaidIntent, PATIENT, signIn, type User } from './flow.ts';
import { type RequestOptions, type TestHost, withHost } from './host.ts';
import type { ParsedJson, PaymentBody } from './routes.ts';

const idsOf = (list: readonly { readonly id: string }[]): string[] => list.map(({ id }) => id);

describe('the payment list of a user', () => {
  const service = withHost({ frozen: true, env: PATIENT });
  let user: User;
  /** Oldest first. Each minute, five payments are created at the same moment. */
  let payments: PaymentBody[] = [];

  const list = (query = '', options: RequestOptions = user.options) => service.get(`/payments${query}`, options);
  const listed = async (query = '') => {
    const answer = await list(query);
    expect(answer).toMatchObject({ status: 200, body: { success: true } });
    return answer.body.data;
  };

  beforeAll(async () => {
    user = await signIn(service, { email: 'lister@example.com', expires_in: 30 * DAY_SECONDS });
    const other = await signIn(service);
    for (let minute = 0; minute < 6; minute += 1) {
      const made = await Promise.all(
        Array.from({ length: 5 }, (_, index) =>
          createPaidIntent(service, user, {
            total_cents: 100 + (((minute * 5 + index) * 7) % 30),
            description: `Order ${minute}-${index} ${index === 0 ? 'SPÉCIAL' : 'plain'}`,
          }),
        ),
      );
      payments.push(...made);
      await createPaidIntent(service, other);
      await service.advance(60);
    }
    const at = (index: number): string => present(payments[index]).id;
    await Promise.all([0, 7, 14].map((index) => confirm(service, at(index), user.options)));
    await confirm(service, at(21), { ...user.options, body: { payment_method_id: 'pm_card_visa_chargeDeclined' } });
    await confirm(service, at(22), { ...user.options, body: { payment_method_id: 'pm_sim_processing_ok' } });
    await confirm(service, at(23), { ...user.options, body: { payment_method_id: 'pm_card_authenticationRequired' } });
    await service.post(`/payments/intents/${at(28)}/cancel`, {}, user.options);
    await service.settle();
    const shown = await Promise.all([1, 2, 3].map((page) => list(`?limit=10&page=${page}&orderDir=asc`)));
    payments = shown.flatMap(({ body }) => body.data);
  });

  test('shows every payment of the user once, newest first, 20 per page', async () => {
    const answer = await list();
    expect(answer.body).toMatchObject({
      success: true,
      meta: { page: 1, limit: 20, total: 30, hasMore: true, orderBy: 'created_at', orderDir: 'desc' },
      user_context: {
        authenticated: true,
        user_id: user.userId,
        user_type: 'authenticated',
        user_email: 'lister@example.com',
        search_method: 'session',
      },
    });
    expect(answer.headers.get('x-total-count')).toBe('30');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const second = await list('?page=2');
    expect(second.body.meta).toMatchObject({ page: 2, total: 30, hasMore: false });
    expect([...idsOf(answer.body.data), ...idsOf(second.body.data)]).toEqual(idsOf(payments.toReversed()));
    expect(new Set(idsOf(payments)).size).toBe(30);
    const times = payments.map(({ created_at }) => created_at);
    expect(times).toEqual(times.toSorted());
  });

  test.each([1, 7, 29, 30, 50])(
    'returns the same payments by page number and by cursor, %i per page',
    async (limit) => {
      const byNumber: string[] = [];
      const byCursor: string[] = [];
      for (let page = 1; byNumber.length < 30; page += 1) {
        const { data, meta } = (await list(`?limit=${limit}&page=${page}`)).body;
        byNumber.push(...idsOf(data));
        expect(meta).toMatchObject({ total: 30, hasMore: byNumber.length < 30 });
      }
      for (let cursor: string | undefined = ''; cursor !== undefined; ) {
        const { data, meta }: ParsedJson = (await list(`?limit=${limit}${cursor && `&cursor=${cursor}`}`)).body;
        byCursor.push(...idsOf(data));
        cursor = meta.next_cursor;
        expect(meta.hasMore).toBe(cursor !== undefined);
      }
      expect(byNumber).toEqual(idsOf(payments.toReversed()));
      expect(byCursor).toEqual(byNumber);
    },
  );

  test('is empty after the last page, with the same total', async () => {
    expect((await list('?page=3')).body).toMatchObject({ data: [], meta: { page: 3, total: 30, hasMore: false } });
    expect((await list('?page=1000000')).body).toMatchObject({ data: [], meta: { total: 30, hasMore: false } });
  });

  test.each([
    ['succeeded', 3],
    ['failed', 1],
    ['processing', 1],
    ['pending', 1],
    ['canceled', 1],
    ['created', 23],
    ['requires_payment_method', 0],
    ['succeeded,failed', 4],
    ['succeeded&status=canceled', 4],
  ])('filters by status=%s: %i', async (status, count) => {
    const { data, meta } = (await list(`?status=${status}&limit=50`)).body;
    const wanted = new Set(status.split(/,|&status=/));
    expect(idsOf(data)).toEqual(idsOf(payments.toReversed().filter((payment) => wanted.has(payment.status))));
    expect({ shown: data.length, total: meta.total }).toEqual({ shown: count, total: count });
    const firstOnly = (await list(`?status=${status}&limit=1`)).body;
    expect(firstOnly.meta).toMatchObject({ total: count, hasMore: count > 1 });
  });

  test('filters by creation time, with both bounds included', async () => {
    const moments = [...new Set(payments.map(({ created_at }): string => created_at))].sort();
    expect(moments).toHaveLength(6);
    const [, second = '', , fourth = ''] = moments;
    expect(await listed(`?created_at_from=${second}&created_at_to=${fourth}`)).toHaveLength(15);
    expect(await listed(`?created_at_from=${second}&created_at_to=${second}`)).toHaveLength(5);
    const after = new Date(Date.parse(second) + 1).toISOString();
    const before = new Date(Date.parse(fourth) - 1).toISOString();
    expect(await listed(`?created_at_from=${after}&created_at_to=${before}`)).toHaveLength(5);
    expect(await list(`?created_at_from=${fourth}&created_at_to=${second}`)).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_ERROR', details: [{ path: 'created_at_to' }] },
    });
    expect(await listed(`?limit=50&created_at_to=${fourth.replace('Z', '%2B00:00')}`)).toHaveLength(20);
    const day = second.slice(0, 10);
    expect((await list(`?created_at_from=${day}&created_at_to=${moments.at(-1)?.slice(0, 10)}`)).body.meta.total).toBe(
      30,
    );
    expect((await list(`?created_at_from=2020-01-01&created_at_to=2020-12-31`)).body).toMatchObject({
      data: [],
      meta: { total: 0 },
    });
  });

  test('searches id, e-mail and description without regard to case', async () => {
    const wanted = present(payments[13]);
    expect(idsOf(await listed(`?search=${wanted.id}`))).toEqual([wanted.id]);
    expect(await listed(`?search=${wanted.id.slice(0, -1)}`)).toEqual([]);
    expect(await listed('?search=LISTER%40example&limit=50')).toHaveLength(30);
    expect(await listed('?search=order%203-')).toHaveLength(5);
    expect(await listed(`?search=${encodeURIComponent('spécial')}`)).toHaveLength(6);
    expect(await listed('?search=nothing-like-this')).toEqual([]);
    const combined = await listed(`?search=plain&status=succeeded`);
    expect(combined.every(({ status, description }) => status === 'succeeded' && description.includes('plain'))).toBe(
      true,
    );
    expect(combined.length).toBeGreaterThan(0);
    expect(await listed(`?search=${wanted.id}&status=failed`)).toEqual([]);
    const other = await signIn(service);
    expect((await list(`?search=${wanted.id}`, other.options)).body.data).toEqual([]);
  });

  test.each(['amount_cents', 'status', 'updated_at', 'created_at'] as const)(
    'orders by %s, ascending and descending',
    async (orderBy) => {
      const up = await listed(`?orderBy=${orderBy}&orderDir=asc&limit=50`);
      const down = await listed(`?orderBy=${orderBy}&orderDir=desc&limit=50`);
      expect(up).toHaveLength(30);
      expect(idsOf(down)).toEqual(idsOf(up).toReversed());
      const values = up.map((payment) => payment[orderBy]);
      expect(values).toEqual(values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0)));
      const paged: string[] = [];
      for (const page of [1, 2, 3, 4])
        paged.push(...idsOf(await listed(`?orderBy=${orderBy}&orderDir=asc&limit=9&page=${page}`)));
      expect(paged).toEqual(idsOf(up));
      expect((await list(`?orderBy=${orderBy}&limit=9`)).body.meta).toMatchObject({
        total: 30,
        orderBy,
        orderDir: 'desc',
      });
    },
  );

  test('includes the payment method on request', async () => {
    for (const query of ['?include=payment_method', '?include=pm', '?include_pm=true', '?include_payment_method=1']) {
      const [first] = await listed(`${query}&limit=1`);
      expect(first).toHaveProperty('payment_method', null);
    }
    const [plain] = await listed('?limit=1');
    expect(plain).not.toHaveProperty('payment_method');
  });

  test('is returned without an envelope on request', async () => {
    const asked: [string, RequestOptions][] = [
      ['?envelope=false', {}],
      ['', { headers: { 'x-response-form': 'bare' } }],
      ['?envelope=true', { headers: { 'x-response-form': 'bare' } }],
    ];
    for (const [query, options] of asked) {
      const answer = await service.get<string>(`/payments${query}`, { ...user.options, ...options });
      expect(idsOf(answer.body)).toEqual(idsOf(payments.toReversed().slice(0, 20)));
      expect(answer.headers.get('x-total-count')).toBe('30');
      expect(answer.headers.get('link')).toMatch(/^<\/payments\?.*page=2.*>; rel="next"$/);
    }
    const link = (await list(`?envelope=false&limit=29&session_id=${user.session}`, {})).headers.get('link') ?? '';
    expect(link).not.toContain(user.session);
    const last = await service.get(/<(.*)>/.exec(link)?.[1] ?? '', user.options);
    expect(idsOf(last.body)).toEqual(idsOf(payments.slice(0, 1)));
    expect(last.headers.get('link')).toBeNull();
  });

  test('continues from its cursor while newer payments are created', async () => {
    const latecomer = await signIn(service);
    const first = [];
    for (let count = 0; count < 4; count += 1) {
      first.push(await createIntent(service, latecomer));
      await service.advance(1);
    }
    const { data, meta } = (await list('?limit=2', latecomer.options)).body;
    await createIntent(service, latecomer);
    const next = (await list(`?limit=2&cursor=${meta.next_cursor}`, latecomer.options)).body;
    expect([...idsOf(data), ...idsOf(next.data)]).toEqual(idsOf(first.toReversed()));
    expect(await list(`?limit=50&cursor=${meta.next_cursor}`)).toMatchObject({
      status: 400,
      body: { details: [{ path: 'cursor', rule: 'cursor', message: 'is the next_cursor of another list' }] },
    });
  });

  test('requires an existing project, and refuses unknown and foreign organizations alike', async () => {
    expect(await list('?project_id=prj_none')).toMatchObject({
      status: 404,
      body: { details: { resource: 'project' } },
    });
    expect(await list('?organization_id=org_none')).toMatchObject({
      status: 403,
      body: { code: 'ORGANIZATION_ACCESS_DENIED' },
    });
    expect(idsOf(await listed('?organization_id='))).toEqual(idsOf(payments.toReversed().slice(0, 20)));
  });

  test('reports every problem of a query in one response', async () => {
    const query =
      '?page=0&limit=51&status=paid&created_at_from=yesterday&created_at_to=2020-13-01&orderBy=id&orderDir=up' +
      `&include_pm=perhaps&search=${'x'.repeat(201)}&project_id=${'p'.repeat(65)}`;
    const answer = await list(query);
    expect(answer).toMatchObject({ status: 400, body: { success: false, code: 'VALIDATION_ERROR' } });
    const paths = answer.body.details.map(({ path }) => path.split('.')[0]);
    expect(new Set(paths)).toEqual(
      new Set([
        'page',
        'limit',
        'status',
        'created_at_from',
        'created_at_to',
        'orderBy',
        'orderDir',
        'include_pm',
        'search',
        'project_id',
      ]),
    );
    for (const problem of answer.body.details) {
      expect(problem).toEqual({ path: expect.any(String), rule: expect.any(String), message: expect.any(String) });
    }
  });

  test.each(['limit=0', 'limit=-1', 'limit=1.5', 'limit=ten', 'page=0', 'page=1e3', 'cursor=nonsense', 'status=,'])(
    'refuses %s',
    async (query) => {
      expect(await list(`?${query}`)).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    },
  );

  test('refuses a cursor from a list in another order', async () => {
    const { meta } = (await list('?limit=2')).body;
    expect(await list(`?orderBy=amount_cents&cursor=${meta.next_cursor}`)).toMatchObject({
      status: 400,
      body: { code: 'UNSUPPORTED_FILTER' },
    });
  });
});

describe('GET of one payment', () => {
  const service = withHost({ frozen: true, env: PATIENT });

  test('returns an envelope by default, or none on request, like every other response', async () => {
    const user = await signIn(service);
    const payment = await createPaidIntent(service, user);
    const path = `/payments/${payment.id}`;
    expect((await service.get(path, user.options)).body).toEqual({ success: true, data: payment });
    expect((await service.get(`${path}?envelope=false`, user.options)).body).toEqual(payment);
    const enveloped = { ...user.options, headers: { 'X-Response-Form': 'envelope' } };
    expect((await service.put(`/payments/intents/${payment.id}`, {}, enveloped)).body).toMatchObject({
      success: true,
      data: { id: payment.id },
    });
    expect((await confirm(service, payment.id, enveloped)).body).toMatchObject({
      success: true,
      data: { id: payment.id, status: 'succeeded' },
    });
    const created = await service.post(
      '/payments/intents?envelope=true',
      { total_cents: 100, currency: 'USD' },
      user.options,
    );
    expect(created).toMatchObject({ status: 201, body: { success: true, data: { total_cents: 100 } } });
  });

  test('returns the payment only if all scope parameters match, else 404', async () => {
    const user = await signIn(service);
    const payment = await createPaidIntent(service, user);
    for (const guard of [
      'organization_id=org_x',
      'project_id=prj_x',
      'product_id=prd_x',
      'project_id=a&product_id=b',
    ]) {
      expect(await service.get(`/payments/${payment.id}?${guard}`, user.options)).toMatchObject({
        status: 404,
        body: { code: 'RESOURCE_NOT_FOUND' },
      });
    }
  });

  test('contains the requested records, and null for a missing record', async () => {
    const user = await signIn(service);
    const payment = await createPaidIntent(service, user);
    const get = async (query: string) =>
      (await service.get(`/payments/${payment.id}?${query}`, user.options)).body.data;
    expect(await get('include=payment_method,project,organization,subscription,product,order')).toMatchObject({
      payment_method: null,
      project: null,
      organization: null,
      subscription: null,
      product: null,
      order: null,
    });
    expect(await get('include=pm')).toHaveProperty('payment_method', null);
    expect(await get('include_pm=true&include_project=true')).toMatchObject({ payment_method: null, project: null });
    expect(await get('include_pm=false')).not.toHaveProperty('payment_method');
    const unknown = await service.get(`/payments/${payment.id}?include=payment_method,secrets`, user.options);
    expect(unknown).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
  });
});

/** The fields shown without a credential. */
const SMALL = [
  'id',
  'status',
  'provider_id',
  'subtotal_cents',
  'tax_cents',
  'discount_cents',
  'amount_cents',
  'total_cents',
  'currency',
  'description',
  'is_guest_payment',
  'guest_email',
  'created_at',
  'updated_at',
  'completed_at',
];

const guestPayment = async (service: TestHost, email: string, options: RequestOptions = {}) => {
  const body = guestIntentBody({ description: 'A gift', metadata: { a: '1' } }, { email });
  return (await service.post('/payments/intents', body, options)).body;
};
const guestList = (service: TestHost, email: string, options: RequestOptions = {}) =>
  service.get(`/payments/guest/${encodeURIComponent(email)}`, options);
const isFull = (payment: object = {}): boolean => 'metadata' in payment && 'provider_payment_id' in payment;

describe.each(['minimal', 'full', 'token'] as const)(
  'a guest’s payment list by e-mail with GUEST_EMAIL_LIST=%s',
  (mode) => {
    const service = withHost({ frozen: true, env: { ...PATIENT, GUEST_EMAIL_LIST: mode } });

    test('shows limited fields without a token', async () => {
      const payment = await guestPayment(service, 'open@example.com');
      await confirm(service, payment.id, { guestToken: payment.guest_token, body: { payment_method_id: VISA } });
      const answer = await guestList(service, 'Open@Example.com');
      if (mode === 'token') {
        expect(answer).toMatchObject({ status: 401, body: { code: 'AUTHENTICATION_REQUIRED' } });
        return;
      }
      expect(answer).toMatchObject({
        status: 200,
        body: {
          success: true,
          data: [{ id: payment.id, status: 'succeeded' }],
          meta: { page: 1, total: 1, hasMore: false },
        },
      });
      expect(answer.body).not.toHaveProperty('user_context');
      expect(answer.headers.get('x-total-count')).toBe('1');
      const [shown] = answer.body.data;
      if (mode === 'minimal') expect(Object.keys(present(shown)).sort()).toEqual(SMALL.toSorted());
      else expect(isFull(shown)).toBe(true);
      expect(shown).not.toHaveProperty('client_secret');
    });

    test('shows the token’s guest in full, and limits other guests by the setting', async () => {
      const mine = await guestPayment(service, 'two@example.com');
      await service.advance(1);
      const theirs = await guestPayment(service, 'two@example.com');
      const answer = await guestList(service, 'two@example.com', { guestToken: mine.guest_token });
      expect(idsOf(answer.body.data)).toEqual([theirs.id, mine.id]);
      const [other, own] = answer.body.data;
      expect(isFull(own)).toBe(true);
      expect(isFull(other)).toBe(mode === 'full');
      expect(JSON.stringify(answer.body)).not.toContain('_secret_');
    });

    test('ignores a token for another e-mail', async () => {
      const payment = await guestPayment(service, 'three@example.com');
      const other = await guestPayment(service, 'four@example.com');
      const answer = await guestList(service, 'three@example.com', { guestToken: other.guest_token });
      if (mode === 'token') expect(answer.status).toBe(401);
      else expect(answer.body.data.map(isFull)).toEqual([mode === 'full']);
      expect(JSON.stringify(answer.body)).not.toContain(payment.client_secret);
    });

    test('refuses an invalid token', async () => {
      const answer = await guestList(service, 'five@example.com', { guestToken: 'nonsense' });
      expect(answer).toMatchObject({ status: 401, body: { code: 'SESSION_INVALID' } });
    });

    test('is empty for an unknown e-mail, and refuses an invalid e-mail', async () => {
      const token = (await guestPayment(service, 'six@example.com')).guest_token;
      const options = mode === 'token' ? { guestToken: token } : {};
      const unknown = await guestList(service, mode === 'token' ? 'six@example.com' : 'unknown@example.com', options);
      expect(unknown.status).toBe(200);
      if (mode !== 'token') expect(unknown.body).toMatchObject({ data: [], meta: { total: 0, hasMore: false } });
      for (const email of ['not-an-email', 'a@b', `${'x'.repeat(250)}@example.com`]) {
        expect(await guestList(service, email, options)).toMatchObject({
          status: 400,
          body: { code: 'VALIDATION_ERROR' },
        });
      }
    });

    test('never shows payments of a signed-in user with the same e-mail', async () => {
      const user = await signIn(service, { email: 'both@example.com' });
      await createPaidIntent(service, user);
      const guest = await guestPayment(service, 'both@example.com');
      const answer = await guestList(service, 'both@example.com', { guestToken: guest.guest_token });
      expect(idsOf(answer.body.data)).toEqual([guest.id]);
      expect((await service.get('/payments', user.options)).body.meta.total).toBe(1);
    });

    test('is paged', async () => {
      const first = await guestPayment(service, 'many@example.com');
      const token = { guestToken: first.guest_token };
      const made = [first.id];
      for (let count = 0; count < 4; count += 1) {
        await service.advance(1);
        made.push((await guestPayment(service, 'many@example.com', token)).id);
      }
      const path = '/payments/guest/many@example.com?limit=2';
      const pages = await Promise.all([1, 2, 3].map((page) => service.get(`${path}&page=${page}`, token)));
      expect(pages.flatMap(({ body }) => idsOf(body.data))).toEqual(made.toReversed());
      await service.settle();
      expect((await service.get(path, token)).body.meta).toMatchObject({ limit: 2, total: 5, hasMore: true });
      const linked: string[] = [];
      for (let next = `${path}&envelope=false`; next !== ''; ) {
        const answer = await service.get(next, token);
        linked.push(...idsOf(answer.body));
        next = /<(.*)>/.exec(answer.headers.get('link') ?? '')?.[1] ?? '';
      }
      expect(linked).toEqual(made.toReversed());
    });
  },
);
