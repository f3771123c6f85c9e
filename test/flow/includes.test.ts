import { beforeAll, describe, expect, test } from 'vitest';
import { VISA } from '../builders/intent.ts';
import { productBody, projectBody } from '../builders/reference.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import {
  changeTable,
  createIntent,
  createPaidIntent,
  PATIENT,
  partitionOf,
  signIn,
  storedPayment,
  type User,
} from './flow.ts';
import { type RequestOptions, type TestHost, withHost } from './host.ts';
import { type Company, company, removeMember, saveMethod } from './payers.ts';
import type { ParsedJson, PaymentBody } from './routes.ts';
import { OWN_BILLING, payer, subscribe } from './subscribers.ts';

/** Records included in a payment or subscription show no more fields than on their own route. */
const service = withHost({ frozen: true, env: { ...OWN_BILLING, ...PATIENT } });

let admin: User;
beforeAll(async () => {
  admin = await signIn(service, { is_admin: true, expires_in: 30 * DAY_SECONDS });
});

const put = async (path: string, body: unknown): Promise<void> => {
  expect(await service.put(`/admin/${path}`, body, admin.options)).toMatchObject({ status: 200 });
};
const shownTo = async (options: RequestOptions, paymentId: string, query: string) => {
  const { status, body } = await service.get<string>(`/payments/${paymentId}?${query}`, options);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data;
};
/** Stores a method on a payment or subscription, although its caller could not name it. */
const giveMethod = async (host: TestHost, item: ParsedJson, paymentMethodId: string): Promise<void> =>
  changeTable(host, { put: { ...item, paymentMethodId } });

const PRICE = { subtotal_cents: 4_900, tax_cents: 0, discount_cents: 0, total_cents: 4_900, currency: 'EUR' };
const AS_BUYERS_SEE = {
  id: 'course',
  name: 'Course',
  description: null,
  ...PRICE,
  billing_interval: null,
  interval_multiplier: 1,
  trial_days: 0,
  min_quantity: 1,
  max_quantity: null,
  is_active: true,
};

describe('a former member', () => {
  let acme: Company;
  let payment: PaymentBody;
  const all = 'include=payment_method,organization,project';
  beforeAll(async () => {
    acme = await company(service);
    await put('projects/acme-site', projectBody({ organization_id: acme.id, billing_email: 'bills@example.com' }));
    const method = await saveMethod(service, acme.owner.options, { organization_id: acme.id });
    payment = await createIntent(service, acme.billing, {
      organization_id: acme.id,
      payment_method_id: method.id,
      project_id: 'acme-site',
    });
    expect(await shownTo(acme.billing.options, payment.id, all)).toMatchObject({
      payment_method: { id: method.id, last_four: '4242' },
      organization: { id: acme.id },
      project: { id: 'acme-site', billing_email: 'bills@example.com' },
    });
    await removeMember(service, acme, acme.billing);
  });

  test('can still read their payment, but not its method or the full organization and project', async () => {
    expect(await shownTo(acme.billing.options, payment.id, all)).toMatchObject({
      id: payment.id,
      payment_method: null,
      organization: null,
      project: { id: 'acme-site', name: 'Garden', slug: 'garden' },
    });
    const { project } = await shownTo(acme.billing.options, payment.id, 'include_project=true');
    expect(project).not.toHaveProperty('billing_email');
  });

  test('cannot see the organization’s card in the list of their own payments', async () => {
    const personal = await createPaidIntent(service, acme.billing);
    await giveMethod(service, await storedPayment(service, personal.id), payment.payment_method_id);
    for (const query of ['include=payment_method', 'include_pm=true']) {
      const { body } = await service.get(`/payments?${query}`, acme.billing.options);
      expect(body.data).toMatchObject([{ id: personal.id, payment_method: null }]);
    }
    const direct = await service.get(`/payment-methods/${payment.payment_method_id}`, acme.owner.options);
    expect(direct.status).toBe(200);
  });
});

describe('a member', () => {
  test('cannot see another member’s personal card in a project’s payment', async () => {
    const acme = await company(service);
    await put('projects/shared-site', projectBody({ organization_id: acme.id }));
    const card = await saveMethod(service, acme.billing.options);
    const { id } = await createIntent(service, acme.billing, {
      payment_method_id: card.id,
      project_id: 'shared-site',
    });
    const list = async ({ options }: User) =>
      (await service.get('/payments?project_id=shared-site&include_pm=true', options)).body.data;
    expect(await list(acme.owner)).toMatchObject([{ id, payment_method: null }]);
    expect(await list(acme.billing)).toMatchObject([{ id, payment_method: { id: card.id } }]);
  });

  test('cannot see another member’s personal card in the organization’s subscription', async () => {
    const acme = await company(service);
    const ofOrganization = await payer(service, acme.owner.options, {
      token: VISA,
      fields: { organization_id: acme.id },
    });
    const { id } = await subscribe(service, ofOrganization, { organization_id: acme.id });
    const card = await saveMethod(service, acme.billing.options);
    const [stored] = (await partitionOf(service, `SUB#${id}`)).filter(({ sk }) => sk === 'SUB');
    await giveMethod(service, stored, card.id);
    const list = async ({ options }: User) =>
      (await service.get(`/subscriptions?organization_id=${acme.id}&include_pm=true`, options)).body;
    expect(await list(acme.owner)).toMatchObject([{ id, payment_method: null }]);
    expect(await list(acme.billing)).toMatchObject([{ id, payment_method: { id: card.id } }]);
  });
});

