import { describe, expect, test } from 'vitest';
import { DEMO_OWNER, expectError, recordOf, service as startService, TIMESTAMP } from './http.ts';
import { CARD, MONTHLY, recordsIn } from './records.ts';

const service = startService();
const make = recordsIn(service);

const MINIMAL = { subtotal_cents: 2_500, total_cents: 2_500, currency: 'USD' };
const DAY = 86_400;

describe('a new payment', () => {
  test('is created from its amounts and currency, and shows every field of the response', async () => {
    const { status, body } = await service.post('/payments/intents', MINIMAL, DEMO_OWNER);
    expect(status).toBe(201);
    expect(body).toMatchObject({
      id: expect.any(String),
      provider_payment_id: expect.any(String),
      client_secret: expect.any(String),
      status: 'requires_payment_method',
      subtotal_cents: 2_500,
      tax_cents: 0,
      discount_cents: 0,
      total_cents: 2_500,
      currency: 'USD',
      provider_id: 'provider_a',
      is_guest_payment: false,
      created_at: TIMESTAMP,
    });
    expect(body).toHaveProperty('concept');
    expect(body).toHaveProperty('description');
  });

  test('derives the subtotal from the total', async () => {
    const body = { total_cents: 1_200, currency: 'EUR' };
    expect(await make.payment(DEMO_OWNER, { ...body, subtotal_cents: undefined })).toMatchObject({
      ...body,
      ...{ subtotal_cents: 1_200, tax_cents: 0, discount_cents: 0, amount_cents: 1_200 },
    });
  });

  test('stores every optional field of the body table', async () => {
    const { id: billing_address_id } = await make.address(DEMO_OWNER);
    const fields = {
      ...{ subtotal_cents: 2_000, tax_cents: 400, discount_cents: 100, total_cents: 2_300 },
      ...{ description: 'Two posters', concept: 'Posters', reference_code: 'R-1', category: 'prints' },
      ...{ tags: 'paper,large', metadata: { order: '77', nested: { deep: true } }, billing_address_id },
    };
    const sent = { ...fields, setup_future_usage: 'off_session', return_url: 'https://shop.example/return' };
    const { id } = await make.payment(DEMO_OWNER, sent);
    expect(recordOf(await service.get(`/payments/${id}`, DEMO_OWNER))).toMatchObject(fields);
  });

  test.each([
    ['provider_a', 'USD'],
    ['provider_b', 'EUR'],
    ['provider_c', 'USD'],
  ])('is created at %s', async (provider_id, currency) => {
    expect(await make.payment(DEMO_OWNER, { provider_id, currency })).toMatchObject({
      ...{ provider_id, currency, provider_payment_id: expect.any(String) },
    });
  });

  test('treats null and empty strings of optional fields as absent', async () => {
    const { caller } = await service.person();
    const empty = {
      ...{
        tax_cents: null,
        discount_cents: null,
        provider_id: '',
        description: null,
        concept: '',
        reference_code: null,
      },
      ...{ category: '', tags: null, setup_future_usage: '', payment_method_id: '', customer_id: null, project_id: '' },
      ...{ organization_id: null, billing_address_id: '', return_url: '', metadata: null, guest_data: null },
    };
    expect(await make.payment(caller, empty)).toMatchObject({ provider_id: 'provider_a', total_cents: 2_500 });
  });

  test('gets the customer of its owner', async () => {
    const person = await service.person();
    const { id: customer_id } = await make.customer(person);
    expect(await make.payment(person.caller)).toMatchObject({ customer_id });
  });

  test('uses the customer in the body', async () => {
    const person = await service.person();
    const { id: customer_id } = await make.customer(person);
    expect(await make.payment(person.caller, { customer_id })).toMatchObject({ customer_id });
  });

  test('saves the payment method of a payment for off-session use', async () => {
    const { caller } = await service.person();
    const { id } = await make.payment(caller, { setup_future_usage: 'off_session' });
    await make.confirm(id, caller, { payment_method_id: CARD });
    await service.settle();
    expect((await service.get('/payment-methods', caller)).body).toMatchObject([{ card_last_four: '4242' }]);
  });

  test('is created for an organization by POST /payments with amount_cents', async () => {
    const { caller } = await service.person();
    const { id: organization_id } = await make.organization(caller);
    const body = { organization_id, amount_cents: 5_000, currency: 'USD' };
    const answer = await service.post('/payments', body, caller);
    expect(answer.status).toBe(201);
    expect(recordOf(answer)).toMatchObject({ ...body, total_cents: 5_000 });
  });

  test('shows organization and project only if present', async () => {
    const { caller, userId } = await service.person();
    const plain = await make.payment(caller);
    expect(plain).not.toHaveProperty('organization_id');
    expect(plain).not.toHaveProperty('project_id');
    const project_id = await make.project({ owner_user_id: userId });
    expect(await make.payment(caller, { project_id })).toMatchObject({ project_id });
  });

  test.each([
    ['total_cents', { currency: 'USD' }],
    ['currency', { subtotal_cents: 2_500, total_cents: 2_500 }],
  ])('is refused without %s', async (_, body) => {
    expectError(await service.post('/payments/intents', body, DEMO_OWNER), 400);
  });

  test.each([
    ['a fractional amount', { ...MINIMAL, total_cents: 25.5 }],
    ['an unknown currency', { ...MINIMAL, currency: 'DOLLARS' }],
    ['an unknown provider', { ...MINIMAL, provider_id: 'provider_x' }],
    ['malformed JSON', '{"total_cents": 2500,'],
  ])('is refused with %s', async (_, body) => {
    expectError(await service.post('/payments/intents', body, DEMO_OWNER), 400);
  });

  test('is created again by an identical request', async () => {
    const [first, second] = [await make.payment(DEMO_OWNER), await make.payment(DEMO_OWNER)];
    expect(second.id).not.toBe(first.id);
  });

  test('requires a session or guest data', async () => {
    expectError(await service.post('/payments/intents', MINIMAL), 401);
  });

  test('is refused with 403 for a project that the caller may not edit', async () => {
    const { caller } = await service.person();
    const project_id = await make.project();
    expectError(await service.post('/payments/intents', { ...MINIMAL, project_id }, caller), 403);
  });

  test('is refused with 403 for an unknown organization', async () => {
    const body = { ...MINIMAL, organization_id: 'org_0123456789abcdef01234567' };
    expectError(await service.post('/payments/intents', body, DEMO_OWNER), 403);
  });
});

