import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSimulator } from '../../infra/local/host/simulator.ts';
import type { Simulator, SlotOptions } from '../../infra/local/simulator/state/options.ts';
import { HOUR } from '../../shared/core/time.ts';
import { targetOf } from '../builders/target-of.ts';
import { type FakeClock, fakeClock } from './simulator-harness.ts';

/** The simulator's PayPal API, called directly. */
const CLIENT = 'local_client:local_secret';
const closed: SlotOptions = { adapter: '', webhookUrl: 'https://pay.example/hook', webhookSecret: '', apiKey: '' };

let clock: FakeClock;
let simulator: Simulator;
let token: string;
const events: { event_type: string }[] = [];

beforeEach(async () => {
  clock = fakeClock();
  events.length = 0;
  simulator = createSimulator({
    clock,
    file: ':memory:',
    slots: {
      provider_a: closed,
      provider_b: { ...closed, adapter: 'paypal', webhookSecret: 'LOCALWEBHOOK', apiKey: CLIENT },
      provider_c: closed,
      provider_d: closed,
    },
    deliver: async (_, { body }) => {
      events.push(JSON.parse(body));
      return { status: 200, body: '{}' };
    },
  });
  clock.register(simulator);
  token = String((await buyToken()).body['access_token']);
});
afterEach(() => simulator.close());

interface Answered {
  readonly status: number;
  readonly body: Record<string, unknown> & { readonly id?: string };
}

const send = async (path: string, init: RequestInit): Promise<Answered> => {
  const response = await simulator.provider(new Request(`http://localhost/paypal${path}`, init));
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
};

const buyToken = (client = CLIENT, grant = 'client_credentials') =>
  send('/v1/oauth2/token', {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(client).toString('base64')}` },
    body: new URLSearchParams({ grant_type: grant }),
  });

const call = (target: string, body?: unknown, headers: Record<string, string> = {}) => {
  const { method, path } = targetOf(target);
  return send(path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
};

const WHOLE = { prefer: 'return=representation' };
const ORDER = { intent: 'CAPTURE', purchase_units: [{ amount: { currency_code: 'USD', value: '25.00' } }] };
const PAYER = { payment_source: { paypal: { experience_context: { return_url: 'https://shop.example/' } } } };
const order = (more: object = {}, headers: Record<string, string> = {}) =>
  call('POST /v2/checkout/orders', { ...ORDER, ...more }, headers);
const capture = (id: string | undefined, body: object = {}, headers: Record<string, string> = {}) =>
  call(`POST /v2/checkout/orders/${id}/capture`, body, headers);
const vault = (id: string) => ({ payment_source: { paypal: { vault_id: id } } });
const issuesOf = ({ body }: Answered): unknown => {
  const details = body['details'];
  return Array.isArray(details) ? details.map(({ issue }) => issue) : [];
};
const approve = (id: string | undefined, outcome = 'success') =>
  simulator.control(
    new Request(`http://localhost/payments/${id}/authenticate`, { method: 'POST', body: JSON.stringify({ outcome }) }),
  );

describe('an access token of the simulated PayPal', () => {
  it('is issued to the configured client only', async () => {
    expect(await buyToken('local_client:wrong')).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    expect(await buyToken(CLIENT, 'password')).toMatchObject({ status: 400 });
    expect(await buyToken()).toMatchObject({ status: 200, body: { token_type: 'Bearer', expires_in: 32_400 } });
  });

  it('expires, and no other token is valid', async () => {
    await clock.advance(9 * HOUR);
    expect(await order()).toMatchObject({ status: 401, body: { error: 'invalid_token' } });
    token = `${token}x`;
    expect(await order()).toMatchObject({ status: 401, body: { name: 'AUTHENTICATION_FAILURE' } });
  });
});

