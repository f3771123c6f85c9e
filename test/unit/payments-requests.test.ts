import { describe, expect, test } from 'vitest';
import type * as z from 'zod';
import { confirmBody } from '../../shared/payments/confirm-request.ts';
import { createIntentBody, updateIntentBody } from '../../shared/payments/payment-requests.ts';
import { intentBody } from '../builders/intent.ts';

const problems = (schema: z.ZodType, body: unknown): readonly string[] => {
  const parsed = schema.safeParse(body);
  return parsed.success ? [] : [...new Set(parsed.error.issues.map(({ path }) => path.join('.')))];
};
const takes = (fields: Readonly<Record<string, unknown>>) => problems(createIntentBody, intentBody(fields));
const letters = (length: number): string => 'x'.repeat(length);
const keys = (count: number, value = 'v') =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key_${index}`, value]));

describe('the request to create an intent', () => {
  test.each<[string, number]>([
    ['description', 1_000],
    ['concept', 200],
    ['reference_code', 100],
    ['category', 100],
    ['payment_method_id', 255],
    ['customer_id', 64],
    ['organization_id', 64],
    ['project_id', 64],
    ['product_id', 64],
    ['billing_address_id', 64],
  ])('accepts %s of up to %i characters', (field, max) => {
    expect(takes({ [field]: letters(max) })).toEqual([]);
    expect(takes({ [field]: letters(max + 1) })).toEqual([field]);
  });

  test.each(['subtotal_cents', 'tax_cents', 'discount_cents', 'total_cents', 'amount_cents'])(
    'accepts %s as an integer from 0 to the maximum safe integer',
    (field) => {
      expect([0, 1, Number.MAX_SAFE_INTEGER].flatMap((value) => takes({ [field]: value }))).toEqual([]);
      for (const value of [-1, 0.5, 2 ** 53, '100', Number.NaN, Number.POSITIVE_INFINITY, 1e21, [], {}, true]) {
        expect(takes({ [field]: value })).toEqual([field]);
      }
    },
  );

  test('accepts an http or https link of up to 2048 characters', () => {
    const link = `https://shop.example/${letters(2_048 - 21)}`;
    expect(takes({ return_url: link })).toEqual([]);
    const schemes = [
      'javascript:alert(1)',
      'data:text/html,x',
      'file:///etc/passwd',
      'ftp://x.example',
      'shop.example',
    ];
    for (const wrong of [`${link}x`, ...schemes]) expect(takes({ return_url: wrong })).toEqual(['return_url']);
  });

  test('accepts up to 20 tags of up to 50 characters, 500 characters in total', () => {
    const list = (count: number, length: number) => Array.from({ length: count }, () => letters(length)).join(',');
    expect(takes({ tags: list(20, 20) })).toEqual([]);
    expect(takes({ tags: list(9, 50) })).toEqual([]);
    expect(takes({ tags: list(21, 1) })).toEqual(['tags']);
    expect(takes({ tags: list(1, 51) })).toEqual(['tags']);
    expect(takes({ tags: list(20, 25) })).toEqual(['tags']);
  });

  test('accepts metadata of up to 50 keys, 40 characters per key, 500 per value, 16 KB in total', () => {
    expect(takes({ metadata: keys(50) })).toEqual([]);
    expect(takes({ metadata: { [letters(40)]: letters(500) } })).toEqual([]);
    expect(takes({ metadata: keys(51) })).toEqual(['metadata']);
    expect(takes({ metadata: { [letters(41)]: 'v' } })).toEqual([`metadata.${letters(41)}`]);
    expect(takes({ metadata: { note: letters(501) } })).toEqual(['metadata.note']);
    expect(takes({ metadata: { list: Array.from({ length: 300 }, () => 1) } })).toEqual(['metadata.list']);
    const full = keys(30, letters(500));
    const left = 16 * 1_024 - JSON.stringify({ ...full, a: '', b: '', c: '' }).length;
    const sized = (more: number) => ({ ...full, a: letters(400), b: letters(400), c: letters(left - 800 + more) });
    expect(takes({ metadata: sized(0) })).toEqual([]);
    expect(takes({ metadata: sized(1) })).toEqual(['metadata']);
    expect(takes({ metadata: [] })).toEqual(['metadata']);
  });

  test('lets no metadata key change a prototype', () => {
    const metadata: unknown = JSON.parse('{"__proto__": {"admin": true}, "note": "v"}');
    const parsed = createIntentBody.safeParse(intentBody({ metadata }));
    expect(Reflect.get({}, 'admin')).toBeUndefined();
    expect(Object.getPrototypeOf(parsed.data?.metadata ?? {})).toBe(Object.prototype);
  });

  test.each(['provider_a', 'provider_b', 'provider_c', 'provider_d'])('accepts the provider slot %s', (slot) => {
    expect(takes({ provider_id: slot })).toEqual([]);
  });

  test('reports all problems together, including missing fields', () => {
    const body = {
      tax_cents: -1,
      provider_id: 'paypal',
      setup_future_usage: 'on_session',
      return_url: 'nowhere',
      description: letters(1_001),
      metadata: { note: letters(501) },
      guest_data: { email: 'not-an-email', phone: letters(33) },
    };
    expect(problems(createIntentBody, body).toSorted()).toEqual([
      'currency',
      'description',
      'guest_data.email',
      'guest_data.name',
      'guest_data.phone',
      'metadata.note',
      'provider_id',
      'return_url',
      'setup_future_usage',
      'tax_cents',
      'total_cents',
    ]);
  });

  test('requires a price or a product, and a currency unless the product has it', () => {
    expect(problems(createIntentBody, {})).toEqual(['total_cents', 'currency']);
    for (const field of ['total_cents', 'subtotal_cents', 'amount_cents']) {
      expect(problems(createIntentBody, { [field]: 100, currency: 'USD' })).toEqual([]);
    }
    expect(problems(createIntentBody, { product_id: 'prod_1' })).toEqual([]);
  });

  test.each([[[]], ['text'], [1], [null], [true]])('must be an object, not %j', (body) => {
    expect(problems(createIntentBody, body)).toContain('');
  });

  test('trims and lower-cases a guest’s e-mail, and requires the guest’s name', () => {
    const guest = (fields: object) =>
      intentBody({ guest_data: { email: ' Ada@Example.COM ', name: ' Ada ', ...fields } });
    expect(createIntentBody.parse(guest({})).guest_data).toEqual({ email: 'ada@example.com', name: 'Ada' });
    expect(problems(createIntentBody, guest({ name: '  ' }))).toEqual(['guest_data.name']);
    expect(problems(createIntentBody, guest({ email: `${letters(250)}@example.com` }))).toContain('guest_data.email');
  });
});

