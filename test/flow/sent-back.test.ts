/** @module A client can read a record, change a field, and send the whole record back. */

import { describe, expect, test } from 'vitest';
import { endpoints } from '../../functions/api/catalogue.ts';
import { inviteBody, productBody, projectBody, tierBody } from '../builders/reference.ts';
import { targetOf } from '../builders/target-of.ts';
import { createIntent, signIn } from './flow.ts';
import { type RequestOptions, withHost } from './host.ts';
import { createLink } from './pages.ts';
import { company, createAddress, createCustomer, saveMethod } from './payers.ts';
import { paidPayment } from './refunders.ts';
import type { ParsedJson, ShownProblem } from './routes.ts';
import { command, OWN_BILLING, payer, subscribe, subscriber } from './subscribers.ts';

const service = withHost({ frozen: true, env: OWN_BILLING });

interface Update {
  readonly options: RequestOptions;
  /** The routes reading the record and accepting it back. */
  readonly read: string;
  readonly write: string;
}

const someone = () => signIn(service);
const admin = () => signIn(service, { is_admin: true });

const ofSubscription = async (write: string): Promise<Update> => {
  const who = await subscriber(service);
  const { id } = await subscribe(service, who);
  const read = `/subscriptions/${id}`;
  return { options: who.options, read, write: `PATCH ${read}${write}` };
};

const ofMethod = async (target: string): Promise<Update> => {
  const { options } = await someone();
  const { id } = await saveMethod(service, options, { alias: 'Card' });
  const { method, path } = targetOf(target);
  return { options, read: `/payment-methods/${id}`, write: `${method} /payment-methods/${id}${path}` };
};

/** One record per update route. */
const UPDATES: Readonly<Record<string, () => Promise<Update>>> = {
  'payments.update-intent': async () => {
    const { options, ...user } = await someone();
    const { id } = await createIntent(service, { options, ...user }, { metadata: { a: 1 }, tags: 'a,b' });
    const read = `/payments/${id}?include=payment_method,project,organization,subscription,product,order`;
    return { options, read, write: `PUT /payments/intents/${id}` };
  },
  'payments.change-metadata': async () => {
    const { id } = await paidPayment(service, await someone());
    const { options } = await admin();
    return { options, read: `/payments/${id}`, write: `PATCH /payments/${id}` };
  },
  'payment-links.update': async () => {
    const { id, admin: user } = await createLink(service, { description: 'Ticket', max_payments: 3 });
    return { options: user.options, read: `/payment-links/${id}`, write: `PATCH /payment-links/${id}` };
  },
  'payment-methods.update': () => ofMethod('PUT '),
  'payment-methods.link-address': () => ofMethod('PATCH /billing-address'),
  'customers.update': async () => {
    const { options } = await someone();
    const { id } = await createCustomer(service, options);
    return { options, read: `/customers/${id}`, write: `PUT /customers/${id}` };
  },
  'addresses.update': async () => {
    const { options } = await someone();
    const { id } = await createAddress(service, options);
    return { options, read: `/addresses/${id}`, write: `PUT /addresses/${id}` };
  },
  'subscriptions.update': () => ofSubscription(''),
  'subscriptions.link-address': () => ofSubscription('/billing-address'),
  'organizations.update': async () => {
    const { id, owner } = await company(service);
    return { options: owner.options, read: `/organizations/${id}`, write: `PUT /organizations/${id}` };
  },
  'organizations.change-role': async () => {
    const { id, owner } = await company(service);
    const read = `/organizations/${id}/members?role=billing`;
    const [member] = (await service.get(read, owner.options)).body.data;
    return { options: owner.options, read, write: `PUT /organizations/${id}/members/${member.id}` };
  },
  'admin.update-key': async () => {
    const { options } = await admin();
    const { body } = await service.post('/admin/keys', { name: 'one', scopes: ['payments:read'] }, options);
    const path = `/admin/keys/${body.data.id}`;
    return { options, read: path, write: `PATCH ${path}` };
  },
  'admin.put-record': async () => {
    const { options } = await admin();
    await service.put('/admin/products/sent-back', productBody(), options);
    return { options, read: '/admin/products/sent-back', write: 'PUT /admin/products/sent-back' };
  },
};

