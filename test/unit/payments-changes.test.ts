import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DAY_MS, iso, MINUTE_MS, SECOND_MS } from '../../shared/core/time.ts';
import { useHeld } from '../../shared/payment-methods/usable-method.ts';
import {
  CAUSES,
  PAYMENT_STATUSES,
  type Payment,
  type VisiblePayment,
  withDraft,
} from '../../shared/payments/payment.ts';
import {
  advancePayment,
  applyDraft,
  claimAttempt,
  publishIntent,
  reportedFields,
} from '../../shared/payments/payment-versions.ts';
import type { ProviderPayment } from '../../shared/providers/payment-port.ts';
import { session } from '../builders/api-request.ts';
import { draft, NOON, payment } from '../builders/payment.ts';

const LATER = NOON + 10 * SECOND_MS;

const report = (fields: Partial<ProviderPayment> = {}): ProviderPayment => ({
  intentId: 'pi_9',
  paymentId: 'pi_9',
  status: 'created',
  amountCents: 2_500,
  currency: 'USD',
  attemptRef: undefined,
  failureCode: undefined,
  clientSecret: 'pi_9_secret',
  nextAction: undefined,
  methodId: undefined,
  ourPaymentId: undefined,
  ...fields,
});

describe('the next version of a payment', () => {
  test('increments the version, has the time of the change, and names its cause', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...PAYMENT_STATUSES),
        fc.constantFrom(...PAYMENT_STATUSES),
        fc.constantFrom(...CAUSES),
        (from, to, cause) => {
          const next = advancePayment(payment({ status: from, version: 7 }), { to, now: LATER, cause });
          expect(next).toMatchObject({ status: to, cause, version: 8, updatedAt: iso(LATER), createdAt: iso(NOON) });
        },
      ),
    );
  });

  test('has the time of the first success as its completion time, and keeps it', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...PAYMENT_STATUSES), { maxLength: 10 }), (path) => {
        let record = payment();
        let now = NOON;
        let first: string | undefined;
        for (const status of path) {
          now += SECOND_MS;
          record = advancePayment(record, { to: status, now, cause: 'sync' });
          if (status === 'succeeded') first ??= iso(now);
          expect(record.completedAt).toBe(first);
        }
      }),
    );
  });

  test('has a due time for its lookup exactly while its outcome is unknown', () => {
    for (const status of PAYMENT_STATUSES) {
      const { reconcileAt, reconcileStep } = advancePayment(payment(), { to: status, now: LATER, cause: 'event' });
      const unclear = status === 'pending' || status === 'processing';
      expect([reconcileAt, reconcileStep]).toEqual(unclear ? [iso(LATER + MINUTE_MS), 0] : [undefined, undefined]);
    }
  });

  test('keeps its due time while its outcome stays unknown', () => {
    const kept = { reconcileAt: iso(NOON + 30 * MINUTE_MS), reconcileStep: 2 };
    expect(
      advancePayment(payment({ status: 'processing', ...kept }), { to: 'pending', now: LATER, cause: 'answer' }),
    ).toMatchObject(kept);
  });

  test('keeps a failure reason only if the payment has failed', () => {
    const failed = payment({ status: 'failed', failureCode: 'lost_card' });
    for (const status of PAYMENT_STATUSES) {
      const expected = status === 'failed' ? 'lost_card' : undefined;
      expect(advancePayment(failed, { to: status, now: LATER, cause: 'sync' }).failureCode).toBe(expected);
    }
  });

  test('keeps the payer’s next action only while the payment is pending', () => {
    const pending = payment({ status: 'pending', nextAction: { type: 'use_provider_sdk' } });
    for (const status of PAYMENT_STATUSES) {
      const expected = status === 'pending' ? { type: 'use_provider_sdk' } : undefined;
      expect(advancePayment(pending, { to: status, now: LATER, cause: 'sync' }).nextAction).toEqual(expected);
    }
  });
});

describe('the saved method of a payment', () => {
  const held = { paymentMethodId: 'pmt_1', methodRef: 'pm_1' };
  const other = { paymentMethodId: undefined, methodRef: 'pm_2' };

  test.each(PAYMENT_STATUSES)(
    'is replaced by another reported method only after that method has paid: %s',
    (status) => {
      const next = advancePayment(payment(held), { to: status, now: LATER, cause: 'sync' }, { methodRef: 'pm_2' });
      expect(next).toMatchObject(status === 'succeeded' ? other : held);
    },
  );

  test('is kept if the provider names the same method or no method', () => {
    for (const changed of [{ methodRef: 'pm_1' }, {}]) {
      expect(advancePayment(payment(held), { to: 'succeeded', now: LATER, cause: 'sync' }, changed)).toMatchObject(
        held,
      );
    }
  });
});

