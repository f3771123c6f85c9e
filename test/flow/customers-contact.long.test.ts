import { describe, expect, test } from 'vitest';
import { guestIntentBody } from '../builders/intent.ts';
import { MINUTE_SECONDS } from '../builders/seconds.ts';
import { atSquare } from './at-square.ts';
import { confirm, PATIENT, read, signIn, type User } from './flow.ts';
import { withHost } from './host.ts';
import { createCustomer, customerAtProvider, saveMethod } from './payers.ts';
import type { CustomerBody, ParsedJson } from './routes.ts';

/** Contact details at each provider. The service sends no details that the provider refuses, so a sale never fails. */
const service = withHost({ frozen: true, env: PATIENT });

const SLOTS = ['provider_a', 'provider_b', 'provider_c', 'provider_d'] as const;
const TOKENS = { provider_a: 'pm_card_visa', provider_b: 'SIM-OK', provider_c: 'cnon:card-nonce-ok' } as const;

const shown = async (user: User, id: string) => (await service.get(`/customers/${id}`, user.options)).body;
const put = async (user: User, id: string, fields: object) => {
  const answer = await service.put(`/customers/${id}`, fields, user.options);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body;
};
const atTheProvider = (customer: CustomerBody) => customerAtProvider(service, customer.provider_customer_id);
/** Changes the customer at the provider's dashboard; null clears a field. */
const atDashboard = async (customer: CustomerBody, fields: object): Promise<void> => {
  await service.control('POST', `/simulator/customers/${customer.provider_customer_id}`, fields);
  await service.settle();
};

const UNFIT = [
  ['a phone with an extension', { phone: '+1 780-459-5656 ext. 725' }],
  ['a phone of too few digits', { phone: '123' }],
  ['a phone in words', { phone: 'ask at the desk' }],
  ['an international e-mail', { email: 'jörg@müller.example' }],
  ['an e-mail with a rare character', { email: 'a!b@example.com' }],
  ['a long name', { name: 'n'.repeat(200) }],
  ['a long derived name', { first_name: 'f'.repeat(200), last_name: '😀'.repeat(100) }],
] as const;

describe.each(SLOTS)('a customer’s unusual contact details at %s', (provider_id) => {
  test.each(UNFIT)('are stored here on create and update: %s', async (_, fields) => {
    const user = await signIn(service);
    const made = await createCustomer(service, user.options, { provider_id, ...fields });
    expect(made).toMatchObject(fields);
    const other = await createCustomer(service, user.options, { provider_id, phone: '+15550100123', name: 'Ada' });
    expect(await put(user, other.id, fields)).toMatchObject(fields);
    // A later update keeps the data that only this service has.
    expect(await put(user, other.id, { metadata: { a: 1 } })).toMatchObject(fields);
    expect(await shown(user, made.id)).toMatchObject(fields);
  });
});

describe.each(['provider_a', 'provider_b', 'provider_c'] as const)('a guest at %s', (provider_id) => {
  test('saves a method and pays with unusual contact details', async () => {
    const guest_data = { email: 'jörg@müller.example', name: '名'.repeat(200), phone: '+1 780-459-5656 ext. 725' };
    const fields = { provider_id, payment_method_id: TOKENS[provider_id], setup_future_usage: 'off_session' };
    const made = await service.post('/payments/intents', guestIntentBody({ ...fields, guest_data }));
    expect(made).toMatchObject({ status: 201, body: { guest_email: guest_data.email } });
  });
});

