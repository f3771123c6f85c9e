import { describe, expect, test } from 'vitest';
import { DAY_MS, startOfSecond } from '../../shared/core/time.ts';
import { present } from '../builders/present.ts';
import { productBody } from '../builders/reference.ts';
import { DAY_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { subscriptionBody } from '../builders/subscription.ts';
import { signIn } from './flow.ts';
import { withHost } from './host.ts';
import { company, createAddress, problemsOf } from './payers.ts';
import {
  anotherMethod,
  OWN_BILLING,
  patch,
  payer,
  paymentsOf,
  readSubscription,
  subscribe,
  subscriber,
  subscribeToGold,
  trySubscribe,
} from './subscribers.ts';

const service = withHost({ frozen: true, env: OWN_BILLING });

const admin = async () => (await signIn(service, { is_admin: true })).options;
const idsOf = (list: readonly { readonly id: string }[]): string[] => list.map(({ id }) => id);

describe('a new subscription', () => {
  test('is charged at its creation and every month', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    expect(made).toMatchObject({ status: 'active', billing_status: 'active', billing_owner: 'service' });
    await service.moveTo(made.current_period_end);
    await service.advance(MINUTE_SECONDS);
    const renewed = await readSubscription(service, who, made.id);
    expect(renewed).toMatchObject({ status: 'active', current_period_start: made.current_period_end });
    const payments = await paymentsOf(service, who, made.id);
    expect(payments.map(({ status, total_cents }) => [status, total_cents])).toEqual([
      ['succeeded', 1_900],
      ['succeeded', 1_900],
    ]);
  });

  test('shows the requested fields', async () => {
    const who = await subscriber(service);
    const address = await createAddress(service, who.options);
    const texts = { concept: 'Plan', description: 'A plan', reference_code: 'R-1', category: 'c', tags: 'a,b' };
    const made = await subscribe(service, who, {
      ...texts,
      subtotal_cents: 1_000,
      tax_cents: 210,
      discount_cents: 10,
      total_cents: 1_200,
      interval_multiplier: 2,
      billing_interval: 'weekly',
      billing_address_id: address.id,
      metadata: { plan: 'b' },
    });
    expect(made).toMatchObject({
      ...who.names,
      ...texts,
      product_id: null,
      provider_subscription_id: null,
      status: 'active',
      subtotal_cents: 1_000,
      tax_cents: 210,
      discount_cents: 10,
      total_cents: 1_200,
      currency: 'USD',
      interval_multiplier: 2,
      billing_interval: 'weekly',
      trial_end: null,
      cancel_at_period_end: false,
      project_id: null,
      organization_id: null,
      user_id: who.user.userId,
      billing_address_id: address.id,
      metadata: { plan: 'b' },
      is_guest_subscription: false,
    });
    expect(Date.parse(made.current_period_end) - Date.parse(made.current_period_start)).toBe(14 * DAY_MS);
    expect(await readSubscription(service, who, made.id)).toEqual(made);
    const [payment] = await paymentsOf(service, who, made.id);
    expect(payment).toMatchObject({ subtotal_cents: 1_000, total_cents: 1_200, description: 'A plan', ...who.names });
    const { body } = await service.get(`/payments/${present(payment).id}?include=subscription`, who.options);
    expect(body.data.subscription).toMatchObject({ id: made.id, status: 'active' });
  });

  test('is created once per Idempotency-Key', async () => {
    const who = await subscriber(service);
    const keyed = { ...who, options: { ...who.options, idempotencyKey: 'once' } };
    const first = await trySubscribe(service, keyed);
    const again = await trySubscribe(service, keyed);
    expect([first.status, again.status, again.body.id]).toEqual([201, 201, first.body.id]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await trySubscribe(service, keyed, { total_cents: 7 })).toMatchObject({
      status: 422,
      body: { code: 'IDEMPOTENCY_KEY_REUSED' },
    });
    expect(await paymentsOf(service, who, first.body.id)).toHaveLength(1);
  });
});

