import { describe, expect, test } from 'vitest';
import { DECLINE_CODES } from '../../shared/core/outcome.ts';
import { DAY_MS, iso } from '../../shared/core/time.ts';
import type { VisiblePayment } from '../../shared/payments/payment.ts';
import {
  confirmationSchema,
  confirmationView,
  guestPaymentSchema,
  guestPaymentView,
  paymentView,
  paymentViewSchema,
  paymentWithSecret,
} from '../../shared/payments/payment-view.ts';
import { draft, NOON, payment } from '../builders/payment.ts';

/** All internal fields of a record, each with a recognizable value. */
const INTERNAL = {
  methodRef: 'CANARY-method-ref',
  providerCustomerId: 'CANARY-provider-customer',
  requestHash: 'CANARY-request-hash',
  userEmail: 'CANARY-user-email',
  guestId: 'CANARY-guest-id',
  guestName: 'CANARY-guest-name',
  guestPhone: 'CANARY-guest-phone',
  attemptRef: 'CANARY-attempt-ref',
  priorAttemptRefs: ['CANARY-prior-attempt'],
  anomaly: 'CANARY-anomaly',
  draft: draft({ methodRef: 'CANARY-draft-method', description: 'CANARY-draft-description' }),
} as const satisfies Partial<VisiblePayment>;
const SECRET = 'pi_1_secret_CANARY';

const full = payment({ ...INTERNAL, clientSecret: SECRET, guestEmail: 'ada@example.com', attempt: 3 });
const forPayer = (record: VisiblePayment) => paymentView(record, 'payer');
const VIEWS = { paymentView: forPayer, guestListView: guestPaymentView, confirmationView };
const SETTLEMENT = { feeCents: 103, netCents: 2_397, currency: 'EUR', exchangeRate: '0.92', availableOn: iso(NOON) };