describe('contact details that a provider does not accept', () => {
  test('are shortened or omitted at the provider by its own limits', async () => {
    const user = await signIn(service);
    const fields = { first_name: 'f'.repeat(200), last_name: 'l'.repeat(200), phone: '+1 780-459-5656 ext. 725' };
    const stripe = await atTheProvider(await createCustomer(service, user.options, fields));
    expect(stripe).toMatchObject({ phone: null, name: `${'f'.repeat(200)} ${'l'.repeat(55)}` });
    const square = await atTheProvider(
      await createCustomer(service, user.options, { provider_id: 'provider_c', email: 'ü@example.com', ...fields }),
    );
    expect(square).toMatchObject({ phone: null, email: null, name: `${'f'.repeat(200)} ${'l'.repeat(200)}` });
    const braintree = await atTheProvider(
      await createCustomer(service, user.options, { provider_id: 'provider_d', email: 'ü@example.com', ...fields }),
    );
    expect(braintree).toMatchObject({ phone: fields.phone, email: null });
  });

  test('clear the provider’s earlier value, so no outdated phone number remains', async () => {
    const user = await signIn(service);
    for (const provider_id of ['provider_a', 'provider_c'] as const) {
      const customer = await createCustomer(service, user.options, { provider_id, phone: '+15550100123', name: 'Ada' });
      await put(user, customer.id, { phone: '+1 780-459-5656 ext. 725' });
      expect(await atTheProvider(customer)).toMatchObject({ phone: null, name: 'Ada' });
      await service.settle();
      expect(await shown(user, customer.id)).toMatchObject({ phone: '+1 780-459-5656 ext. 725' });
      await put(user, customer.id, { phone: '+15550100124' });
      expect(await atTheProvider(customer)).toMatchObject({ phone: '+15550100124' });
    }
  });

  test.each(['provider_a', 'provider_c'] as const)(
    'are not changed at %s by an event about another field',
    async (provider_id) => {
      const user = await signIn(service);
      const fields = { phone: '+1 780-459-5656 ext. 725', first_name: 'f'.repeat(200), last_name: 'l'.repeat(200) };
      const customer = await createCustomer(service, user.options, { provider_id, ...fields });
      await service.advance(MINUTE_SECONDS);
      await atDashboard(customer, { email: 'new@example.com' });
      expect(await shown(user, customer.id)).toMatchObject({
        ...fields,
        email: 'new@example.com',
        name: customer.name,
      });
    },
  );
});

