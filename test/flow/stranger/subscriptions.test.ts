import { describe, expect, test } from 'vitest';
import {
  DEMO_OWNER,
  expectError,
  idsOf,
  recordOf,
  type SignedPerson,
  service as startService,
  TIMESTAMP,
} from './http.ts';
import { MONTHLY, recordsIn } from './records.ts';

const service = startService();
const make = recordsIn(service);

const DAY = 86_400;

/** What the body of a new subscription names. */
const payer = async (more = {}) => {
  const person = await service.person();
  const { id: customer_id } = await make.customer(person, more);
  const { id: payment_method_id } = await make.method(person.caller, more);
  return { person, named: { customer_id, payment_method_id } };
};

/** One who may have many subscriptions. */
let shared: ReturnType<typeof payer> | undefined;
const thePayer = () => {
  shared ??= payer();
  return shared;
};

const show = async (id: string, { caller }: SignedPerson) =>
  recordOf(await service.get(`/subscriptions/${id}`, caller));

describe('a new subscription', () => {
  test('is created from its required fields, active and with every field of its table', async () => {
    const { person, named } = await payer();
    const answer = await service.post('/subscriptions', { ...named, ...MONTHLY }, person.caller);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    const made = recordOf(answer);
    expect(made).toMatchObject({
      ...{ id: expect.any(String), ...named, ...MONTHLY, product_id: null, provider_id: 'provider_a' },
      ...{ provider_subscription_id: expect.any(String), status: 'active', billing_status: 'active' },
      ...{ current_period_start: TIMESTAMP, current_period_end: TIMESTAMP, next_billing_date: TIMESTAMP },
      ...{ cancel_at_period_end: false, trial_end: null, tax_cents: 0, discount_cents: 0, interval_multiplier: 1 },
      ...{ user_id: person.userId, billing_address_id: null, is_guest_subscription: false, created_at: TIMESTAMP },
    });
    for (const name of ['concept', 'description', 'reference_code', 'category', 'tags', 'metadata']) {
      expect(made).toHaveProperty(name);
    }
    expect(await show(made.id, person)).toMatchObject({ id: made.id, status: 'active' });
  });

  test.each(['customer_id', 'payment_method_id', 'subtotal_cents', 'total_cents', 'currency', 'billing_interval'])(
    'is refused without a product and without %s',
    async (missing) => {
      const { person, named } = await thePayer();
      const body = { ...named, ...MONTHLY, [missing]: undefined };
      expectError(await service.post('/subscriptions', body, person.caller), 400, 'VALIDATION_ERROR');
    },
  );

  test('stores every optional field of the body table', async () => {
    const { person, named } = await payer();
    const fields = {
      ...{ subtotal_cents: 2_000, tax_cents: 400, discount_cents: 100, total_cents: 2_300, interval_multiplier: 2 },
      ...{ concept: 'Plan', description: 'Each two months', reference_code: 'S-1', category: 'c', tags: 'a,b' },
    };
    const body = { ...MONTHLY, ...named, ...fields, provider_id: 'provider_a', is_guest_subscription: false };
    const { id } = recordOf(await service.post('/subscriptions', body, person.caller));
    expect(await show(id, person)).toMatchObject(fields);
  });

  test('treats null and empty strings of optional fields as absent', async () => {
    const { person, named } = await payer();
    const empty = {
      ...{ product_id: '', provider_id: null, trial_days: null, tax_cents: null, discount_cents: null, concept: '' },
      ...{ interval_multiplier: null, description: null, reference_code: '', category: null, tags: '' },
      ...{ organization_id: null, is_guest_subscription: null, guest_data: null },
    };
    const answer = await service.post('/subscriptions', { ...MONTHLY, ...named, ...empty }, person.caller);
    expect(recordOf(answer)).toMatchObject({ ...MONTHLY, product_id: null, interval_multiplier: 1 });
  });

  test.each([
    ['daily', 1],
    ['weekly', 7],
    ['monthly', 28],
    ['quarterly', 89],
    ['yearly', 365],
  ])('is billed %s', async (billing_interval, days) => {
    const { person, named } = await thePayer();
    const body = { ...MONTHLY, ...named, billing_interval };
    const made = recordOf(await service.post('/subscriptions', body, person.caller));
    const length = (Date.parse(made.current_period_end) - Date.parse(made.current_period_start)) / (DAY * 1_000);
    expect(length).toBeGreaterThanOrEqual(days);
    expect(length).toBeLessThanOrEqual(days + 3);
  });

  test('is trialing and not charged during its trial days', async () => {
    const { person, named } = await payer();
    const body = { ...MONTHLY, ...named, trial_days: 14 };
    const made = recordOf(await service.post('/subscriptions', body, person.caller));
    expect(made).toMatchObject({ status: 'trialing', trial_end: TIMESTAMP });
    expect((await service.get('/payments', person.caller)).body).toMatchObject({ data: [], meta: { total: 0 } });
  });

  test('is active with 0 trial days', async () => {
    const { person, named } = await thePayer();
    const body = { ...MONTHLY, ...named, trial_days: 0 };
    expect(recordOf(await service.post('/subscriptions', body, person.caller))).toMatchObject({ status: 'active' });
  });

  test('is charged, and its payment is listed immediately', async () => {
    const person = await service.person();
    await make.subscription(person);
    expect((await service.get('/payments', person.caller)).body).toMatchObject({
      data: [{ status: 'succeeded', total_cents: 1_900, currency: 'USD' }],
      meta: { total: 1, hasMore: false },
    });
  });

  test.each([
    ['another customer', { customer_id: 'cust_0123456789abcdef01234567' }, 404],
    ['another method', { payment_method_id: 'pmt_0123456789abcdef01234567' }, 404],
    ['an unknown interval', { billing_interval: 'hourly' }, 400],
    ['an unknown organization', { organization_id: 'org_0123456789abcdef01234567' }, 403],
  ])('is refused with %s', async (_, more, status) => {
    const { person, named } = await thePayer();
    expectError(await service.post('/subscriptions', { ...MONTHLY, ...named, ...more }, person.caller), status);
  });

  test('requires a session or guest data', async () => {
    const { named } = await thePayer();
    expectError(await service.post('/subscriptions', { ...MONTHLY, ...named }), 401);
  });
});