const updates = endpoints.filter(({ method }) => method === 'PUT' || method === 'PATCH').map(({ id }) => id);

const recordOf = async ({ options, read }: Update) => {
  const { body } = await service.get(read, options);
  const data = body.data ?? body;
  return Array.isArray(data) ? data[0] : data;
};

const send = (update: Update, body: ParsedJson) => {
  const { method, path } = targetOf(update.write);
  return service.request(method, path, { ...update.options, body });
};

const updateOf = (id: string): Promise<Update> => {
  const update = UPDATES[id];
  if (!update) throw new Error(`${id} has no case here`);
  return update();
};

/** Fields that change without a request, appear only in some responses, or belong to another system. */
const NOT_COMPARED =
  /^(created_at|updated_at|updated_by|client_secret|settlement|open_payment|provider_synced|payments|user_(name|last_name|email|picture)|(captured|capturable|authorized|refunded|refundable|disputed|lost)_cents|payment_method|project|organization|subscription|product|order)$/;

describe('a record', () => {
  test.each(updates)('is accepted by %s as a read returns it, and stays unchanged', async (id) => {
    const update = await updateOf(id);
    const before = await recordOf(update);
    expect(await send(update, before)).toMatchObject({ status: 200 });
    const { updated_at: _, ...after } = await recordOf(update);
    expect(before).toMatchObject(after);
  });

  test.each(updates)('is refused by %s with a changed read-only field, and stays unchanged', async (id) => {
    const update = await updateOf(id);
    const before = await recordOf(update);
    const body = endpoints.find((one) => one.id === id)?.body;
    const changeable = Object.keys((body && 'shape' in body ? body.shape : undefined) ?? productBody());
    const readOnly = Object.keys(before).filter((field) => !changeable.includes(field) && !NOT_COMPARED.test(field));
    for (const field of readOnly.filter((name) => id !== 'admin.put-record' || name === 'id')) {
      const answer = await send(update, { ...before, [field]: 'other' });
      expect(answer).toMatchObject({ status: 400, body: { details: [{ path: field, rule: 'read_only' }] } });
    }
    expect(await recordOf(update)).toEqual(before);
  });
});

describe('a reference record', () => {
  test.each([
    ['projects', projectBody],
    ['tiers', tierBody],
    ['invites', inviteBody],
  ])('of the kind %s is accepted as a read returns it', async (kind, body) => {
    const { options } = await admin();
    await service.put(`/admin/${kind}/sent-back`, body(), options);
    const { data } = (await service.get(`/admin/${kind}/sent-back`, options)).body;
    expect(await service.put(`/admin/${kind}/sent-back`, data, options)).toMatchObject({ status: 200, body: { data } });
  });
});