describe('a customer’s name', () => {
  test('is derived again whenever a part changes, as long as no name was set', async () => {
    const user = await signIn(service);
    const customer = await createCustomer(service, user.options, { first_name: 'Ada', last_name: 'Byron' });
    expect(customer).toMatchObject({ name: 'Ada Byron' });
    expect(await put(user, customer.id, { last_name: 'Lovelace' })).toMatchObject({ name: 'Ada Lovelace' });
    expect(await atTheProvider(customer)).toMatchObject({ name: 'Ada Lovelace' });
    expect(await put(user, customer.id, { first_name: null })).toMatchObject({ name: 'Lovelace' });
    expect(await put(user, customer.id, { last_name: null })).toMatchObject({ name: null });
    expect(await atTheProvider(customer)).toMatchObject({ name: null });
    const nameless = await createCustomer(service, user.options);
    expect(await put(user, nameless.id, { first_name: 'Grace' })).toMatchObject({ name: 'Grace' });
    expect(await atTheProvider(nameless)).toMatchObject({ name: 'Grace' });
  });

  test('stays as it was set explicitly on create or update', async () => {
    const user = await signIn(service);
    const acme = await createCustomer(service, user.options, { name: 'Acme', first_name: 'Ada' });
    expect(await put(user, acme.id, { first_name: 'Grace' })).toMatchObject({ name: 'Acme', first_name: 'Grace' });
    const ada = await createCustomer(service, user.options, { first_name: 'Ada' });
    expect(await put(user, ada.id, { name: 'Ada Inc.' })).toMatchObject({ name: 'Ada Inc.', first_name: 'Ada' });
    expect(await put(user, ada.id, { last_name: 'Byron' })).toMatchObject({ name: 'Ada Inc.', last_name: 'Byron' });
    expect(await put(user, ada.id, { name: null })).toMatchObject({ name: null, first_name: 'Ada' });
    expect(await put(user, ada.id, { first_name: 'Augusta' })).toMatchObject({ name: null, first_name: 'Augusta' });
    // This name is set explicitly, although it equals the name derived from the parts.
    const same = await createCustomer(service, user.options, {
      name: 'Ada Byron',
      first_name: 'Ada',
      last_name: 'Byron',
    });
    expect(await put(user, same.id, { last_name: 'Lovelace' })).toMatchObject({ name: 'Ada Byron' });
  });

  const renamedAt = async (provider_id: string) => {
    const user = await signIn(service);
    const parts = { provider_id, first_name: 'Ada', last_name: 'Byron' };
    const customer = await createCustomer(service, user.options, parts);
    await service.advance(MINUTE_SECONDS);
    await atDashboard(customer, { phone: '+15550100123' });
    expect(await shown(user, customer.id)).toMatchObject({ name: 'Ada Byron', first_name: 'Ada', last_name: 'Byron' });
    await atDashboard(customer, { name: 'Countess Lovelace' });
    await service.advance(MINUTE_SECONDS);
    return { user, customer };
  };

  test('replaces the parts when Stripe changes it, and then counts as set explicitly', async () => {
    const { user, customer } = await renamedAt('provider_a');
    const renamed = { name: 'Countess Lovelace', first_name: null, last_name: null };
    expect(await shown(user, customer.id)).toMatchObject(renamed);
    expect(await put(user, customer.id, { first_name: 'Ada' })).toMatchObject({ ...renamed, first_name: 'Ada' });
  });

  test('takes its parts from Square, so a later change of a part changes the name on both sides', async () => {
    const { user, customer } = await renamedAt('provider_c');
    const renamed = { name: 'Countess Lovelace', first_name: 'Countess', last_name: 'Lovelace' };
    expect(await shown(user, customer.id)).toMatchObject(renamed);
    expect(await put(user, customer.id, { last_name: 'Byron' })).toMatchObject({ name: 'Countess Byron' });
    expect(await atTheProvider(customer)).toMatchObject({ name: 'Countess Byron' });
    await service.settle();
    expect(await shown(user, customer.id)).toMatchObject({ first_name: 'Countess', last_name: 'Byron' });
  });

  test('has the same parts at Square as in the service', async () => {
    const user = await signIn(service);
    const parts = { provider_id: 'provider_c', first_name: 'Ana', last_name: 'de Sousa' };
    const customer = await createCustomer(service, user.options, parts);
    const atSquares = async () =>
      (await atSquare(service, `GET customers/${customer.provider_customer_id}`)).customer as ParsedJson;
    expect(await atSquares()).toMatchObject({ given_name: 'Ana', family_name: 'de Sousa' });
    await atSquare(service, `PUT customers/${customer.provider_customer_id}`, { family_name: 'da Costa' });
    await service.settle();
    expect(await shown(user, customer.id)).toMatchObject({ name: 'Ana da Costa', last_name: 'da Costa' });
    await service.advance(MINUTE_SECONDS);
    expect(await put(user, customer.id, { first_name: null })).toMatchObject({ name: 'da Costa' });
    expect(await atSquares()).toMatchObject({ family_name: 'da Costa' });
    expect((await atSquares()).given_name ?? null).toBeNull();
  });

  test('is derived from the parts again after Stripe clears it', async () => {
    const { user, customer } = await renamedAt('provider_a');
    await atDashboard(customer, { name: null });
    await service.advance(MINUTE_SECONDS);
    expect(await put(user, customer.id, { last_name: 'Byron' })).toMatchObject({ name: 'Byron' });
    expect(await atTheProvider(customer)).toMatchObject({ name: 'Byron' });
  });
});

describe.each(['provider_a', 'provider_c'] as const)('a field cleared in the dashboard of %s', (provider_id) => {
  test.each(['name', 'phone', 'email'] as const)('is cleared here: %s', async (field) => {
    const user = await signIn(service);
    const fields = { provider_id, name: 'Ada Byron', phone: '+15550100123', email: 'ada@example.com' };
    const customer = await createCustomer(service, user.options, fields);
    await service.advance(MINUTE_SECONDS);
    await atDashboard(customer, { [field]: null });
    expect(await atTheProvider(customer)).toMatchObject({ [field]: null });
    expect(await shown(user, customer.id)).toMatchObject({ ...fields, [field]: null });
  });
});

describe('a provider’s customer event', () => {
  test('clears an empty or null field, and keeps an absent field', async () => {
    const user = await signIn(service);
    const fields = { name: 'Ada', phone: '+15550100123', email: 'ada@example.com' };
    const customer = await createCustomer(service, user.options, fields);
    const say = async (object: object) => {
      await service.advance(MINUTE_SECONDS);
      await service.sendEvent({ type: 'customer.updated', object: { id: customer.provider_customer_id, ...object } });
      await service.settle();
      return shown(user, customer.id);
    };
    expect(await say({ name: 'Grace' })).toMatchObject({ ...fields, name: 'Grace' });
    expect(await say({ phone: null })).toMatchObject({ ...fields, name: 'Grace', phone: null });
    expect(await say({ email: '', name: '' })).toMatchObject({ name: null, phone: null, email: null });
  });
});