describe('a subscription of a product', () => {
  test('needs no price, even with trial_days 0', async () => {
    const product_id = await make.product({ billing_interval: 'monthly' });
    for (const more of [{}, { trial_days: 0 }]) {
      const { person, named } = await thePayer();
      const answer = await service.post('/subscriptions', { ...named, product_id, ...more }, person.caller);
      expect(recordOf(answer)).toMatchObject({ product_id, total_cents: 4_900, billing_interval: 'monthly' });
    }
  });

  test('treats trial_days 0 as absent if the product has a trial', async () => {
    const product_id = await make.product({ billing_interval: 'monthly', trial_days: 7 });
    const { person, named } = await thePayer();
    const answer = await service.post('/subscriptions', { ...named, product_id, trial_days: 0 }, person.caller);
    expect(recordOf(answer)).toMatchObject({ product_id, status: 'trialing' });
  });
});

describe('a service-billed subscription', () => {
  test('has no id at the provider', async () => {
    const method = { provider_id: 'provider_c', provider_payment_method_token: 'cnon:card-nonce-ok' };
    const { person, named } = await payer(method);
    const answer = await service.post(
      '/subscriptions',
      { ...MONTHLY, ...named, provider_id: 'provider_c' },
      person.caller,
    );
    expect(recordOf(answer)).toMatchObject({ status: 'active', provider_subscription_id: null });
  });
});

describe('GET /subscriptions/:id', () => {
  test('ignores include_pm', async () => {
    const person = await service.person();
    const { id } = await make.subscription(person);
    const answer = await service.get(`/subscriptions/${id}?include_pm=true`, person.caller);
    expect(answer.status).toBe(200);
    expect(recordOf(answer)).not.toHaveProperty('payment_method');
  });

  test('hides the subscription of another user', async () => {
    const { id } = await make.subscription(await service.person());
    expectError(await service.get(`/subscriptions/${id}`, DEMO_OWNER), 404);
    expectError(await service.get(`/subscriptions/${id}`), 401);
  });
});