describe('an unconfirmed payment', () => {
  test('is updated by PUT with all fields, and returns the updated intent', async () => {
    const { id } = await make.payment(DEMO_OWNER);
    const fields = {
      ...{ subtotal_cents: 3_000, tax_cents: 300, discount_cents: 0, total_cents: 3_300, currency: 'USD' },
      ...{ description: 'Three posters', concept: 'P', reference_code: 'R-2', category: 'c', tags: 'a,b' },
    };
    const answer = await service.put(`/payments/intents/${id}`, { ...fields, metadata: { n: 3 } }, DEMO_OWNER);
    expect(answer.status).toBe(200);
    expect(recordOf(answer)).toMatchObject({ id, ...fields, metadata: { n: 3 } });
    expect(recordOf(await service.get(`/payments/${id}`, DEMO_OWNER))).toMatchObject(fields);
  });

  test.each([
    [{ description: 'One poster' }],
    [{ total_cents: 2_700 }],
    [{ tags: 'x' }],
    [{ metadata: { one: 1 } }],
    [{}],
  ])('is updated by PUT with only %j', async (body) => {
    const { id } = await make.payment(DEMO_OWNER);
    const answer = await service.put(`/payments/intents/${id}`, body, DEMO_OWNER);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(recordOf(answer)).toMatchObject({ id, currency: 'USD', ...body });
  });

  test('keeps the fields that a PUT sends as empty strings', async () => {
    const { id } = await make.payment(DEMO_OWNER, { description: 'Kept', tags: 'kept' });
    const answer = await service.put(
      `/payments/intents/${id}`,
      { description: '', tags: '', concept: 'New' },
      DEMO_OWNER,
    );
    expect(recordOf(answer)).toMatchObject({ description: 'Kept', tags: 'kept', concept: 'New' });
  });

  test('requires a session for PUT', async () => {
    const { id } = await make.payment(DEMO_OWNER);
    expectError(await service.put(`/payments/intents/${id}`, { description: 'x' }), 401);
  });

  test('has no client secret 24 hours after its creation', async () => {
    const { id } = await make.payment(DEMO_OWNER);
    expect(recordOf(await service.get(`/payments/${id}`, DEMO_OWNER)).client_secret).toEqual(expect.any(String));
    await service.advance(DAY + 60);
    expect(recordOf(await service.get(`/payments/${id}`, DEMO_OWNER)).client_secret ?? null).toBeNull();
  });
});