describe('a client that changes one customer repeatedly', () => {
  test.each(['provider_a', 'provider_c'] as const)(
    'never sees a conflict at %s, and always reads its own writes',
    async (provider_id) => {
      const user = await signIn(service);
      const customer = await createCustomer(service, user.options, { provider_id, name: 'Ada', phone: '+15550100100' });
      let expected = { name: 'Ada', phone: '+15550100100' };
      for (let n = 0; n < 70; n += 1) {
        const change = n % 3 === 0 ? { phone: `+155501001${String(n).padStart(2, '0')}` } : { name: `Ada ${n}` };
        expected = { ...expected, ...change };
        expect(await put(user, customer.id, change)).toMatchObject(expected);
        if (n % 10 === 9) await service.advance(1);
      }
      await service.settle();
      expect(await shown(user, customer.id)).toMatchObject(expected);
      expect(await atTheProvider(customer)).toMatchObject(expected);
    },
  );

  test('sees no conflict while the provider’s dashboard changes another field', async () => {
    const user = await signIn(service);
    const customer = await createCustomer(service, user.options, { name: 'Ada' });
    await service.freeze(false);
    for (let n = 0; n < 60; n += 1) {
      const [changed] = await Promise.all([
        service.put(`/customers/${customer.id}`, { name: `Ada ${n}` }, user.options),
        service.control('POST', `/simulator/customers/${customer.provider_customer_id}`, {
          phone: `+1555010${1000 + n}`,
        }),
      ]);
      expect(changed).toMatchObject({ status: 200, body: { name: `Ada ${n}` } });
    }
    await service.freeze(true);
    await service.advance(MINUTE_SECONDS);
    await service.settle();
    expect(await shown(user, customer.id)).toMatchObject({ name: 'Ada 59', phone: '+15550101059' });
  });
});

test('a provider change right after our own is applied, although our clock is two seconds ahead', async () => {
  const user = await signIn(service);
  const customer = await createCustomer(service, user.options, { name: 'Ada', phone: '+15550100123' });
  await service.settle();
  const created = Math.floor(service.now() / 1_000);
  await service.advance(2);
  await put(user, customer.id, { name: 'Ada Byron' });
  await service.settle();
  await service.webhookMode('drop');
  await atDashboard(customer, { phone: null });
  await service.webhookMode('normal');
  const object = { id: customer.provider_customer_id, phone: null };
  await service.sendEvent({ type: 'customer.updated', vocabulary: 'native', created, object });
  await service.settle();
  expect(await shown(user, customer.id)).toMatchObject({ name: 'Ada Byron', phone: null });
});

test('a value cleared at Square is cleared here by the next event, even if the clearing’s event is lost', async () => {
  const user = await signIn(service);
  const fields = { provider_id: 'provider_c', name: 'Ada', phone: '+15550100123' };
  const customer = await createCustomer(service, user.options, fields);
  await service.advance(MINUTE_SECONDS);
  await service.webhookMode('drop');
  await atDashboard(customer, { phone: null });
  await service.webhookMode('normal');
  await service.advance(MINUTE_SECONDS);
  await atDashboard(customer, { name: 'Grace' });
  await service.settle();
  expect(await shown(user, customer.id)).toMatchObject({ name: 'Grace', phone: null });
});

test('a method saved for a guest with unusual details can pay', async () => {
  const method = await saveMethod(
    service,
    {},
    {
      guest_data: { email: 'ü@example.com', name: 'Ü', phone: 'none' },
      provider_id: 'provider_c',
      provider_payment_method_token: 'cnon:card-nonce-ok',
    },
  );
  const options = { guestToken: method.guest_token };
  const made = await service.post(
    '/payments/intents',
    { total_cents: 500, currency: 'USD', provider_id: 'provider_c', payment_method_id: method.id },
    options,
  );
  expect(made).toMatchObject({ status: 201 });
  await confirm(service, made.body.id, options);
  expect(await read(service, made.body.id, options)).toMatchObject({ status: 'succeeded' });
});