describe('a read-only field', () => {
  test('is refused with its current value and the route that changes it', async () => {
    const update = await ofSubscription('');
    const before = await recordOf(update);
    const answer = await send(update, { metadata: {}, status: 'paused', total_cents: 1, user_id: 'x' });
    expect(answer.body.details.map(({ path, message }: ShownProblem) => [path, message])).toEqual([
      ['status', expect.stringContaining('is now "active"; POST /subscriptions/{id}/cancel')],
      ['total_cents', `is read-only here and is now ${before.total_cents}; POST /subscriptions/{id}/change changes it`],
      ['user_id', `is read-only here and is now "${before.user_id}"; no request changes it`],
    ]);
  });

  test('is refused without showing an object value, which may hold a payer’s secret', async () => {
    const { options, ...user } = await someone();
    const body = { provider_id: 'provider_b', payment_method_id: undefined };
    const { id, next_action } = await createIntent(service, { options, ...user }, body);
    const answer = await service.put(`/payments/intents/${id}`, { concept: 'x', next_action: { type: 'x' } }, options);
    const message = 'is read-only here and is now different; no request changes it';
    expect(answer.body.details).toEqual([{ path: 'next_action', rule: 'read_only', message }]);
    expect(next_action.url).toEqual(expect.any(String));
  });

  test('is refused if its value has changed since the read', async () => {
    const who = await subscriber(service);
    const { id } = await subscribe(service, who);
    const before = (await service.get(`/subscriptions/${id}`, who.options)).body;
    await command(service, who, { id, name: 'pause' });
    const answer = await service.request('PATCH', `/subscriptions/${id}`, { ...who.options, body: before });
    const [problem] = answer.body.details.filter(({ path }) => path === 'status');
    expect(problem).toMatchObject({ rule: 'read_only', message: expect.stringContaining('is now "paused"') });
  });

  test('is accepted if null or empty for an absent value, or as the same time in another format', async () => {
    const update = await updateOf('customers.update');
    const { created_at: at } = await recordOf(update);
    expect((await send(update, { name: 'New', organization_id: null, project_id: '' })).status).toBe(200);
    const subscription = await ofSubscription('');
    const { current_period_end: end } = await recordOf(subscription);
    const other = new Date(end).toISOString().replace('Z', '+00:00');
    expect((await send(subscription, { metadata: {}, current_period_end: other })).status).toBe(200);
    expect(at).toBeDefined();
  });

  test('is reported instead of a missing field if it is the only field', async () => {
    const answer = await send(await ofSubscription(''), { quantity: 5 });
    expect(answer.body.details).toMatchObject([{ path: 'quantity', rule: 'read_only' }]);
    const company = await send(await updateOf('organizations.update'), { owner_user_id: 'user_x' });
    expect(company.body.details).toMatchObject([{ path: 'owner_user_id', rule: 'read_only' }]);
  });

  test('is an unknown field on a create', async () => {
    const { options } = await someone();
    const answer = await service.post(
      '/customers',
      { provider_id: 'provider_a', email: 'a@b.example', id: 'x' },
      options,
    );
    expect(answer.body.details).toMatchObject([{ path: 'id', rule: 'unknown_field' }]);
  });
});

describe('a record sent back by a client', () => {
  test('charges nothing again, and keeps another member’s method', async () => {
    const { id: organization_id, owner, admin: lender } = await company(service);
    const billed = await payer(service, lender.options, { fields: {} });
    const customer = await createCustomer(service, lender.options, { organization_id });
    const { id } = await subscribe(service, billed, { organization_id, customer_id: customer.id });
    const read = await service.get(`/subscriptions/${id}`, owner.options);
    await service.clearProviderRequests();
    const body = { ...read.body, metadata: { seen: 1 } };
    const answer = await service.request('PATCH', `/subscriptions/${id}`, { ...owner.options, body });
    expect(answer).toMatchObject({ status: 200, body: { metadata: { seen: 1 } } });
    expect((await service.providerRequests()).filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  test('is accepted with a deleted address', async () => {
    const { options, ...user } = await someone();
    const address = await createAddress(service, options);
    const { id } = await createIntent(service, { options, ...user }, { billing_address_id: address.id });
    await service.request('DELETE', `/addresses/${address.id}`, options);
    const read = (await service.get(`/payments/${id}`, options)).body.data;
    const answer = await service.put(`/payments/intents/${id}`, { ...read, description: 'New' }, options);
    expect(answer).toMatchObject({ status: 200, body: { description: 'New' } });
  });
});

describe('an expanded record', () => {
  test('is accepted as an object or null, and refused with another value', async () => {
    const update = await updateOf('payments.update-intent');
    for (const payment_method of [null, {}, { id: 'pmt_1' }]) {
      expect((await send(update, { concept: 'x', payment_method })).status).toBe(200);
    }
    for (const payment_method of ['pm_card_visa', 5, ['pm_card_visa']]) {
      const message = 'is not a known field; did you mean payment_method_id?';
      expect((await send(update, { concept: 'x', payment_method })).body.details).toEqual([
        { path: 'payment_method', rule: 'unknown_field', message },
      ]);
    }
  });
});