describe('a confirmation', () => {
  test('charges the intent’s method without a body, and returns the four fields', async () => {
    const { caller } = await service.person();
    const { id: payment_method_id } = await make.method(caller);
    const { id, status } = await make.payment(caller, { payment_method_id });
    expect(status).toBe('created');
    const answer = await service.post(`/payments/confirm/${id}`, undefined, caller);
    expect(answer.status).toBe(200);
    expect(recordOf(answer)).toMatchObject({
      ...{ id, status: 'succeeded', provider_payment_id: expect.any(String), completed_at: TIMESTAMP },
    });
  });

  test('uses the payment method in its body', async () => {
    const { caller } = await service.person();
    const { id: payment_method_id } = await make.method(caller);
    const { id } = await make.payment(caller);
    expect(await make.confirm(id, caller, { payment_method_id })).toMatchObject({ id, status: 'succeeded' });
    expect(recordOf(await service.get(`/payments/${id}`, caller))).toMatchObject({ payment_method_id });
  });

  test('sets the payment’s customer to the customer of the charged method', async () => {
    const person = await service.person();
    const { id } = await make.payment(person.caller);
    const { id: payment_method_id } = await make.method(person.caller);
    await make.confirm(id, person.caller, { payment_method_id });
    const [{ id: customer_id }] = recordOf(await service.get('/customers', person.caller));
    expect(recordOf(await service.get(`/payments/${id}`, person.caller))).toMatchObject({ customer_id });
  });

  test('is refused to other users', async () => {
    const { caller } = await service.person();
    const { id } = await make.payment(DEMO_OWNER, { payment_method_id: CARD });
    expectError(await service.post(`/payments/confirm/${id}`, {}, caller), 404);
    expectError(await service.post(`/payments/confirm/${id}`, {}), 401);
  });
});

describe('a sync', () => {
  test('returns the payment with the status of its provider', async () => {
    const { id, provider_payment_id } = await make.payment(DEMO_OWNER, { payment_method_id: CARD });
    await make.confirm(id, DEMO_OWNER);
    const answer = await service.post(`/payments/sync/${provider_payment_id}`, undefined, DEMO_OWNER);
    expect(answer.status).toBe(200);
    expect(recordOf(answer)).toMatchObject({ id, provider_payment_id, status: 'succeeded', total_cents: 2_500 });
  });

  test('stores a status whose event was lost', async () => {
    await service.local('/simulator/webhooks', { mode: 'drop' });
    const { id, provider_payment_id, client_secret } = await make.payment(DEMO_OWNER);
    const provider = `/_local/providers/stripe/v1/payment_intents/${provider_payment_id}/confirm`;
    const form = new URLSearchParams({ client_secret, payment_method: CARD }).toString();
    const key = Buffer.from('pk_test_local_provider_a:').toString('base64');
    const browser = { Authorization: `Basic ${key}`, 'Content-Type': 'application/x-www-form-urlencoded' };
    expect((await service.post(provider, form, browser)).status).toBe(200);
    expect(recordOf(await service.get(`/payments/${id}`, DEMO_OWNER)).status).toBe('requires_payment_method');
    const answer = await service.post(`/payments/sync/${provider_payment_id}`, undefined, DEMO_OWNER);
    expect(recordOf(answer)).toMatchObject({ id, status: 'succeeded', completed_at: TIMESTAMP });
    await service.local('/simulator/webhooks', { mode: 'normal' });
  });

  test('returns 404 for an unknown payment, and 401 without a session', async () => {
    expectError(await service.post('/payments/sync/pi_none', undefined, DEMO_OWNER), 404);
    expectError(await service.post('/payments/sync/pi_none'), 401);
  });

  test('is refused to other users', async () => {
    const { provider_payment_id } = await make.payment(DEMO_OWNER);
    const { caller } = await service.person();
    expectError(await service.post(`/payments/sync/${provider_payment_id}`, undefined, caller), 404);
  });
});

