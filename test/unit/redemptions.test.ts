import { describe, expect, test } from 'vitest';
import { guestPayer, payerOfDiscount } from '../../shared/discounts/redemption.ts';
import { ofPayment, ofSubscription } from '../../shared/workers/settle-redemptions.ts';
import { payment } from '../builders/payment.ts';
import { subscription } from '../builders/subscription.ts';

const use = (redemption: string) => ({ code: 'CODE', cents: 100, redemption, payer: 'USER#u' });
const held = (redemption: string) => ({ discount: use(redemption) });
const namesOf = ({ paid, back }: ReturnType<typeof ofPayment>) => ({
  paid: paid.map(({ redemption }) => redemption),
  back: back.map(({ redemption }) => redemption),
});

describe('the payer of a discount use', () => {
  test.each(['A+1@x.example', 'a@x.example', 'a+2+3@X.example'])('ignores e-mail tags and case (%s)', (email) => {
    expect(guestPayer(email)).toBe(guestPayer('a@x.example'));
  });

  test('differs per e-mail address, even if the address begins with a plus', () => {
    expect(guestPayer('b@x.example')).not.toBe(guestPayer('a@x.example'));
    expect(guestPayer('+a@x.example')).not.toBe(guestPayer('+b@x.example'));
  });

  test('is the paying organization', () => {
    expect(payerOfDiscount({ kind: 'organization', organizationId: 'org_1' })).toBe('ORG#org_1');
  });
});

describe('the discount uses marked as paid or returned by a payment’s change', () => {
  const created = payment({ status: 'created', ...held('one') });

  test.each([
    ['is paid', created, { ...created, status: 'succeeded' as const }, { paid: ['one'], back: [] }],
    ['is canceled', created, { ...created, status: 'canceled' as const }, { paid: [], back: ['one'] }],
    ['loses its code', created, { ...created, discount: undefined }, { paid: [], back: ['one'] }],
    ['gets another code', created, { ...created, ...held('two') }, { paid: [], back: ['one'] }],
    ['is declined', created, { ...created, status: 'failed' as const }, { paid: [], back: [] }],
    ['is refused by its provider', { ...created, status: 'creating' as const }, undefined, { paid: [], back: ['one'] }],
    ['is removed after it was paid', { ...created, status: 'succeeded' as const }, undefined, { paid: [], back: [] }],
  ])('are correct if the payment %s', (_, before, after, expected) => {
    expect(namesOf(ofPayment(before, after))).toEqual(expected);
  });
});

describe('the discount uses marked as paid or returned by a subscription’s change', () => {
  const full = { subtotalCents: 1_900, taxCents: 0, discountCents: 0, totalCents: 1_900 };
  const made = subscription({ discount: { ...use('one'), full } });
  const pending = { ...made, status: 'past_due' as const };

  test.each([
    ['becomes active', made, { ...made, status: 'active' as const }, { paid: ['one'], back: [] }],
    ['begins a trial', made, { ...made, status: 'trialing' as const }, { paid: ['one'], back: [] }],
    ['is declined', made, { ...made, status: 'declined' as const }, { paid: [], back: ['one'] }],
    ['waits for its payer', made, { ...made, status: 'past_due' as const }, { paid: [], back: [] }],
    ['is removed while it is unpaid', made, undefined, { paid: [], back: ['one'] }],
    ['loses its code while it is unpaid', pending, { ...pending, discount: undefined }, { paid: [], back: ['one'] }],
    [
      'becomes active at another price',
      pending,
      { ...pending, status: 'active' as const, discount: undefined },
      { paid: ['one'], back: [] },
    ],
    [
      'is canceled after its code has ended',
      pending,
      { ...pending, status: 'canceled' as const, discount: undefined },
      { paid: [], back: ['one'] },
    ],
  ])('are correct if the subscription %s', (_, before, after, expected) => {
    expect(namesOf(ofSubscription(before, after))).toEqual(expected);
  });
});
