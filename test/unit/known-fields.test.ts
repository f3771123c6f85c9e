import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { MAX_PROBLEMS } from '../../shared/core/errors.ts';
import { nearestField, unknownFields } from '../../shared/http/known-fields.ts';
import { createRefundBody } from '../../shared/payments/refund-payment.ts';
import { createSubscriptionBody } from '../../shared/subscriptions/record/subscription-requests.ts';

const schema = z.object({
  amount_cents: z.int().optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  free: z.looseObject({ a: z.string() }).optional(),
  guest: z.object({ email: z.string() }).nullish(),
  rows: z.preprocess((value) => value, z.array(z.object({ owner: z.string() }))).optional(),
});

describe('the unknown fields of a body', () => {
  test('are found at every depth, also in lists', () => {
    const body = { amount: 1, guest: { mail: 'x' }, rows: [{ owner: 'a' }, { owners: 'b' }] };
    expect(unknownFields(schema, body).map(({ path, message }) => [path, message])).toEqual([
      ['amount', 'is not a known field; did you mean amount_cents?'],
      ['guest.mail', 'is not a known field; did you mean email?'],
      ['rows.1.owners', 'is not a known field; did you mean owner?'],
    ]);
  });

  test.each([
    { metadata: { amount: 1 } },
    { free: { a: 'x', b: { c: 1 } } },
    { guest: null },
    { rows: 5 },
    [],
    'x',
    null,
  ])('are empty for free-form objects and for values that are not objects: %j', (body) => {
    expect(unknownFields(schema, body)).toEqual([]);
  });

  test('include the names of JavaScript’s prototype', () => {
    const body = JSON.parse('{"__proto__": 1, "constructor": 2, "toString": 3}');
    expect(unknownFields(schema, body).map(({ path }) => path)).toEqual(['__proto__', 'constructor', 'toString']);
  });

  test('are listed up to the maximum number of problems, and long names are not repeated', () => {
    const many = Object.fromEntries(Array.from({ length: 4_000 }, (_, at) => [`amount_cent${at}`, at]));
    expect(unknownFields(schema, many)).toHaveLength(MAX_PROBLEMS);
    const [problem] = unknownFields(schema, { ['amount_cents'.repeat(20_000)]: 1 });
    expect(problem).toEqual({ path: '', rule: 'unknown_field', message: 'is not a known field' });
  });
});

describe('the nearest known field', () => {
  const refund = Object.keys(createRefundBody.shape);
  const subscription = Object.keys(createSubscriptionBody.shape);

  test.each([
    ['amount', refund, 'amount_cents'],
    ['Amount-Cents', refund, 'amount_cents'],
    ['amounts_cents', refund, 'amount_cents'],
    ['despiteDispute', refund, 'despite_dispute'],
    ['payment_method', subscription, 'payment_method_id'],
    ['source', subscription, 'payment_method_id'],
    ['trial_period_days', subscription, 'trial_days'],
    ['plan', subscription, 'product_id'],
    ['price', subscription, 'product_id'],
    ['interval', subscription, 'billing_interval'],
    ['customers_id', subscription, 'customer_id'],
    ['multiplier', subscription, 'interval_multiplier'],
    ['guest', subscription, 'guest_data'],
  ])('of %s is found by spelling, vendor name or suffix', (name, known, field) => {
    expect(nearestField(name, known)).toBe(field);
  });

  test.each(['coupon', 'x', 'receipt_email', ''])('of %j does not exist', (name) => {
    expect(nearestField(name, refund)).toBeUndefined();
  });
});
