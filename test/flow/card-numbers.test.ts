import { beforeAll, describe, expect, test } from 'vitest';
import { intentBody } from '../builders/intent.ts';
import { customerBody, methodBody } from '../builders/payer.ts';
import { productBody } from '../builders/reference.ts';
import { createIntent, createPaidIntent, itemsOf, PATIENT, signIn, type User } from './flow.ts';
import { type TestHost, withHost } from './host.ts';
import { newOrganization } from './organization-steps.ts';

const NUMBER = '4242 4242 4242 4242';
const BARE = '4242424242424242';
const ADDRESS = { country: 'DE', line1: 'Main Street 1', city: 'Berlin', postal_code: '10115' };

type Body = Readonly<Record<string, unknown>>;
type Sent = readonly [place: string, method: string, path: string, body: Body];

interface Known {
  readonly paymentId: string;
  readonly organizationId: string;
  readonly addressId: string;
}

const TOKENS = ({ paymentId }: Known): readonly Sent[] => [
  ...['provider_a', 'provider_b', 'provider_c'].flatMap((provider_id): readonly Sent[] => [
    ['payment_method_id', 'POST', '/payments/intents', intentBody({ provider_id, payment_method_id: BARE })],
    [
      'provider_payment_method_token',
      'POST',
      '/payment-methods',
      methodBody({ provider_id, provider_payment_method_token: NUMBER }),
    ],
    ['verification_token', 'POST', '/payment-methods', methodBody({ provider_id, verification_token: BARE })],
  ]),
  ['payment_method_id', 'PUT', `/payments/intents/${paymentId}`, { payment_method_id: BARE }],
  ['payment_method_id', 'POST', `/payments/confirm/${paymentId}`, { payment_method_id: BARE }],
  ['verification_token', 'POST', `/payments/confirm/${paymentId}`, { verification_token: BARE }],
];

const TEXTS = ({ paymentId, organizationId, addressId }: Known): readonly Sent[] => [
  ['description', 'POST', '/payments/intents', intentBody({ description: `by phone: ${NUMBER}` })],
  ['reference_code', 'POST', '/payments/intents', intentBody({ reference_code: BARE })],
  ['tags', 'POST', '/payments/intents', intentBody({ tags: `a,${BARE}` })],
  ['metadata.deep.0.note', 'POST', '/payments/intents', intentBody({ metadata: { deep: [{ note: NUMBER }] } })],
  ['metadata.order', 'POST', '/payments/intents', intentBody({ metadata: { order: Number(BARE) } })],
  ['metadata', 'POST', '/payments/intents', intentBody({ metadata: { [BARE]: 'x' } })],
  ['category', 'PUT', `/payments/intents/${paymentId}`, { category: NUMBER }],
  ['name', 'POST', '/customers', customerBody({ name: `Ada ${NUMBER}` })],
  ['line2', 'POST', '/addresses', { ...ADDRESS, line2: BARE }],
  ['alias', 'PUT', `/addresses/${addressId}`, { alias: NUMBER }],
  ['alias', 'POST', '/payment-methods', methodBody({ alias: NUMBER })],
  ['name', 'POST', '/organizations', { name: BARE }],
  ['address', 'PUT', `/organizations/${organizationId}`, { address: NUMBER }],
  ['description', 'POST', `/payments/${paymentId}/refunds`, { amount_cents: 100, description: NUMBER }],
  ['description', 'PUT', '/admin/products/course', productBody({ description: NUMBER })],
  ['id', 'PUT', `/admin/products/${BARE}`, productBody()],
];

const know = async (service: TestHost, user: User): Promise<Known> => ({
  paymentId: (await createIntent(service, user)).id,
  organizationId: await newOrganization(service, user),
  addressId: (await service.post('/addresses', ADDRESS, user.options)).body.id,
});

/** Everything stored or sent, without separators. */
const tracesOf = async (service: TestHost): Promise<string> => {
  await service.settle();
  const all = [await itemsOf(service), await service.providerRequests(), await service.busEvents()];
  return JSON.stringify(all).replaceAll(/[ -]/g, '');
};