describe('the list of subscriptions', () => {
  test('contains each subscription immediately after its creation, and counts them', async () => {
    const { person, named } = await payer();
    const expected: string[] = [];
    for (let total = 1; total <= 3; total += 1) {
      expected.push(recordOf(await service.post('/subscriptions', { ...MONTHLY, ...named }, person.caller)).id);
      const answer = await service.get('/subscriptions', person.caller);
      expect(idsOf(answer).toSorted()).toEqual(expected.toSorted());
      expect(answer.headers.get('X-Total-Count')).toBe(String(total));
    }
    const pages = [await service.get('/subscriptions?limit=2', person.caller)];
    pages.push(await service.get('/subscriptions?limit=2&offset=2', person.caller));
    expect(pages.flatMap(idsOf).toSorted()).toEqual(expected.toSorted());
    expect(pages.map(({ headers }) => headers.get('X-Total-Count'))).toEqual(['3', '3']);
  });

  test('filters by status', async () => {
    const person = await service.person();
    const { id } = await make.subscription(person);
    const seen = async (query: string) => {
      const answer = await service.get(`/subscriptions?${query}`, person.caller);
      expect(answer.headers.get('X-Total-Count'), query).toBe(String(recordOf(answer).length));
      return idsOf(answer);
    };
    for (const query of ['status=active', 'status=ACTIVE', 'status=&organization_id=&project_id=&include_pm=']) {
      expect(await seen(query)).toEqual([id]);
    }
    for (const status of ['trialing', 'past_due', 'canceled', 'paused'])
      expect(await seen(`status=${status}`)).toEqual([]);
    expectError(await service.get('/subscriptions?status=lost', person.caller), 400);
  });

  test('merges method and project with include_pm and include_projects, in any case', async () => {
    const { person, named } = await payer();
    const project_id = await make.project({ owner_user_id: person.userId });
    const product_id = await make.product({ billing_interval: 'monthly', project_id });
    await service.post('/subscriptions', { ...named, product_id }, person.caller);
    for (const flag of ['true', '1', 'YES']) {
      const query = `?include_pm=${flag}&include_projects=${flag}`;
      const [item] = recordOf(await service.get(`/subscriptions${query}`, person.caller));
      expect(item).toMatchObject({
        payment_method: { last_four: '4242' },
        project: { id: project_id, name: 'Site', slug: 'site', billing_email: 'pay@site.example' },
      });
    }
    const [plain] = recordOf(await service.get('/subscriptions', person.caller));
    expect(plain).not.toHaveProperty('payment_method');
    expect(plain).not.toHaveProperty('project');
  });

  test('shows an organization’s and a project’s subscriptions only to members', async () => {
    const person = await service.person();
    const { id: organization_id } = await make.organization(person.caller);
    const project_id = await make.project({ organization_id });
    const product_id = await make.product({ billing_interval: 'monthly', project_id });
    const { id: customer_id } = await make.customer(person, { organization_id });
    const { id: payment_method_id } = await make.method(person.caller, { organization_id });
    const body = { customer_id, payment_method_id, product_id, organization_id };
    const { id } = recordOf(await service.post('/subscriptions', body, person.caller));
    const queries = [`organization_id=${organization_id}`, `project_id=${project_id}`];
    for (const query of [...queries, queries.join('&')]) {
      const answer = await service.get(`/subscriptions?${query}&include_projects=true`, person.caller);
      expect(recordOf(answer)).toMatchObject([
        { id, organization_id, project_id, project: { id: project_id, name: 'Site', slug: 'site' } },
      ]);
      expectError(await service.get(`/subscriptions?${query}`, DEMO_OWNER), 403);
    }
    expect(idsOf(await service.get('/subscriptions', person.caller))).toEqual([]);
    expectError(await service.get(`/subscriptions/${id}`, DEMO_OWNER), 403);
  });

  test('requires a session', async () => {
    expectError(await service.get('/subscriptions'), 401);
  });
});

describe('PATCH /subscriptions/:id', () => {
  test('changes the payment method', async () => {
    const person = await service.person();
    const { id } = await make.subscription(person);
    const { id: payment_method_id } = await make.method(person.caller);
    const answer = await service.patch(`/subscriptions/${id}`, { payment_method_id }, person.caller);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(recordOf(answer)).toMatchObject({ id, payment_method_id });
    expect(await show(id, person)).toMatchObject({ payment_method_id });
  });

  test('changes the metadata', async () => {
    const person = await service.person();
    const { id } = await make.subscription(person);
    const answer = await service.patch(`/subscriptions/${id}`, { metadata: { seat: 'A1' } }, person.caller);
    expect(recordOf(answer)).toMatchObject({ id, metadata: { seat: 'A1' } });
  });

  test('accepts only the caller’s methods at the same provider', async () => {
    const person = await service.person();
    const { id } = await make.subscription(person);
    const foreign = await make.method(DEMO_OWNER);
    expectError(await service.patch(`/subscriptions/${id}`, { payment_method_id: foreign.id }, person.caller), 404);
    const square = { provider_id: 'provider_c', provider_payment_method_token: 'cnon:card-nonce-ok' };
    const { id: payment_method_id } = await make.method(person.caller, square);
    expectError(await service.patch(`/subscriptions/${id}`, { payment_method_id }, person.caller), 400);
  });

  test('is refused to other users', async () => {
    const { id } = await make.subscription(await service.person());
    expectError(await service.patch(`/subscriptions/${id}`, { metadata: {} }, DEMO_OWNER), 404);
    expectError(await service.patch(`/subscriptions/${id}`, { metadata: {} }), 401);
  });
});