describe('an order at the simulated PayPal', () => {
  it('is shown in full only on request', async () => {
    const minimal = await order();
    expect(minimal).toMatchObject({
      status: 201,
      body: { status: 'CREATED', id: expect.stringMatching(/^[A-Z0-9]{17}$/) },
    });
    expect(minimal.body).not.toHaveProperty('purchase_units');
    expect((await order({}, WHOLE)).body).toHaveProperty('purchase_units');
  });

  it('is captured as it is created if it names a saved method', async () => {
    const made = await order(vault('SIM-OK'), WHOLE);
    expect(made).toMatchObject({ status: 201, body: { status: 'COMPLETED' } });
    expect(await capture(made.body.id)).toMatchObject({ status: 422 });
  });

  it('is captured once after its payer’s approval', async () => {
    const { body } = await order(PAYER);
    expect(body).toMatchObject({ status: 'PAYER_ACTION_REQUIRED', links: [{}, { rel: 'payer-action' }] });
    expect(issuesOf(await capture(body.id))).toEqual(['ORDER_NOT_APPROVED']);
    await approve(body.id, 'failure');
    expect(issuesOf(await capture(body.id))).toEqual(['ORDER_NOT_APPROVED']);
    await approve(body.id);
    expect(await capture(body.id)).toMatchObject({ status: 201, body: { status: 'COMPLETED' } });
    expect(issuesOf(await capture(body.id))).toEqual(['ORDER_ALREADY_CAPTURED']);
    await clock.settle(0);
    expect(events.map(({ event_type }) => event_type)).toEqual([
      'CHECKOUT.ORDER.APPROVED',
      'PAYMENT.CAPTURE.COMPLETED',
      'CHECKOUT.ORDER.COMPLETED',
    ]);
  });

  it('has an approval link without a payment source, and the link leads back to the shop', async () => {
    const urls = { return_url: 'https://shop.example/back', cancel_url: 'https://shop.example/no' };
    const { body } = await order({ application_context: urls });
    const [, link] = body['links'] as { rel: string; href: string }[];
    expect([body['status'], link?.rel]).toEqual(['CREATED', 'approve']);
    const page = new URL(link?.href ?? '').pathname.replace(/^.*\/simulator/, '');
    const shown = await simulator.control(new Request(`http://localhost${page}`));
    expect(await shown.text()).toContain('Do you approve');
    const sent = await simulator.control(
      new Request(`http://localhost${page}`, { method: 'POST', body: new URLSearchParams({ outcome: 'success' }) }),
    );
    expect(sent.headers.get('location')).toBe(`https://shop.example/back?token=${body.id}`);
    expect((await call(`GET /v2/checkout/orders/${body.id}`)).body['status']).toBe('APPROVED');
    expect(await capture(body.id)).toMatchObject({ status: 201, body: { status: 'COMPLETED' } });
    expect((await approve(body.id)).status).toBe(409);
  });

  it('expires after six hours without a capture', async () => {
    const [made, paid] = [await order(), await order(vault('SIM-OK'))];
    await clock.advance(6 * HOUR + 1);
    expect(await call(`GET /v2/checkout/orders/${made.body.id}`)).toMatchObject({ status: 404 });
    expect(await call(`GET /v2/checkout/orders/${paid.body.id}`)).toMatchObject({ status: 200 });
  });

  it.each([
    [{ purchase_units: [{ amount: { currency_code: 'USD', value: '1.001' } }] }, 422, 'DECIMAL_PRECISION'],
    [{ purchase_units: [{ amount: { currency_code: 'JPY', value: '1.50' } }] }, 422, 'DECIMAL_PRECISION'],
    [{ purchase_units: [{ amount: { currency_code: 'KWD', value: '1.00' } }] }, 422, 'INVALID_CURRENCY_CODE'],
    [{ purchase_units: [{ amount: { currency_code: 'USD', value: '0.00' } }] }, 422, 'CANNOT_BE_ZERO_OR_NEGATIVE'],
    [{ purchase_units: [] }, 400, 'INVALID_STRING_LENGTH'],
    [{ purchase_units: [{ amount: { currency_code: 'USD' } }] }, 400, 'MISSING_REQUIRED_PARAMETER'],
    [{ ...vault('SIM OK') }, 400, 'INVALID_PARAMETER_SYNTAX'],
    [{ ...vault('SIM-UNKNOWN') }, 422, 'TOKEN_ID_NOT_FOUND'],
    [{ ...vault('SIM-CARD') }, 422, 'MISMATCHED_VAULT_ID_TO_PAYMENT_SOURCE'],
    [{ ...vault('SIM-DECLINED') }, 422, 'INSTRUMENT_DECLINED'],
  ])('is refused for %j: %d %s', async (sent, status, issue) => {
    const answer = await order(sent);
    expect([answer.status, issuesOf(answer)]).toEqual([status, [issue]]);
  });

  it('fails as the header for negative tests requests', async () => {
    const { body } = await order();
    const mocked = { 'paypal-mock-response': '{"mock_application_codes":"INSTRUMENT_DECLINED"}' };
    expect(issuesOf(await capture(body.id, vault('SIM-OK'), mocked))).toEqual(['INSTRUMENT_DECLINED']);
    expect(await capture(body.id, vault('SIM-OK'))).toMatchObject({ status: 201 });
  });

  it('delivers the events that its description selects', async () => {
    const [unit] = ORDER.purchase_units;
    await order({ ...vault('SIM-OK'), purchase_units: [{ ...unit, description: 'books sim:dup' }] });
    await clock.settle(0);
    expect(events.filter(({ event_type }) => event_type === 'PAYMENT.CAPTURE.COMPLETED')).toHaveLength(3);
  });
});