describe('the price of a subscription', () => {
  test('comes from the product, with interval and trial', async () => {
    const who = await subscriber(service);
    await service.put(
      '/admin/products/course',
      productBody({ billing_interval: 'quarterly', interval_multiplier: 2, trial_days: 14 }),
      await admin(),
    );
    const { status, body } = await service.post('/subscriptions', { ...who.names, product_id: 'course' }, who.options);
    expect({ status, body }).toMatchObject({
      status: 201,
      body: {
        product_id: 'course',
        total_cents: 4_900,
        currency: 'EUR',
        billing_interval: 'quarterly',
        interval_multiplier: 2,
        status: 'trialing',
      },
    });
    const named = { ...who.names, product_id: 'course', trial_days: 14 };
    const same = await service.post('/subscriptions', named, who.options);
    expect(same).toMatchObject({ status: 201, body: { status: 'trialing' } });
    expect(Date.parse(same.body.trial_end) - startOfSecond(Date.parse(same.body.created_at))).toBe(14 * DAY_MS);
    const none = await service.post('/subscriptions', { ...named, trial_days: 0 }, who.options);
    expect(none).toMatchObject({ status: 201, body: { status: 'trialing' } });
    for (const trial_days of [13, 730]) {
      const other = await service.post('/subscriptions', { ...named, trial_days }, who.options);
      expect(other).toMatchObject({
        status: 400,
        body: { code: 'PRICING_MISMATCH', details: { path: 'trial_days', expected: 14 } },
      });
    }
  });

  test('uses the request’s trial if the request names no product', async () => {
    const who = await subscriber(service);
    expect(await subscribe(service, who, { trial_days: 730 })).toMatchObject({ status: 'trialing' });
  });

  test.each([
    ['another price', { total_cents: 1 }, 400, 'PRICING_MISMATCH'],
    ['another interval', { billing_interval: 'daily' }, 400, 'PRICING_MISMATCH'],
    ['another currency', { currency: 'USD' }, 400, 'PRICING_MISMATCH'],
    ['a trial that the product lacks', { trial_days: 730 }, 400, 'PRICING_MISMATCH'],
  ])('cannot differ from the named product: %s', async (...[_, fields, status, code]) => {
    const who = await subscriber(service);
    await service.put('/admin/products/plan', productBody({ billing_interval: 'monthly' }), await admin());
    const answer = await service.post('/subscriptions', { ...who.names, product_id: 'plan', ...fields }, who.options);
    expect(answer).toMatchObject({ status, body: { code } });
  });

  test('has tax and discount of 0 if they are not sent', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who, { subtotal_cents: 900, total_cents: 900 });
    expect(made).toMatchObject({ subtotal_cents: 900, tax_cents: 0, discount_cents: 0, total_cents: 900 });
  });

  const STATED = ['subtotal_cents', 'total_cents', 'currency', 'billing_interval'];

  test.each(STATED)('is refused without %s if the request names no product', async (field) => {
    const who = await subscriber(service);
    for (const absent of [undefined, null, '']) {
      const stated = { subtotal_cents: 1_900, amount_cents: 1_900, [field]: absent };
      const answer = await trySubscribe(service, who, stated);
      expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
      expect(answer.body.details).toEqual([
        { path: field, rule: 'required', message: 'is required without product_id' },
      ]);
    }
  });

  test('is refused if the amounts do not add up, with every problem reported', async () => {
    const who = await subscriber(service);
    const wrong = await trySubscribe(service, who, { subtotal_cents: 900, total_cents: 1_000 });
    expect(wrong).toMatchObject({ status: 400, body: { code: 'PRICING_MISMATCH' } });
    const bad = await service.post('/subscriptions', { ...who.names, trial_days: -1, tax_cents: -1 }, who.options);
    expect(bad).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    expect(problemsOf(bad).toSorted()).toEqual([
      'billing_interval',
      'currency',
      'subtotal_cents',
      'tax_cents',
      'total_cents',
      'trial_days',
    ]);
  });

  test.each([
    ['is not active', { is_active: false, billing_interval: 'monthly' }, 'PRODUCT_INACTIVE'],
    ['is not recurring', {}, 'VALIDATION_ERROR'],
  ])('is refused for a product that %s', async (_, fields, code) => {
    const who = await subscriber(service);
    await service.put('/admin/products/odd', productBody(fields), await admin());
    const answer = await service.post('/subscriptions', { ...who.names, product_id: 'odd' }, who.options);
    expect(answer).toMatchObject({ status: 400, body: { code } });
  });
});