describe('the claim of an attempt', () => {
  const held = { methodRef: 'pm_2', paymentMethodId: undefined, providerCustomerId: 'cus_1' };
  const chosen = { method: useHeld(session(), { userId: 'user_1', providerId: 'provider_a' }, held) };

  test('starts a new attempt with its method, time and first lookup', () => {
    const failed = payment({
      status: 'failed',
      version: 4,
      attempt: 1,
      attemptRef: 'ch_1',
      failureCode: 'lost_card',
      nextAction: { type: 'use_provider_sdk' },
    });
    expect(claimAttempt(failed, chosen, LATER)).toMatchObject({
      status: 'processing',
      cause: 'claim',
      version: 5,
      attempt: 2,
      claimedAt: iso(LATER),
      priorAttemptRefs: ['ch_1'],
      failureCode: undefined,
      nextAction: undefined,
      reconcileAt: iso(LATER + MINUTE_MS),
      reconcileStep: 0,
      ...held,
    });
  });

  test('keeps the ids of the previous twenty attempts', () => {
    const failed = (attemptRef: string | undefined, of: VisiblePayment) =>
      advancePayment(of, { to: 'failed', now: NOON, cause: 'answer' }, attemptRef === undefined ? {} : { attemptRef });
    let claimed = claimAttempt(payment(), chosen, NOON);
    expect(claimed.priorAttemptRefs).toBeUndefined();
    for (const id of ['ch_1', undefined, 'ch_2']) claimed = claimAttempt(failed(id, claimed), chosen, NOON);
    expect(claimed.priorAttemptRefs).toEqual(['ch_1', 'ch_2']);
    for (let id = 3; id <= 22; id += 1) claimed = claimAttempt(failed(`ch_${id}`, claimed), chosen, NOON);
    expect([claimed.priorAttemptRefs?.[0], claimed.priorAttemptRefs?.length]).toEqual(['ch_3', 20]);
  });

  test('never reuses the key of another attempt', () => {
    const first = claimAttempt(payment(), chosen, NOON);
    const second = claimAttempt(advancePayment(first, { to: 'failed', now: NOON, cause: 'answer' }), chosen, NOON);
    expect([first.attempt, second.attempt]).toEqual([1, 2]);
  });
});

describe('a created payment', () => {
  const creating: Payment = {
    ...payment({ version: 0, busyUntil: iso(LATER), reconcileAt: iso(LATER), providerIntentId: undefined }),
    status: 'creating',
  };

  test('exists from version 1 on, with the provider’s ids and secret, and without a lease', () => {
    expect(publishIntent({ ...creating, methodRef: 'tok_1' }, report({ methodId: 'pm_9' }), LATER)).toMatchObject({
      version: 1,
      status: 'created',
      providerIntentId: 'pi_9',
      providerPaymentId: 'pi_9',
      clientSecret: 'pi_9_secret',
      methodRef: 'pm_9',
      busyUntil: undefined,
      reconcileAt: undefined,
    });
  });

  test('has the status requires_payment_method if it has no method', () => {
    expect(publishIntent(creating, report(), LATER).status).toBe('requires_payment_method');
  });

  test('keeps the saved method of its creation', () => {
    const saved = { ...creating, paymentMethodId: 'pmt_1', methodRef: 'pm_1' };
    expect(publishIntent(saved, report({ methodId: 'pm_9' }), LATER)).toMatchObject({
      methodRef: 'pm_1',
      status: 'created',
    });
  });
});

describe('an update that the provider accepted', () => {
  const old = payment({
    description: 'old',
    category: 'old',
    draft: draft(),
    reconcileAt: iso(LATER),
    methodRef: 'pm_1',
  });

  test('sets its fields on the payment, and clears the draft', () => {
    const next = applyDraft(old, draft({ description: 'new', methodRef: 'pm_2' }), { now: LATER });
    expect(next).toMatchObject({
      totalCents: 3_000,
      description: 'new',
      methodRef: 'pm_2',
      status: 'created',
      cause: 'update',
      version: 2,
      updatedAt: iso(LATER),
    });
    expect([next.category, next.draft, next.reconcileAt]).toEqual([undefined, undefined, undefined]);
  });

  test.each([
    [{ methodRef: 'pm_2' }, 'created'],
    [{ paymentMethodId: 'pmt_1' }, 'created'],
    [{}, 'requires_payment_method'],
  ] as const)('with the method %j leads to the status %s', (fields, status) => {
    expect(applyDraft(old, draft(fields), { now: LATER }).status).toBe(status);
  });

  test.each(['processing', 'pending', 'succeeded', 'failed', 'canceled'] as const)(
    'keeps the status of a payment that is now %s',
    (status) => {
      const at = iso(NOON + DAY_MS);
      const next = applyDraft(payment({ status, reconcileAt: at, draft: draft() }), draft(), { now: LATER });
      expect(next).toMatchObject({ status, reconcileAt: at, totalCents: 3_000 });
    },
  );

  test('changes no field that updates cannot change', () => {
    const fixed: Partial<Payment> = { id: old.id, userId: 'user_1', providerId: 'provider_a', createdAt: iso(NOON) };
    expect(withDraft(old, draft())).toMatchObject(fixed);
  });
});

describe('a report of the provider', () => {
  test.each<[Partial<ProviderPayment>, Partial<Payment>]>([
    [
      { status: 'succeeded', attemptRef: 'ch_1', methodId: 'pm_9' },
      { attemptRef: 'ch_1', methodRef: 'pm_9' },
    ],
    [{ status: 'failed', failureCode: 'lost_card' }, { failureCode: 'lost_card' }],
    [{ status: 'failed' }, { failureCode: 'processing_error' }],
    [
      { status: 'pending', nextAction: { type: 'redirect_to_url', url: 'https://bank.example' } },
      { nextAction: { type: 'redirect_to_url', url: 'https://bank.example' } },
    ],
  ])('%j is stored as %j', (given, kept) => {
    expect(reportedFields(report({ paymentId: 'pay_9', ...given }))).toMatchObject({
      providerPaymentId: 'pay_9',
      ...kept,
    });
  });

  test('keeps the method if the report names none', () => {
    expect('methodRef' in reportedFields(report())).toBe(false);
  });
});