describe('the view of a payment', () => {
  test.each(Object.entries(VIEWS))('contains no internal field and no secret: %s', (_, view) => {
    const text = JSON.stringify(view(full));
    expect(text).not.toContain('CANARY');
    const names = ['methodRef', 'requestHash', 'version', 'attempt', 'reconcile', 'busyUntil', 'cause', 'draft', 'due'];
    for (const name of names) expect(text).not.toContain(`"${name}`);
  });

  test('has the API’s fields, with null for a field without a value', () => {
    const view = forPayer(payment());
    expect(view).toEqual({
      id: 'pay_00000000000000000000000a',
      user_id: 'user_1',
      customer_id: null,
      subtotal_cents: 2_500,
      tax_cents: 0,
      discount_cents: 0,
      discount: null,
      total_cents: 2_500,
      amount_cents: 2_500,
      currency: 'USD',
      status: 'created',
      description: null,
      concept: null,
      reference_code: null,
      category: null,
      tags: null,
      provider_id: 'provider_a',
      provider_payment_id: 'pi_1',
      provider_intent_id: 'pi_1',
      capture_method: 'automatic',
      authorized_cents: null,
      captured_cents: 0,
      capturable_cents: 0,
      capture_before: null,
      guaranteed_until: null,
      capture_pending: false,
      release_pending: false,
      cancellation_reason: null,
      payment_method_id: null,
      payment_method_details: null,
      decline: null,
      receipt_url: null,
      refunded_cents: 0,
      refundable_cents: 0,
      disputed_cents: 0,
      lost_cents: 0,
      refund_status: 'none',
      disputed: false,
      is_guest_payment: false,
      guest_email: null,
      billing_address_id: null,
      metadata: {},
      created_at: iso(NOON),
      updated_at: iso(NOON),
      completed_at: null,
    });
    expect(paymentViewSchema().safeParse(view).success).toBe(true);
  });

  test('has organization, project and similar fields only if they are set', () => {
    const set = { organization_id: 'org_1', project_id: 'proj_1', product_id: 'prod_1', failure_code: 'lost_card' };
    const { organization_id, project_id, product_id } = set;
    const record = payment({
      status: 'failed',
      organizationId: organization_id,
      projectId: project_id,
      productId: product_id,
      failureCode: 'lost_card',
    });
    expect(forPayer(record)).toMatchObject(set);
    expect(Object.keys(set).filter((field) => field in forPayer(payment()))).toEqual([]);
  });

  test('names the guest of a guest’s payment', () => {
    const record = payment({ userId: undefined, guestId: 'gst_1', guestEmail: 'ada@example.com' });
    expect(forPayer(record)).toMatchObject({
      is_guest_payment: true,
      guest_email: 'ada@example.com',
      user_id: null,
    });
  });

  test('names the payer’s next action', () => {
    const nextAction = { type: 'redirect_to_url', url: 'https://bank.example' } as const;
    const record = payment({ status: 'pending', nextAction });
    expect(forPayer(record)).toMatchObject({ next_action: nextAction });
    expect(confirmationView(record)).toMatchObject({ next_action: nextAction });
    const bySdk = confirmationView(payment({ status: 'pending', nextAction: { type: 'use_provider_sdk' } }));
    expect(bySdk).toMatchObject({ next_action: { type: 'use_provider_sdk' } });
  });

  test('shows the method of the last attempt, with null for unknown fields', () => {
    const details = { type: 'card', cardBrand: 'visa', lastFour: '4242', funding: 'credit', country: 'US' } as const;
    const threeDSecure = { result: 'authenticated', version: '2.2.0', liabilityShifted: true } as const;
    const view = forPayer(payment({ status: 'succeeded', details: { ...details, expiryMonth: '12', threeDSecure } }));
    expect(view.payment_method_details).toEqual({
      type: 'card',
      wallet_type: null,
      card_brand: 'visa',
      last_four: '4242',
      expiry_month: '12',
      expiry_year: null,
      funding: 'credit',
      country: 'US',
      bank_name: null,
      three_d_secure: { result: 'authenticated', version: '2.2.0', liability_shifted: true },
      fingerprint: null,
    });
    expect(paymentViewSchema().safeParse(view).success).toBe(true);
  });

  test.each([
    ['authentication_required', 'authenticate', false],
    ['incorrect_cvc', 'correct_data', false],
    ['expired_card', 'correct_data', false],
    ['processing_error', 'retry_later', false],
    ['insufficient_funds', 'retry_later', false],
    ['do_not_honor', 'contact_bank', false],
    ['lost_card', 'another_method', true],
    ['stolen_card', 'another_method', true],
  ] as const)('explains the decline %s with the advice %s', (failureCode, advice, hard) => {
    const decline = { providerCode: 'generic_decline', networkCode: '51' };
    const view = forPayer(payment({ status: 'failed', failureCode, decline }));
    const codes = { code: failureCode, provider_code: 'generic_decline', network_code: '51' };
    expect(view.decline).toEqual({ ...codes, advice, hard });
    expect(paymentViewSchema().safeParse(view).success).toBe(true);
    expect(forPayer(payment({ status: 'failed', failureCode })).decline).toMatchObject({ provider_code: null });
  });

  test.each([
    ['do_not_try_again', 'another_method', true],
    ['confirm_card_data', 'correct_data', false],
    ['try_again_later', 'retry_later', false],
  ] as const)('prefers the provider’s advice %s to the advice on the code', (advised, advice, hard) => {
    for (const failureCode of DECLINE_CODES) {
      const view = forPayer(payment({ status: 'failed', failureCode, decline: { advised } }));
      expect(view.decline).toMatchObject({ code: failureCode, advice, hard });
      expect(view.decline).not.toHaveProperty('advised');
    }
  });

  test('shows the provider’s fee and the net amount only to staff', () => {
    const known = payment({ status: 'succeeded', settlement: SETTLEMENT });
    const shown = { fee_cents: 103, net_cents: 2_397, currency: 'EUR', exchange_rate: '0.92', available_on: iso(NOON) };
    expect(paymentView(known, 'staff').settlement).toEqual(shown);
    expect(paymentView(payment(), 'staff').settlement).toBeNull();
    expect(paymentViewSchema().safeParse(paymentView(known, 'staff')).success).toBe(true);
    for (const view of Object.values(VIEWS)) expect('settlement' in view(known)).toBe(false);
    expect(JSON.stringify(forPayer(known))).not.toMatch(/2397|fee_cents/);
  });

  test('has a small fixed set of fields in the list without a credential', () => {
    expect(Object.keys(guestPaymentView(full)).toSorted()).toEqual([
      'amount_cents',
      'completed_at',
      'created_at',
      'currency',
      'description',
      'discount_cents',
      'guest_email',
      'id',
      'is_guest_payment',
      'provider_id',
      'status',
      'subtotal_cents',
      'tax_cents',
      'total_cents',
      'updated_at',
    ]);
    expect(guestPaymentSchema().safeParse(guestPaymentView(full)).success).toBe(true);
  });

  test('has only the outcome after a confirmation', () => {
    expect(confirmationView(full)).toEqual({
      id: full.id,
      status: 'created',
      provider_payment_id: 'pi_1',
      completed_at: null,
    });
    expect(confirmationSchema().safeParse(confirmationView(full)).success).toBe(true);
  });
});

describe('the client secret', () => {
  test.each([
    [0, true],
    [DAY_MS - 1, true],
    [DAY_MS, false],
    [30 * DAY_MS, false],
  ])('is shown %i ms after creation to callers who can confirm: %s', (after, shown) => {
    expect(paymentWithSecret(full, 'payer', NOON + after).client_secret).toBe(shown ? SECRET : undefined);
    expect('client_secret' in paymentWithSecret(full, 'payer', NOON + after)).toBe(shown);
  });
});