describe('the customer and method of a subscription', () => {
  test('must exist, be at the same provider, and belong to the payer', async () => {
    const [who, other] = [await subscriber(service), await subscriber(service)];
    const token = { provider_id: 'provider_c', provider_payment_method_token: 'cnon:card-nonce-ok' };
    const elsewhere = await service.post('/payment-methods', token, who.options);
    const cases = [
      [{ customer_id: 'cust_000000000000000000000000' }, 404, 'RESOURCE_NOT_FOUND'],
      [{ payment_method_id: other.names.payment_method_id }, 404, 'RESOURCE_NOT_FOUND'],
      [{ customer_id: other.names.customer_id }, 404, 'RESOURCE_NOT_FOUND'],
      [{ payment_method_id: elsewhere.body.id }, 400, 'PROVIDER_MISMATCH'],
      [{ provider_id: 'provider_d' }, 400, 'UNSUPPORTED_PROVIDER'],
    ] as const;
    for (const [fields, status, code] of cases) {
      expect(await trySubscribe(service, who, fields)).toMatchObject({ status, body: { code } });
    }
  });

  test('may belong to the organization or to the caller if an organization subscribes', async () => {
    const { id: organization_id, billing, member } = await company(service);
    const ofOrganization = await payer(service, billing.options, {
      token: 'pm_card_visa',
      fields: { organization_id },
    });
    const own = await payer(service, billing.options);
    const made = await subscribe(service, ofOrganization, { organization_id });
    expect(made).toMatchObject({ organization_id, user_id: billing.userId, status: 'active' });
    const names = { ...ofOrganization.names, payment_method_id: own.names.payment_method_id };
    expect(await subscribe(service, { ...own, names }, { organization_id })).toMatchObject({ organization_id });
    // An organization's method can pay only for the organization.
    expect(await trySubscribe(service, ofOrganization)).toMatchObject({
      status: 403,
      body: { code: 'INSUFFICIENT_PERMISSIONS' },
    });
    const byMember = { ...ofOrganization, options: member.options };
    expect(await trySubscribe(service, byMember, { organization_id })).toMatchObject({
      status: 403,
      body: { code: 'INSUFFICIENT_PERMISSIONS' },
    });
    expect((await service.get(`/subscriptions/${made.id}`, member.options)).status).toBe(200);
  });
});

describe('the list of subscriptions', () => {
  test('shows the caller’s own subscriptions, newest first, by status and page', async () => {
    const who = await subscriber(service);
    const made: string[] = [];
    for (const trial_days of [0, 5, 0]) {
      made.unshift((await subscribe(service, who, { trial_days })).id);
      await service.advance(1);
    }
    const list = (query = '') => service.get(`/subscriptions${query}`, who.options);
    const all = await list();
    expect([idsOf(all.body), all.headers.get('x-total-count')]).toEqual([made, '3']);
    expect(idsOf((await list('?status=trialing')).body)).toEqual([made[1]]);
    expect(idsOf((await list('?status=trialing,active')).body)).toEqual(made);
    const page = await list('?limit=2&offset=1');
    expect(idsOf(page.body)).toEqual(made.slice(1));
    expect((await list('?limit=2')).headers.get('link')).toContain('offset=2');
    expect((await list('?status=nothing')).status).toBe(400);
  });

  test('shows an organization’s or project’s subscriptions with the requested includes', async () => {
    const { id: organization_id, owner } = await company(service);
    const names = await payer(service, owner.options, { token: 'pm_card_visa', fields: { organization_id } });
    const project = { name: 'P', slug: 'p', billing_email: 'b@example.com', organization_id };
    await service.put('/admin/projects/house', project, await admin());
    const inProject = await subscribe(service, names, { organization_id, project_id: 'house' });
    const beside = await subscribe(service, names, { organization_id });
    const list = async (query: string) => (await service.get(`/subscriptions?${query}`, owner.options)).body;
    expect(idsOf(await list(`organization_id=${organization_id}`)).toSorted()).toEqual(
      [inProject.id, beside.id].toSorted(),
    );
    const [found] = await list(
      `project_id=house&organization_id=${organization_id}&include_projects=true&include_pm=1`,
    );
    expect(found).toMatchObject({
      id: inProject.id,
      project: { id: 'house', name: 'P', slug: 'p', billing_email: 'b@example.com' },
      payment_method: { id: names.names.payment_method_id, payment_type: 'card', last_four: '4242' },
    });
    expect(await list('project_id=house')).toHaveLength(1);
    expect(await list('')).toEqual([]);
    const stranger = await signIn(service);
    expect((await service.get('/subscriptions?project_id=house', stranger.options)).status).toBe(403);
  });
});