describe('a card number', () => {
  const service = withHost({ frozen: true, env: PATIENT });
  let admin: User;
  let known: Known;

  beforeAll(async () => {
    admin = await signIn(service, { is_admin: true });
    known = await know(service, admin);
  });

  test('is refused in every token field and text field, and never stored, hashed or sent', async () => {
    await service.settle();
    const before = (await itemsOf(service)).length;
    const wrong: string[] = [];
    for (const [place, method, path, body] of [...TOKENS(known), ...TEXTS(known)]) {
      const options = { ...admin.options, idempotencyKey: `key-${wrong.length}-${place}-0000000000000`, body };
      const { status, body: answer } = await service.request(method, path, options);
      const rules = status === 400 ? answer.details?.map((one: Body) => [one['path'], one['rule']]) : [];
      if (JSON.stringify(rules) !== JSON.stringify([[place, 'card_number']])) {
        wrong.push(`${method} ${path} ${place}: ${status} ${JSON.stringify(answer)}`);
      }
      if (JSON.stringify({ ...answer, request_id: '' }).includes('4242')) wrong.push(`${place} is repeated`);
    }
    expect(wrong).toEqual([]);
    expect((await itemsOf(service)).length).toBe(before);
    expect(await tracesOf(service)).not.toContain(BARE);
  });

  test('frees the Idempotency-Key when refused, and is accepted as a reference with a leading letter', async () => {
    const options = { ...admin.options, idempotencyKey: 'order-4711-000000000000' };
    expect((await service.post('/payments/intents', intentBody({ reference_code: BARE }), options)).status).toBe(400);
    const made = await service.post('/payments/intents', intentBody({ reference_code: `R${BARE}` }), options);
    expect(made).toMatchObject({ status: 201, body: { reference_code: `R${BARE}` } });
  });
});

describe('one of our ids with a card number inside', () => {
  const service = withHost({ frozen: true, env: PATIENT });
  const HEX = '4242424242424242abcdef01';
  const NOT_FOUND = { status: 404, body: { code: 'RESOURCE_NOT_FOUND' } };

  test('is looked up in a path, and never refused as a card number', async () => {
    const { options } = await signIn(service, { is_admin: true });
    const paths: readonly (readonly [method: string, path: string])[] = [
      ['GET', `/payments/pay_${HEX}`],
      ['POST', `/payments/confirm/pay_${HEX}`],
      ['POST', `/payments/pay_${HEX}/refunds`],
      ['GET', `/subscriptions/subs_${HEX}`],
      ['GET', `/payment-methods/pmt_${HEX}`],
      ['GET', `/customers/cust_${HEX}`],
      ['GET', `/addresses/addr_${HEX}`],
      ['GET', `/refunds/ref_${HEX}`],
      ['GET', `/webhooks/logs/log_${HEX}`],
    ];
    for (const [method, path] of paths) {
      const answer = await service.request(method, path, { ...options, ...(method === 'POST' && { body: {} }) });
      expect({ path, ...answer }).toMatchObject({ path, ...NOT_FOUND });
    }
  });

  test('is accepted in fields, texts and metadata', async () => {
    const user = await signIn(service);
    const create = (fields: Body) => service.post('/payments/intents', intentBody(fields), user.options);
    expect(await create({ payment_method_id: `pmt_${HEX}` })).toMatchObject(NOT_FOUND);
    expect(await create({ customer_id: `cust_${HEX}` })).toMatchObject(NOT_FOUND);
    const said = {
      description: `again for pay_${HEX}`,
      metadata: { first: `pay_${HEX}`, [`subs_${HEX}`]: [`ref_${HEX}`] },
    };
    expect(await create(said)).toMatchObject({ status: 201, body: said });
  });
});

describe('the service with CARD_NUMBERS=allow', () => {
  const service = withHost({ frozen: true, env: { ...PATIENT, CARD_NUMBERS: 'allow' } });

  test('accepts a card number in texts and metadata, but not in token fields', async () => {
    const admin = await signIn(service, { is_admin: true });
    const paid = await createPaidIntent(service, admin, { description: NUMBER, metadata: { order: Number(BARE) } });
    expect(paid).toMatchObject({ description: NUMBER, metadata: { order: Number(BARE) } });
    for (const [place, method, path, body] of TOKENS(await know(service, admin))) {
      const answer = await service.request(method, path, { ...admin.options, body });
      expect(answer).toMatchObject({ status: 400, body: { details: [{ path: place, rule: 'card_number' }] } });
    }
  });
});