describe('a request id of the simulated PayPal', () => {
  const key = { 'paypal-request-id': 'key-1' };

  it('returns its first response again as a 200, for any request', async () => {
    const first = await order({}, key);
    const again = await order(vault('SIM-OK'), key);
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(again.body).toEqual(first.body);
  });

  it('is in use until the first call has ended', async () => {
    const both = await Promise.all([order({}, key), order({}, key)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([201, 409]);
  });

  it('returns a decline again too', async () => {
    const { body } = await order();
    for (const _ of [1, 2]) {
      const declined = await capture(body.id, vault('SIM-DECLINED'), key);
      expect([declined.status, issuesOf(declined)]).toEqual([422, ['INSTRUMENT_DECLINED']]);
    }
  });

  it('is forgotten after six hours', async () => {
    const first = await order({}, key);
    await clock.advance(6 * HOUR + 1);
    const later = await order({}, key);
    expect(later.status).toBe(201);
    expect(later.body.id).not.toBe(first.body.id);
  });

  it('is required by the vault', async () => {
    expect(await call('POST /v3/vault/payment-tokens', {})).toMatchObject({ status: 400 });
  });
});

describe('the simulated PayPal vault', () => {
  const setupToken = (source: object) =>
    call(
      'POST /v3/vault/setup-tokens',
      { customer: { merchant_customer_id: 'shop-1' }, payment_source: source },
      { 'paypal-request-id': 'setup' },
    );
  const paymentToken = (id: string | undefined, key: string) =>
    call(
      'POST /v3/vault/payment-tokens',
      { payment_source: { token: { id, type: 'SETUP_TOKEN' } } },
      { 'paypal-request-id': key },
    );

  it('makes a payment token once of a setup token that its payer approved', async () => {
    const setup = await setupToken({ paypal: { usage_type: 'MERCHANT' } });
    expect(setup.body).toMatchObject({
      status: 'PAYER_ACTION_REQUIRED',
      customer: { id: expect.stringMatching(/^[0-9A-Z]{1,22}$/), merchant_customer_id: 'shop-1' },
      links: [{ rel: 'approve' }, { rel: 'self' }],
    });
    expect(issuesOf(await paymentToken(setup.body.id, 'k1'))).toEqual(['SETUP_TOKEN_NOT_APPROVED']);
    await approve(setup.body.id);
    const made = await paymentToken(setup.body.id, 'k2');
    expect(made).toMatchObject({
      status: 201,
      body: { customer: setup.body['customer'], payment_source: { paypal: {} } },
    });
    expect(await paymentToken(setup.body.id, 'k3')).toMatchObject({ status: 404 });
    expect(await capture((await order()).body.id, vault(String(made.body.id)))).toMatchObject({ status: 201 });
  });

  it('saves a card without the payer’s approval', async () => {
    const setup = await setupToken({ card: {} });
    expect(setup.body).toMatchObject({ status: 'APPROVED' });
    expect((await paymentToken(setup.body.id, 'k')).body).toMatchObject({
      payment_source: { card: { brand: 'VISA' } },
    });
  });

  const tokenFor = (customer: object, key: string) =>
    call(
      'POST /v3/vault/payment-tokens',
      { customer, payment_source: { token: { id: 'SIM-OK', type: 'SETUP_TOKEN' } } },
      { 'paypal-request-id': key },
    );
  const customerOf = ({ body }: Answered): string => Object(body['customer']).id;

  it('assigns a customer id with the first token, and accepts no other id', async () => {
    const first = await tokenFor({ merchant_customer_id: 'shop-1' }, 'k1');
    expect(first.body['customer']).toMatchObject({ merchant_customer_id: 'shop-1' });
    const later = await tokenFor({ id: customerOf(first) }, 'k2');
    expect(later.body['customer']).toEqual(first.body['customer']);
    const invented = await tokenFor({ id: 'shop-1' }, 'k3');
    expect([invented.status, issuesOf(invented)]).toEqual([422, ['INVALID_CUSTOMER_ID']]);
    const wallet = {
      attributes: { customer: { id: 'shop-1' }, vault: { store_in_vault: 'ON_SUCCESS', usage_type: 'MERCHANT' } },
    };
    const vaulting = await order({ payment_source: { paypal: wallet } });
    expect([vaulting.status, issuesOf(vaulting)]).toEqual([422, ['INVALID_CUSTOMER_ID']]);
  });

  it('lists a customer’s tokens, five per page', async () => {
    const id = customerOf(await tokenFor({}, 'k'));
    for (let count = 1; count < 7; count += 1) await tokenFor({ id }, `k${count}`);
    const page = (query: string) => call(`GET /v3/vault/payment-tokens?${query}`);
    expect((await page(`customer_id=${id}`)).body['payment_tokens']).toHaveLength(5);
    expect((await page(`customer_id=${id}&page=2`)).body['payment_tokens']).toHaveLength(2);
    expect((await page(`customer_id=${id}&page_size=1&total_required=true`)).body).toMatchObject({
      total_items: 7,
      total_pages: 7,
    });
    expect(await page('customer_id=customer-2')).toMatchObject({ status: 200, body: { payment_tokens: [] } });
  });

  it.each([
    ['page_size=6', 'page_size', 'INVALID_PARAMETER_VALUE'],
    ['page_size=20', 'page_size', 'INVALID_PARAMETER_VALUE'],
    ['page_size=0', 'page_size', 'INVALID_PARAMETER_VALUE'],
    ['page_size=two', 'page_size', 'INVALID_PARAMETER_VALUE'],
    ['page=11', 'page', 'INVALID_PARAMETER_VALUE'],
    ['customer_id=x', 'customer_id', 'INVALID_PARAMETER_VALUE'],
    ['customer_id=customer%201', 'customer_id', 'INVALID_PARAMETER_SYNTAX'],
  ])('refuses a list with %s, as PayPal does', async (query, field, issue) => {
    const { status, body } = await call(
      `GET /v3/vault/payment-tokens?customer_id=customer-1&${query}`.replace(
        'customer_id=customer-1&customer_id',
        'customer_id',
      ),
    );
    expect(status).toBe(400);
    expect(body).toMatchObject({ name: 'INVALID_REQUEST', details: [{ issue, field, location: 'query' }] });
  });

  it('requires the customer of a list of tokens', async () => {
    expect(await call('GET /v3/vault/payment-tokens')).toMatchObject({
      status: 400,
      body: { details: [{ issue: 'MISSING_REQUIRED_PARAMETER', field: 'customer_id' }] },
    });
  });
});

describe('a stored card at the simulated PayPal', () => {
  const charge = async (credential: object | undefined, id = 'SIM-CARD') =>
    capture((await order()).body.id, {
      payment_source: { card: { vault_id: id, ...(credential && { stored_credential: credential }) } },
    });

  it.each([
    [{ payment_initiator: 'MERCHANT', payment_type: 'ONE_TIME' }, 422, 'INCOMPATIBLE_PARAMETER_VALUE'],
    [{ payment_initiator: 'MERCHANT', payment_type: 'RECURRING', usage: 'FIRST' }, 422, 'INCOMPATIBLE_PARAMETER_VALUE'],
    [{ payment_initiator: 'BANK', payment_type: 'RECURRING' }, 400, 'INVALID_PARAMETER_VALUE'],
  ])('is refused with the credential %j', async (credential, status, issue) => {
    const refused = await charge(credential);
    expect([refused.status, issuesOf(refused)]).toEqual([status, [issue]]);
  });

  it('asks its payer for authentication, and is declined if the merchant starts the charge', async () => {
    const asked = await charge({ payment_initiator: 'CUSTOMER', payment_type: 'ONE_TIME' }, 'SIM-CARD-3DS');
    expect([asked.status, issuesOf(asked)]).toEqual([422, ['PAYER_ACTION_REQUIRED']]);
    expect(asked.body['links']).toContainEqual(expect.objectContaining({ rel: 'payer-action' }));
    const absent = await charge({ payment_initiator: 'MERCHANT', payment_type: 'UNSCHEDULED' }, 'SIM-CARD-3DS');
    expect(absent).toMatchObject({ status: 201, body: { status: 'COMPLETED' } });
    const whole = await call(`GET /v2/checkout/orders/${absent.body.id}`);
    expect(whole.body['purchase_units']).toMatchObject([
      { payments: { captures: [{ status: 'DECLINED', processor_response: { response_code: '7710' } }] } },
    ]);
  });
});