describe('PATCH /subscriptions/:id/billing-address', () => {
  test('links and unlinks an address of the caller', async () => {
    const person = await service.person();
    const { id } = await make.subscription(person);
    const { id: billing_address_id } = await make.address(person.caller);
    const path = `/subscriptions/${id}/billing-address`;
    expect(recordOf(await service.patch(path, { billing_address_id }, person.caller))).toMatchObject({
      billing_address_id,
    });
    const unlinked = await service.patch(path, { billing_address_id: null }, person.caller);
    expect(recordOf(unlinked)).toMatchObject({ id, billing_address_id: null });
  });

  test('refuses an address of another user', async () => {
    const person = await service.person();
    const { id } = await make.subscription(person);
    const { id: billing_address_id } = await make.address(DEMO_OWNER);
    expectError(
      await service.patch(`/subscriptions/${id}/billing-address`, { billing_address_id }, person.caller),
      404,
    );
    expectError(await service.patch(`/subscriptions/${id}/billing-address`, { billing_address_id: null }), 401);
  });
});

describe('a cancellation', () => {
  test.each([[undefined], [{ cancel_at_period_end: true }], [{ cancel_at_period_end: null }]])(
    'takes effect at the end of the period with the body %j, and schedules no further charge',
    async (body) => {
      const person = await service.person();
      const { id } = await make.subscription(person);
      const answer = await service.post(`/subscriptions/${id}/cancel`, body, person.caller);
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      expect(await show(id, person)).toMatchObject({
        ...{ status: 'active', cancel_at_period_end: true, next_billing_date: null, current_period_end: TIMESTAMP },
      });
    },
  );

  test('takes effect immediately with cancel_at_period_end false', async () => {
    const person = await service.person();
    const { id } = await make.subscription(person);
    const answer = await service.post(`/subscriptions/${id}/cancel`, { cancel_at_period_end: false }, person.caller);
    expect(answer.status).toBe(200);
    expect(await show(id, person)).toMatchObject({ status: 'canceled', next_billing_date: null });
    expect(idsOf(await service.get('/subscriptions?status=canceled', person.caller))).toEqual([id]);
  });

  test('ends the subscription at the end of the period without a further charge', async () => {
    const person = await service.person();
    const { id } = await make.subscription(person, { billing_interval: 'daily' });
    await service.post(`/subscriptions/${id}/cancel`, undefined, person.caller);
    await service.advance(2 * DAY);
    expect(await show(id, person)).toMatchObject({ status: 'canceled', next_billing_date: null });
    expect((await service.get('/payments', person.caller)).body.meta.total).toBe(1);
  });

  test('is refused to other users', async () => {
    const { id } = await make.subscription(await service.person());
    expectError(await service.post(`/subscriptions/${id}/cancel`, {}, DEMO_OWNER), 404);
    expectError(await service.post(`/subscriptions/${id}/cancel`, {}), 401);
  });
});

describe('a reactivation', () => {
  test('clears a scheduled cancellation', async () => {
    const person = await service.person();
    const { id } = await make.subscription(person);
    await service.post(`/subscriptions/${id}/cancel`, undefined, person.caller);
    const answer = await service.post(`/subscriptions/${id}/reactivate`, undefined, person.caller);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(await show(id, person)).toMatchObject({
      ...{ status: 'active', cancel_at_period_end: false, next_billing_date: TIMESTAMP },
    });
  });

  test('makes a canceled subscription active again', async () => {
    const person = await service.person();
    const { id } = await make.subscription(person);
    await service.post(`/subscriptions/${id}/cancel`, { cancel_at_period_end: false }, person.caller);
    const answer = await service.post(`/subscriptions/${id}/reactivate`, undefined, person.caller);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(await show(id, person)).toMatchObject({ status: 'active', next_billing_date: TIMESTAMP });
  });

  test('is refused to other users', async () => {
    const { id } = await make.subscription(await service.person());
    expectError(await service.post(`/subscriptions/${id}/reactivate`, undefined, DEMO_OWNER), 404);
    expectError(await service.post(`/subscriptions/${id}/reactivate`), 401);
  });
});

describe('a trial', () => {
  test('ends in an active subscription with its first charge', async () => {
    const { person, named } = await payer();
    const made = await service.post('/subscriptions', { ...MONTHLY, ...named, trial_days: 3 }, person.caller);
    await service.advance(3 * DAY + 3_600);
    expect(await show(recordOf(made).id, person)).toMatchObject({ status: 'active' });
    expect((await service.get('/payments', person.caller)).body).toMatchObject({
      data: [{ status: 'succeeded', total_cents: 1_900 }],
      meta: { total: 1 },
    });
  });
});

describe('a renewal', () => {
  test('is charged at the end of the period', async () => {
    const person = await service.person();
    const { id, current_period_end } = await make.subscription(person, { billing_interval: 'daily' });
    await service.advance(DAY + 3_600);
    const { body } = await service.get('/payments', person.caller);
    expect(body).toMatchObject({ data: [{ status: 'succeeded' }, { status: 'succeeded' }], meta: { total: 2 } });
    expect(await show(id, person)).toMatchObject({ status: 'active', current_period_start: current_period_end });
  });
});