describe('a field that a caller can never set', () => {
  const FORBIDDEN = {
    id: 'pay_000000000000000000000001',
    status: 'succeeded',
    version: 7,
    user_id: 'user_2',
    user_email: 'ada@example.com',
    userId: 'user_2',
    guest_id: 'gst_1',
    guestId: 'gst_1',
    client_secret: 'secret',
    clientSecret: 'secret',
    is_guest_payment: true,
    is_guest_subscription: true,
    provider_payment_id: 'pi_2',
    provider_intent_id: 'pi_2',
    provider_customer_id: 'cus_2',
    providerCustomerId: 'cus_2',
    methodRef: 'pm_2',
    subscription_id: 'subs_1',
    order_id: 'ord_1',
    attempt: 3,
    completed_at: '2026-01-01T00:00:00.000Z',
    created_at: '2026-01-01T00:00:00.000Z',
    failure_code: 'lost_card',
    is_admin: true,
  };

  test.each([
    ['create', createIntentBody],
    ['update', updateIntentBody],
    ['confirm', confirmBody],
  ] as const)('is ignored by %s', (_, schema) => {
    const kept: Readonly<Record<string, unknown>> = schema.parse(intentBody(FORBIDDEN));
    expect(Object.keys(FORBIDDEN).filter((field) => field in kept)).toEqual([]);
  });

  test('is also ignored in the guest’s data', () => {
    const guest_data = { email: 'ada@example.com', name: 'Ada', guest_id: 'gst_1', is_admin: true };
    expect(createIntentBody.parse(intentBody({ guest_data })).guest_data).toEqual({
      email: 'ada@example.com',
      name: 'Ada',
    });
  });
});

describe('the request to update an intent', () => {
  test('accepts no field, and null to clear a field', () => {
    expect(problems(updateIntentBody, {})).toEqual([]);
    const clearable = ['description', 'payment_method_id', 'customer_id', 'project_id', 'metadata', 'return_url'];
    for (const field of clearable) expect(problems(updateIntentBody, { [field]: null })).toEqual([]);
  });

  test('has the limits of a create', () => {
    const body = { total_cents: -1, currency: '', description: letters(1_001), metadata: keys(51) };
    expect(problems(updateIntentBody, body).toSorted()).toEqual(['currency', 'description', 'metadata', 'total_cents']);
  });
});

describe('the request to confirm an intent', () => {
  test('accepts a method and a return URL, within their limits', () => {
    expect(
      confirmBody.parse({ payment_method_id: 'pm_1', return_url: 'https://shop.example', amount_cents: 1 }),
    ).toEqual({
      payment_method_id: 'pm_1',
      return_url: 'https://shop.example',
    });
    const wrong = { payment_method_id: letters(256), return_url: 'nowhere' };
    expect(problems(confirmBody, wrong)).toEqual(['payment_method_id', 'return_url']);
  });
});