describe('GET /payments/:id', () => {
  const paid = async () => {
    const person = await service.person();
    const { id: payment_method_id } = await make.method(person.caller, { alias: 'Work card' });
    const { id } = await make.payment(person.caller, { payment_method_id });
    await make.confirm(id, person.caller);
    return { ...person, id, payment_method_id };
  };

  test('shows the payment with every field of its table', async () => {
    const { id, caller, userId } = await paid();
    const answer = await service.get(`/payments/${id}`, caller);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ success: true, data: { id, user_id: userId, status: 'succeeded' } });
    const names = [
      ...['customer_id', 'subtotal_cents', 'tax_cents', 'discount_cents', 'total_cents', 'amount_cents', 'currency'],
      ...['description', 'concept', 'reference_code', 'category', 'tags', 'provider_id', 'provider_payment_id'],
      ...['provider_intent_id', 'payment_method_id', 'is_guest_payment', 'guest_email', 'billing_address_id'],
      ...['metadata', 'created_at', 'updated_at', 'completed_at'],
    ];
    for (const name of names) expect(answer.body.data).toHaveProperty(name);
    expect(answer.body.data).not.toHaveProperty('payment_method');
  });

  test('merges the payment method into the payment for each include value and flag', async () => {
    const { id, caller, payment_method_id } = await paid();
    const queries = [
      'include=payment_method',
      'include=pm',
      'include_pm=true',
      'include_payment_method=true',
      'include_pm=1',
    ];
    for (const query of queries) {
      const answer = await service.get(`/payments/${id}?${query}`, caller);
      expect(answer.status, `${query} ${JSON.stringify(answer.body)}`).toBe(200);
      const { payment_method } = answer.body.data;
      expect(payment_method).toMatchObject({
        ...{ id: payment_method_id, payment_type: 'card', card_brand: 'visa', last_four: '4242', alias: 'Work card' },
        ...{ expiry_month: expect.stringMatching(/^\d\d$/), expiry_year: expect.stringMatching(/^\d{4}$/) },
      });
      expect(payment_method).toHaveProperty('wallet_type');
    }
  });

  test('reads include values and flags in any case', async () => {
    const { id, caller, payment_method_id } = await paid();
    const queries = ['include=PAYMENT_METHOD', 'include=Pm,Project', 'include_payment_method=TRUE', 'include_pm=Yes'];
    for (const query of queries) {
      const answer = await service.get(`/payments/${id}?${query}`, caller);
      expect(answer.status, `${query} ${JSON.stringify(answer.body)}`).toBe(200);
      expect(answer.body.data).toMatchObject({ payment_method: { id: payment_method_id } });
    }
  });

  test('omits the payment method for a false flag and for an empty include', async () => {
    const { id, caller } = await paid();
    for (const query of ['include_pm=false', 'include_pm=0', 'include=', 'include_pm=']) {
      const answer = await service.get(`/payments/${id}?${query}`, caller);
      expect(answer.status, query).toBe(200);
      expect(answer.body.data).not.toHaveProperty('payment_method');
    }
  });

  test('merges every other record named by include', async () => {
    const person = await service.person();
    const { id: organization_id } = await make.organization(person.caller);
    const project_id = await make.project({ organization_id });
    const product_id = await make.product({ billing_interval: 'monthly', project_id });
    const subscription = await make.subscription(person, { ...EMPTY_PRICE, product_id });
    const [{ id }] = (await service.get('/payments', person.caller)).body.data;
    const include = 'payment_method,pm,project,organization,subscription,product,order';
    const { status, body } = await service.get(`/payments/${id}?include=${include}`, person.caller);
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ subscription: { id: subscription.id }, product: { id: product_id } });
    for (const name of ['payment_method', 'project', 'organization', 'order']) expect(body.data).toHaveProperty(name);
    const flags = ['project', 'organization', 'subscription', 'product', 'order'].map((name) => `include_${name}=true`);
    const byFlags = await service.get(`/payments/${id}?${flags.join('&')}&include_pm=true`, person.caller);
    expect(byFlags.body.data).toEqual(body.data);
  });

  test('merges the organization and the project of a payment', async () => {
    const { caller } = await service.person();
    const { id: organization_id } = await make.organization(caller, 'Foundry');
    const project_id = await make.project({ organization_id });
    const { id } = await make.payment(caller, { organization_id, project_id });
    const { body } = await service.get(`/payments/${id}?include=organization,project`, caller);
    expect(body.data).toMatchObject({
      organization: { id: organization_id, name: 'Foundry' },
      project: { id: project_id, name: 'Site', slug: 'site' },
    });
  });

  test('hides another user’s payment like an unknown payment', async () => {
    const { id } = await paid();
    const { caller } = await service.person();
    expectError(await service.get(`/payments/${id}`, caller), 404);
    expectError(await service.get('/payments/pay_0123456789abcdef01234567', caller), 404);
    expectError(await service.get(`/payments/${id}`), 401);
  });
});