describe('an update of a subscription', () => {
  test('merges metadata, deletes null keys, or replaces all metadata', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who, { metadata: { a: '1', b: '2' } });
    const merged = await patch(service, who, { id: made.id, body: { metadata: { b: null, c: '3' } } });
    expect(merged).toMatchObject({ status: 200, body: { metadata: { a: '1', c: '3' } } });
    expect(merged.body.metadata).not.toHaveProperty('b');
    const replaced = await patch(service, who, {
      id: made.id,
      body: { metadata: { d: '4' }, metadata_mode: 'replace' },
    });
    expect(replaced.body.metadata).toEqual({ d: '4' });
    expect((await patch(service, who, { id: made.id, body: {} })).status).toBe(400);
    const tooMany = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`k${index}`, 'v']));
    expect(await patch(service, who, { id: made.id, body: { metadata: tooMany } })).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_ERROR' },
    });
  });

  test('accepts a payment method of the caller at the same provider', async () => {
    const { id: organization_id, owner, billing } = await company(service);
    const names = await payer(service, owner.options, { token: 'pm_card_visa', fields: { organization_id } });
    const made = await subscribe(service, names, { organization_id });
    const own = await payer(service, billing.options);
    const by = { ...names, options: billing.options };
    const changed = await patch(service, by, { id: made.id, body: { payment_method_id: own.names.payment_method_id } });
    expect(changed).toMatchObject({ status: 200, body: { payment_method_id: own.names.payment_method_id } });
    expect(
      await patch(service, by, { id: made.id, body: { payment_method_id: names.names.payment_method_id } }),
    ).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_ERROR' },
    });
    const token = { provider_id: 'provider_c', provider_payment_method_token: 'cnon:card-nonce-ok' };
    const elsewhere = (await service.post('/payment-methods', token, billing.options)).body.id;
    expect(await patch(service, by, { id: made.id, body: { payment_method_id: elsewhere } })).toMatchObject({
      status: 400,
      body: { code: 'PROVIDER_MISMATCH' },
    });
  });

  test('links and unlinks the billing address', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    const address = await createAddress(service, who.options);
    const link = (billing_address_id: string | null) =>
      service.request('PATCH', `/subscriptions/${made.id}/billing-address`, {
        ...who.options,
        body: { billing_address_id },
      });
    expect(await link(address.id)).toMatchObject({ status: 200, body: { billing_address_id: address.id } });
    expect(await link(null)).toMatchObject({ status: 200, body: { billing_address_id: null } });
    const stranger = await subscriber(service);
    expect((await link((await createAddress(service, stranger.options)).id)).status).toBe(404);
  });

  test('charges a new payment method in the next period', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who, { billing_interval: 'daily' });
    const mastercard = await anotherMethod(service, who, 'pm_card_mastercard');
    await patch(service, who, { id: made.id, body: { payment_method_id: mastercard } });
    await service.advance(DAY_SECONDS + MINUTE_SECONDS);
    const [, second] = await paymentsOf(service, who, made.id);
    expect(second).toMatchObject({ payment_method_id: mastercard, status: 'succeeded' });
    await service.post(`/subscriptions/${made.id}/cancel`, { cancel_at_period_end: false }, who.options);
  });
});