describe('a guest', () => {
  const guest_data = { email: 'gil@example.com', name: 'Gil' };
  test('cannot see the subscription of its payment, because the subscription’s own route accepts no token', async () => {
    const first = await saveMethod(service, {}, { guest_data: { ...guest_data, email: 'sub@example.com' } });
    const guest = await payer(service, { guestToken: first.guest_token });
    const made = await subscribe(service, guest);
    const shown = await shownTo(guest.options, made.latest_payment_id, 'include=subscription,payment_method');
    expect(shown).toMatchObject({
      subscription_id: made.id,
      subscription: null,
      payment_method: { id: guest.names.payment_method_id },
    });
    expect((await service.get(`/subscriptions/${made.id}`, guest.options)).status).toBe(401);
  });
});

const PLAN = { name: 'Plan', total_cents: 0, currency: 'USD', billing_interval: 'monthly' };

describe('a product', () => {
  let acme: Company;
  beforeAll(async () => {
    acme = await company(service);
    await put('projects/school', projectBody({ organization_id: acme.id, billing_email: 'bills@example.com' }));
    await put(
      'products/course',
      productBody({
        organization_id: acme.id,
        project_id: 'school',
        provider_refs: { provider_a: 'price_secret' },
        metadata: { margin: 'secret' },
      }),
    );
  });

  const buy = async (options: RequestOptions, fields: ParsedJson = {}) => {
    const { status, body } = await service.post('/payments/intents', { product_id: 'course', ...fields }, options);
    expect(status).toBe(201);
    return body;
  };
  const WHOLE = {
    ...AS_BUYERS_SEE,
    organization_id: '',
    project_id: 'school',
    provider_refs: { provider_a: 'price_secret' },
    metadata: { margin: 'secret' },
    created_at: expect.any(String),
    updated_at: expect.any(String),
  };

  test('shows buyers only its public fields and the project’s name', async () => {
    const user = await signIn(service);
    const byUser = await buy(user.options);
    const byGuest = await buy({}, { guest_data: { email: 'gwen@example.com', name: 'Gwen' } });
    const shown = [
      await shownTo(user.options, byUser.id, 'include=product,project'),
      await shownTo({ guestToken: byGuest.guest_token }, byGuest.id, 'include=product,project'),
    ];
    for (const { product, project } of shown) {
      expect(product).toEqual(AS_BUYERS_SEE);
      expect(project).toEqual({ id: 'school', name: 'Garden', slug: 'garden' });
    }
  });

  test('is shown in full to members of its organization and to platform admins', async () => {
    for (const user of [acme.owner, acme.admin, acme.billing, acme.member, admin]) {
      const { id } = await buy(user.options);
      const { product, project } = await shownTo(user.options, id, 'include_product=true&include_project=true');
      expect(product).toEqual({ ...WHOLE, organization_id: acme.id });
      expect(project).toEqual({ id: 'school', name: 'Garden', slug: 'garden', billing_email: 'bills@example.com' });
    }
  });

  test('shows subscribers the buyer’s view of its project', async () => {
    await put('products/school-plan', { ...PLAN, organization_id: acme.id, project_id: 'school' });
    const who = await payer(service, (await signIn(service)).options);
    const { status } = await service.post('/subscriptions', { ...who.names, product_id: 'school-plan' }, who.options);
    expect(status).toBe(201);
    const { body } = await service.get('/subscriptions?include_projects=true', who.options);
    expect(body).toMatchObject([{ project_id: 'school' }]);
    expect(body[0].project).toEqual({ id: 'school', name: 'Garden', slug: 'garden' });
  });

  test('is shown in the buyer’s view if its organization is deleted', async () => {
    const gone = await company(service);
    await put('products/gone-course', productBody({ organization_id: gone.id, metadata: { margin: 'secret' } }));
    const { id } = await buy(gone.owner.options, { product_id: 'gone-course' });
    expect((await service.request('DELETE', `/organizations/${gone.id}`, gone.owner.options)).status).toBe(200);
    const { product } = await shownTo(gone.owner.options, id, 'include=product');
    expect(product).toEqual({ ...AS_BUYERS_SEE, id: 'gone-course' });
  });
});

describe('an unknown include', () => {
  const allowed = {
    list: 'must be a comma list of payment_method, pm',
    get: 'must be a comma list of payment_method, project, organization, subscription, product, order, pm',
  };

  test('is refused with the list of allowed names, for one payment and for the list', async () => {
    const user = await signIn(service);
    const { id } = await createIntent(service, user);
    const cases = [
      [`/payments/${id}?include=secrets`, allowed.get],
      [`/payments/${id}?include=payment_method,secrets`, allowed.get],
      ['/payments?include=secrets', allowed.list],
      ['/payments?include=pm,secrets', allowed.list],
      ['/payments?include=order', allowed.list],
      ['/payments?include=pm,', allowed.list],
    ] as const;
    for (const [path, message] of cases) {
      expect(await service.get(path, user.options), path).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_ERROR', details: [{ path: 'include', rule: 'include', message }] },
      });
    }
  });
});