/** A product brings its own price. */
const EMPTY_PRICE = Object.fromEntries(Object.keys(MONTHLY).map((name) => [name, undefined]));

describe('a scope guard', () => {
  const scoped = async () => {
    const { caller } = await service.person();
    const { id: organization_id } = await make.organization(caller);
    const project_id = await make.project({ organization_id });
    const { id } = await make.payment(caller, { organization_id, project_id });
    return { caller, id, organization_id, project_id };
  };

  test('passes a matching payment, alone and combined', async () => {
    const { caller, id, organization_id, project_id } = await scoped();
    for (const query of [
      `organization_id=${organization_id}`,
      `project_id=${project_id}`,
      `organization_id=${organization_id}&project_id=${project_id}`,
    ]) {
      expect((await service.get(`/payments/${id}?${query}`, caller)).body).toMatchObject({ data: { id } });
    }
  });

  test('returns 404 if any guard differs', async () => {
    const { caller, id, organization_id, project_id } = await scoped();
    const { id: other } = await make.organization(caller, 'Other');
    for (const query of [
      `organization_id=${other}`,
      'project_id=projects_none',
      'product_id=products_none',
      `organization_id=${organization_id}&project_id=projects_none`,
      `project_id=${project_id}&organization_id=${other}`,
      `organization_id=${organization_id}&product_id=products_none`,
    ]) {
      expectError(await service.get(`/payments/${id}?${query}`, caller), 404);
    }
  });

  test('counts as absent if it is empty', async () => {
    const { caller, id } = await scoped();
    const query = 'organization_id=&project_id=&product_id=';
    expect((await service.get(`/payments/${id}?${query}`, caller)).body).toMatchObject({ data: { id } });
  });

  test('passes a subscription’s payment by its product', async () => {
    const person = await service.person();
    const product_id = await make.product({ billing_interval: 'monthly' });
    await make.subscription(person, { ...EMPTY_PRICE, product_id });
    const [{ id }] = (await service.get('/payments', person.caller)).body.data;
    const answer = await service.get(`/payments/${id}?product_id=${product_id}`, person.caller);
    expect(answer.body).toMatchObject({ data: { id } });
  });
});