describe('a guest', () => {
  test('subscribes with a method and the guest token, and sees few fields in the list by e-mail', async () => {
    const email = 'gina.sub@example.com';
    const method = await service.post('/payment-methods', {
      provider_id: 'provider_a',
      provider_payment_method_token: 'pm_card_visa',
      guest_data: { email, name: 'Gina' },
    });
    const options = { guestToken: method.body.guest_token };
    const names = { customer_id: method.body.customer_id, payment_method_id: method.body.id };
    const made = await service.post('/subscriptions', subscriptionBody(names), options);
    expect(made).toMatchObject({ status: 201, body: { is_guest_subscription: true, user_id: null, status: 'active' } });
    expect(made.body.guest_token).toEqual(expect.any(String));
    const guest_data = { email: 'not.gina@example.com', name: 'Not Gina' };
    expect((await service.post('/subscriptions', subscriptionBody({ ...names, guest_data }))).status).toBe(404);

    const small = await service.get(`/subscriptions/guest/${email}`);
    expect(small.status).toBe(200);
    expect(small.body).toEqual([
      {
        id: made.body.id,
        status: 'active',
        provider_id: 'provider_a',
        currency: 'USD',
        subtotal_cents: 1_900,
        tax_cents: 0,
        discount_cents: 0,
        total_cents: 1_900,
        billing_interval: 'monthly',
        interval_multiplier: 1,
        current_period_end: made.body.current_period_end,
        next_billing_date: made.body.next_billing_date,
        cancel_at_period_end: false,
        is_guest_subscription: true,
        guest_email: email,
        created_at: made.body.created_at,
        updated_at: made.body.updated_at,
      },
    ]);
    const full = await service.get(`/subscriptions/guest/${email}`, options);
    expect(full.body).toMatchObject([{ id: made.body.id, ...names, guest_email: email }]);
    expect((await service.get('/subscriptions/guest/unknown@example.com')).body).toEqual([]);
    expect((await service.get(`/subscriptions/${made.body.id}`, options)).status).toBe(401);
  });
});

describe('the payments of a subscription', () => {
  test('can be changed and canceled only through the subscription', async () => {
    const who = await subscriber(service, 'pm_card_authenticationRequired');
    const made = await subscribe(service, who);
    const id = made.latest_payment_id;
    const refused = [
      [await service.put(`/payments/intents/${id}`, { total_cents: 1 }, who.options), 'PAYMENT_NOT_UPDATABLE'],
      [await service.post(`/payments/intents/${id}/cancel`, {}, who.options), 'INVALID_STATE'],
    ] as const;
    for (const [answer, code] of refused) expect(answer).toMatchObject({ status: 409, body: { code } });
  });
});

describe('the events of a subscription', () => {
  test('carry every field of the contract', async () => {
    const who = await subscriber(service);
    const made = await subscribeToGold(service, who);
    await service.settle();
    const payload = async (type: string) =>
      present(
        (await service.busEvents(type))
          .map((event) => event.detail.payload)
          .find(({ data }) => data.subscription_id === made.id),
      );
    const user = { id: who.user.userId, type: 'authenticated', email: expect.any(String) };
    expect(await payload('subscription.created')).toEqual({
      event: 'subscription.created',
      provider: 'provider_a',
      timestamp: made.updated_at,
      data: {
        subscription_id: made.id,
        status: 'active',
        billing_status: 'active',
        customer_id: who.names.customer_id,
        product_id: made.product_id,
        quantity: 1,
        reference_code: null,
        metadata: {},
        ...{ subtotal: 1_900, tax: 0, discount: 0, billing_address: null },
        amount: 1_900,
        currency: 'USD',
        discount_code: null,
        billing_interval: 'monthly',
        interval_multiplier: 1,
        current_period_start: made.current_period_start,
        current_period_end: made.current_period_end,
        cancel_at_period_end: false,
        trial_end: null,
        ...{ cancel_reason: null, cancel_comment: null },
        reason: 'created',
        previous: null,
        user,
        project: null,
        organization_id: null,
      },
    });
    expect(await payload('membership.activated')).toMatchObject({
      event: 'membership.activated',
      data: {
        membership_id: expect.stringMatching(/^mbr_/),
        membership_type_id: 'gold',
        entity_type: 'user',
        entity_id: who.user.userId,
        subscription_id: made.id,
        status: 'active',
        starts_at: made.current_period_start,
        ends_at: made.current_period_end,
        user,
        project: null,
      },
    });
    expect((await payload('payment.succeeded')).data).toMatchObject({
      payment_id: made.latest_payment_id,
      amount: 1_900,
    });
  });
});
