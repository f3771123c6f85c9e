/** @module The due work of a payment, its effect on the record, and its next due time. */
import { describe, expect, test } from 'vitest';
import type { Capabilities } from '../../shared/core/capabilities.ts';
import { DomainError } from '../../shared/core/errors.ts';
import { DAY_MS, HOUR_MS, iso, MINUTE_MS, SECOND_MS } from '../../shared/core/time.ts';
import { type Customer, customerShape } from '../../shared/customers/customer.ts';
import type { Payment, VisiblePayment } from '../../shared/payments/payment.ts';
import { runDuePayment } from '../../shared/payments/run-payment-due.ts';
import { aliasKey, organizationKey } from '../../shared/platform/keys.ts';
import type { Item } from '../../shared/platform/table.ts';
import { recordItem } from '../../shared/platform/versioned-record.ts';
import type { ProviderMethod } from '../../shared/providers/method-port.ts';
import { draft, NOON, payment } from '../builders/payment.ts';
import { paymentWork, reported, type Script, UNKNOWN } from '../builders/payment-work.ts';

const CREATED = NOON - 20 * HOUR_MS;

const CAN: Capabilities = {
  ...{ payments: true, customers: true, methods: true, rawCards: false, billingDetails: true },
  ...{ clientConfirmation: true, capturesOnApproval: false, verificationTokens: false },
  capturesLater: false,
  subscriptions: 'service',
};

/** An attempt at noon. The payment was created long before. */
const claimed = (fields: Partial<VisiblePayment> = {}): VisiblePayment =>
  payment({
    ...{ createdAt: iso(CREATED), status: 'processing', version: 2, attempt: 1, claimedAt: iso(NOON) },
    ...{ methodRef: 'pm_1', reconcileAt: iso(NOON + MINUTE_MS), reconcileStep: 0, ...fields },
  });

interface Run {
  readonly record: Payment;
  readonly script?: Script;
  readonly at: number;
  readonly others?: readonly Item[];
}

/** Runs the due work once, at a time after noon. */
const run = async ({ record, script = {}, at, others = [] }: Run) => {
  const work = await paymentWork(record, script, others);
  work.clock.at = NOON + at;
  await work.lease();
  const result = await runDuePayment(work.deps, record.id);
  return { ...work, result, stored: await work.load() };
};

describe('a payment that was removed', () => {
  test('has no work', async () => {
    const { deps } = await paymentWork(payment(), {});
    expect(await runDuePayment(deps, 'pay_00000000000000000000000f')).toBe('gone');
  });
});

describe('a creation without a response', () => {
  test('is repeated, and the payment is then published', async () => {
    const creating: Payment = { ...payment(), status: 'creating', providerIntentId: undefined, version: 0 };
    const { result, stored, calls } = await run({
      ...{ record: creating, at: MINUTE_MS, script: { createIntent: async () => reported('created') } },
    });
    expect([result, stored?.['status'], calls]).toEqual(['created', 'requires_payment_method', ['createIntent']]);
  });
});

describe('work that ends with an error', () => {
  const expired = payment({ createdAt: iso(NOON - DAY_MS) });

  test('is due again after five minutes if the error is a refusal, and the refusal’s code is the result', async () => {
    const { result, dueAt, stored } = await run({ record: expired, at: SECOND_MS });
    expect([result, await dueAt()]).toEqual(['PROVIDER_ERROR', NOON + SECOND_MS + 5 * MINUTE_MS]);
    expect(stored).toMatchObject({ status: 'created', version: 1 });
  });

  test('warns of a payment that is stuck', async () => {
    const refuse = async () => Promise.reject(new DomainError('PROVIDER_UNAVAILABLE'));
    const { result, lines, dueAt } = await run({ record: claimed(), at: HOUR_MS, script: { findPayment: refuse } });
    expect([result, await dueAt()]).toEqual(['PROVIDER_UNAVAILABLE', NOON + HOUR_MS + 5 * MINUTE_MS]);
    expect(lines).toMatchObject([{ message: 'payment stuck', fields: { reason: 'outcome_unknown' } }]);
  });

  test('does not change a payment that no longer has due work', async () => {
    const work = await paymentWork(expired, {
      cancelIntent: async () => {
        await work.overtake({ status: 'succeeded' });
        return UNKNOWN;
      },
    });
    work.clock.at = NOON + SECOND_MS;
    expect(await runDuePayment(work.deps, expired.id)).toBe('PROVIDER_TIMEOUT');
    expect(await work.load()).toMatchObject({ status: 'succeeded', version: 2 });
    expect(await work.dueAt()).toBeUndefined();
  });

  test('fails if the error is a bug', async () => {
    const script = { cancelIntent: () => Promise.reject(new TypeError('a bug')) };
    await expect(run({ record: expired, at: SECOND_MS, script })).rejects.toThrow('a bug');
  });
});

describe('a client secret', () => {
  const secret = { clientSecret: 'pi_1_secret_x' };

  test('is removed a day after the creation, and not sooner', async () => {
    const record = payment({ ...secret, status: 'succeeded' });
    const early = await run({ record, at: DAY_MS - 1 });
    expect([early.result, early.stored?.['clientSecret'], await early.dueAt()]).toEqual([
      'nothing due',
      secret.clientSecret,
      NOON + DAY_MS,
    ]);
    const late = await run({ record, at: DAY_MS });
    expect([late.result, late.stored?.['clientSecret'], await late.dueAt()]).toEqual([
      'secret removed',
      undefined,
      undefined,
    ]);
  });

  test('is removed before other work that is due at the same time', async () => {
    const { result, stored } = await run({
      ...{ record: payment(secret), at: DAY_MS, script: { cancelIntent: async () => reported('canceled') } },
    });
    expect([result, stored?.['status'], stored?.['clientSecret']]).toEqual(['canceled', 'canceled', undefined]);
  });
});

describe('a payment without a confirmation', () => {
  const cancels = { cancelIntent: async () => reported('canceled') };

  test.each(['created', 'requires_payment_method'] as const)(
    'is canceled after a day if its status is %s',
    async (status) => {
      const early = await run({ record: payment({ status }), at: DAY_MS - 1, script: cancels });
      expect([early.result, early.stored?.['status'], early.calls]).toEqual(['nothing due', status, []]);
      expect(await early.dueAt()).toBe(NOON + DAY_MS);
      const late = await run({ record: payment({ status }), at: DAY_MS, script: cancels });
      expect([late.result, late.stored?.['status']]).toEqual(['canceled', 'canceled']);
      expect(late.stored).toMatchObject({ cause: 'expiry' });
    },
  );

  test('is looked up again later if its provider has not canceled it', async () => {
    const { result, dueAt } = await run({
      ...{ record: payment(), at: DAY_MS, script: { cancelIntent: async () => reported('created') } },
    });
    expect(result).toBe('created');
    expect(await dueAt()).toBe(NOON + 2 * DAY_MS);
  });

  test('is not canceled once it has failed', async () => {
    const { result, calls, dueAt } = await run({
      record: payment({ status: 'failed' }),
      at: 2 * DAY_MS,
      script: cancels,
    });
    expect([result, calls, await dueAt()]).toEqual(['nothing due', [], undefined]);
  });
});

describe('a payment that waits for its payer', () => {
  const pending = (fields: Partial<VisiblePayment> = {}) =>
    claimed({ status: 'pending', attemptRef: 'ch_2', ...fields });
  const script = { findPayment: async () => reported('pending'), cancelIntent: async () => reported('canceled') };

  test('is canceled a day after its confirmation, and not sooner', async () => {
    const early = await run({ record: pending(), at: DAY_MS - 1, script });
    expect([early.result, early.stored?.['status'], await early.dueAt()]).toEqual([
      'unchanged',
      'pending',
      NOON + DAY_MS,
    ]);
    const late = await run({ record: pending(), at: DAY_MS, script });
    expect([late.result, late.stored?.['status']]).toEqual(['canceled', 'canceled']);
  });

  test('is canceled a day after its creation if it was never confirmed here', async () => {
    const { result } = await run({ record: pending({ claimedAt: undefined }), at: 4 * HOUR_MS, script });
    expect(result).toBe('canceled');
  });

  test('is never canceled if it pays a provider’s invoice, because the provider ends such a payment', async () => {
    const { result, calls } = await run({ record: pending({ providerInvoiceId: 'in_1' }), at: 3 * DAY_MS, script });
    expect([result, calls]).toEqual(['unchanged', ['findPayment']]);
  });

  test('is read again after five minutes while its provider cannot be read', async () => {
    const { result, dueAt, lines } = await run({ record: pending(), at: HOUR_MS });
    expect([result, await dueAt(), lines]).toEqual(['provider unclear', NOON + HOUR_MS + 5 * MINUTE_MS, []]);
  });
});

describe('a payment whose provider reports nothing new', () => {
  test('is looked up again while an attempt is under way, and counts as stuck after a week', async () => {
    const script = { findPayment: async () => reported('processing') };
    const soon = await run({ record: claimed(), at: HOUR_MS, script });
    expect([soon.result, await soon.dueAt(), soon.lines]).toEqual(['unchanged', NOON + 2 * HOUR_MS, []]);
    const late = await run({ record: claimed(), at: 7 * DAY_MS, script });
    expect(late.lines).toMatchObject([{ message: 'payment stuck', fields: { reason: 'still_under_way' } }]);
  });

  test('stays unchanged until it expires if nothing is under way', async () => {
    const script = { findPayment: async () => reported('created'), cancelIntent: async () => reported('canceled') };
    const record = payment({ reconcileAt: iso(NOON + MINUTE_MS), draft: undefined });
    const soon = await run({ record, at: MINUTE_MS, script });
    expect([soon.result, soon.calls, await soon.dueAt()]).toEqual(['unchanged', ['findPayment'], NOON + DAY_MS]);
    const late = await run({ record, at: DAY_MS, script });
    expect([late.result, late.calls]).toEqual(['canceled', ['findPayment', 'cancelIntent']]);
  });
});

describe('a lookup', () => {
  test('is not made before it is due, and never for a settled payment', async () => {
    const early = await run({ record: claimed(), at: MINUTE_MS - 1 });
    expect([early.result, early.calls, await early.dueAt()]).toEqual(['nothing due', [], NOON + MINUTE_MS]);
    const settled = await run({ record: claimed({ status: 'succeeded' }), at: HOUR_MS });
    expect([settled.result, settled.calls, await settled.dueAt()]).toEqual(['nothing due', [], undefined]);
    expect(settled.stored).not.toHaveProperty('due');
  });

  test('stores the report of the payment’s provider', async () => {
    const { result, stored, opened } = await run({
      ...{ record: claimed(), at: MINUTE_MS, script: { findPayment: async () => reported('succeeded') } },
    });
    expect([result, opened]).toEqual(['succeeded', ['provider_a for payments']]);
    expect(stored).toMatchObject({ status: 'succeeded', cause: 'reconciliation', attemptRef: 'ch_2' });
  });

  test('stores nothing if another function has changed the payment meanwhile', async () => {
    const work = await paymentWork(claimed(), {
      findPayment: async () => {
        await work.overtake({ status: 'failed' });
        return reported('processing', { status: 'succeeded' });
      },
    });
    work.clock.at = NOON + MINUTE_MS;
    expect(await runDuePayment(work.deps, claimed().id)).toBe('another write came first');
    expect(await work.load()).toMatchObject({ status: 'failed', version: 3 });
  });

  test('is repeated later if the provider reports another amount', async () => {
    const script = { findPayment: async () => reported('succeeded', { amountCents: 1 }) };
    const { result, dueAt } = await run({ record: claimed(), at: MINUTE_MS, script });
    expect([result, await dueAt()]).toEqual(['mismatch', NOON + 5 * MINUTE_MS]);
  });
});

describe('an attempt that never arrived', () => {
  const script = {
    findPayment: async () => reported('created', { attemptRef: undefined }),
    confirmIntent: async () => reported('succeeded'),
  };
  const ORGANIZATION = { ...organizationKey('org_1') };

  test.each<[string, Partial<VisiblePayment>, readonly Item[], string]>([
    ['is sent again', {}, [], 'succeeded'],
    ['is sent again without a method', { methodRef: undefined }, [], 'succeeded'],
    ['is sent again for an organization', { organizationId: 'org_1' }, [ORGANIZATION], 'succeeded'],
    ['fails if the organization is gone', { organizationId: 'org_1' }, [], 'failed'],
    [
      'fails if the organization was deleted',
      { organizationId: 'org_1' },
      [{ ...ORGANIZATION, deletedAt: 'x' }],
      'failed',
    ],
    ['fails if its method was deleted', {}, [{ ...aliasKey('provider_a', 'pm_1'), kind: 'PM', id: 'pmt_1' }], 'failed'],
  ])('%s', async (...[, fields, others, status]) => {
    const { result, stored, calls } = await run({ record: claimed(fields), at: 2 * MINUTE_MS, script, others });
    expect([result, stored?.['status']]).toEqual([status, status]);
    expect(calls).toEqual(status === 'failed' ? ['findPayment'] : ['findPayment', 'confirmIntent']);
    if (status === 'failed') expect(stored).toMatchObject({ failureCode: 'processing_error', cause: 'reconciliation' });
  });

  test('fails if it is no longer the open charge of its subscription', async () => {
    const work = await paymentWork(claimed({ subscriptionId: 'subs_1' }), script);
    work.clock.at = NOON + 2 * MINUTE_MS;
    const asked: unknown[] = [];
    const isChargeOpen = async (one: unknown) => {
      asked.push(one);
      return false;
    };
    expect(await runDuePayment({ ...work.deps, isChargeOpen }, claimed().id)).toBe('failed');
    expect(asked).toMatchObject([{ id: claimed().id, subscriptionId: 'subs_1' }]);
  });

  test.each([
    ['has no response again', UNKNOWN, 'processing'],
    ['could not be sent', { kind: 'not_done', reason: 'unreachable' }, 'not sent'],
  ] as const)('is looked up again if its retry %s', async (_, outcome, expected) => {
    const { result, dueAt, stored } = await run({
      ...{ record: claimed(), at: 2 * MINUTE_MS, script: { ...script, confirmIntent: async () => outcome } },
    });
    expect([result, await dueAt(), stored?.['status']]).toEqual([expected, NOON + 5 * MINUTE_MS, 'processing']);
  });

  test('is sent again with a new intent if its intent is spent, and the new outcome counts', async () => {
    const sent: string[] = [];
    const { result, stored } = await run({
      record: claimed(),
      at: 2 * MINUTE_MS,
      script: {
        ...script,
        createIntent: async () => reported('created', { intentId: 'pi_2', paymentId: 'pi_2' }),
        confirmIntent: async ({ intentId }) => {
          sent.push(intentId);
          return intentId === 'pi_1'
            ? { kind: 'refused', reason: 'intent_spent' }
            : reported('succeeded', { intentId });
        },
      },
    });
    expect([result, sent]).toEqual(['succeeded', ['pi_1', 'pi_2']]);
    expect(stored).toMatchObject({ status: 'succeeded', providerIntentId: 'pi_2' });
  });
});

describe('an approval of the payer that no event has reported', () => {
  const pending = claimed({ status: 'pending', methodRef: undefined });
  const approved = async () => reported('pending', { awaitsCapture: true });
  const captures = { findPayment: approved, confirmIntent: async () => reported('succeeded') };

  test('is captured once', async () => {
    const { result, stored, calls } = await run({ record: pending, at: MINUTE_MS, script: captures });
    expect([result, calls]).toEqual(['succeeded', ['findPayment', 'confirmIntent']]);
    expect(stored).toMatchObject({ status: 'succeeded', attempt: 2 });
  });

  test('is captured in the same run as the read that finds the payment pending', async () => {
    const record = payment({ reconcileAt: iso(NOON + MINUTE_MS) });
    const { result, calls } = await run({ record, at: MINUTE_MS, script: captures });
    expect([result, calls]).toEqual(['succeeded', ['findPayment', 'confirmIntent']]);
  });

  test.each([
    ['it has another amount', async () => reported('pending', { awaitsCapture: true, amountCents: 1 }), 'mismatch'],
    ['its attempt is still processing', async () => reported('processing', { awaitsCapture: true }), 'processing'],
  ] as const)('is not captured if %s', async (_, findPayment, expected) => {
    const { result, calls } = await run({ record: pending, at: MINUTE_MS, script: { ...captures, findPayment } });
    expect([result, calls]).toEqual([expected, ['findPayment']]);
  });

  test('is not captured for an organization that was deleted', async () => {
    const record = { ...pending, organizationId: 'org_1' };
    const { result, calls, dueAt } = await run({ record, at: MINUTE_MS, script: captures });
    expect([result, calls, await dueAt()]).toEqual(['unchanged', ['findPayment'], NOON + 5 * MINUTE_MS]);
  });

  test.each([
    ['a pending payment', pending],
    ['a payment without an attempt', payment({ reconcileAt: iso(NOON + MINUTE_MS) })],
  ])('is not captured if another function changes the payment first: %s', async (_, record) => {
    const work = await paymentWork(record, {
      ...captures,
      findPayment: async () => {
        await work.overtake({ status: 'pending' });
        return approved();
      },
    });
    work.clock.at = NOON + MINUTE_MS;
    expect(await runDuePayment(work.deps, record.id)).toBe('another write came first');
    expect(work.calls).toEqual(['findPayment']);
  });
});

describe('an update without a response', () => {
  const updating = (fields: Partial<VisiblePayment> = {}) =>
    payment({ draft: draft(), draftVersion: 1, reconcileAt: iso(NOON + MINUTE_MS), reconcileStep: 0, ...fields });
  const taken = async () => reported('created', { amountCents: 3_000 });

  test('is sent again, and applied', async () => {
    const { result, stored, calls, dueAt } = await run({
      ...{ record: updating(), at: MINUTE_MS, script: { updateIntent: taken } },
    });
    expect([result, calls]).toEqual(['updated', ['updateIntent']]);
    expect(stored).toMatchObject({ totalCents: 3_000, status: 'requires_payment_method' });
    expect(stored?.['draft']).toBeUndefined();
    expect(await dueAt()).toBe(NOON + DAY_MS);
  });

  test('is dropped if the provider refuses it and has the old amount', async () => {
    const { result, stored, dueAt } = await run({
      ...{ record: updating(), at: MINUTE_MS },
      script: {
        updateIntent: async () => ({ kind: 'refused', reason: 'amount_too_large' }),
        findPayment: async () => reported('created'),
      },
    });
    expect([result, stored?.['totalCents'], stored?.['draft']]).toEqual(['update dropped', 2_500, undefined]);
    expect(await dueAt()).toBe(NOON + DAY_MS);
  });

  test('is followed by a lookup if the payer may have acted in the meantime', async () => {
    const script = { updateIntent: taken, findPayment: async () => reported('succeeded', { amountCents: 3_000 }) };
    const underWay = await run({ record: updating({ status: 'pending' }), at: MINUTE_MS, script });
    expect([underWay.result, underWay.calls]).toEqual(['succeeded', ['updateIntent', 'findPayment']]);
    const can = { ...CAN, capturesOnApproval: true };
    const approving = await run({ record: updating(), at: MINUTE_MS, script: { ...script, can } });
    expect([approving.result, approving.calls]).toEqual(['succeeded', ['updateIntent', 'findPayment']]);
  });

  test('is due again after five minutes while the provider does not respond', async () => {
    const { result, dueAt, stored } = await run({ record: updating(), at: MINUTE_MS });
    expect([result, await dueAt()]).toEqual(['PAYMENT_IN_PROGRESS', NOON + 6 * MINUTE_MS]);
    expect(stored).toMatchObject({ draft: { totalCents: 3_000 }, totalCents: 2_500 });
  });

  test('is not followed by a lookup if the payment has settled in the meantime', async () => {
    const work = await paymentWork(updating(), {
      can: { ...CAN, capturesOnApproval: true },
      updateIntent: async () => {
        await work.overtake({ status: 'succeeded', totalCents: 3_000, draft: undefined });
        return taken();
      },
    });
    work.clock.at = NOON + MINUTE_MS;
    expect(await runDuePayment(work.deps, updating().id)).toBe('updated');
    expect([work.calls, await work.dueAt()]).toEqual([['updateIntent'], undefined]);
  });
});

describe('a method that must still be saved', () => {
  const wanting = payment({
    ...{ status: 'succeeded', setupFutureUsage: 'off_session', providerCustomerId: 'cus_1', methodRef: 'pm_1' },
  });

  test('is not saved if its customer has no record here, and then nothing is due', async () => {
    const { result, stored, dueAt, calls } = await run({ record: wanting, at: MINUTE_MS });
    expect([result, stored?.['methodNotKept'], await dueAt(), calls]).toEqual(['method not kept', true, undefined, []]);
  });

  const customer: Customer = {
    ...{ id: 'cust_00000000000000000000000a', version: 1, createdAt: iso(NOON), updatedAt: iso(NOON) },
    ...{ providerId: 'provider_a', providerCustomerId: 'cus_1', userId: 'user_1' },
  };
  const others = [
    recordItem(customerShape, customer),
    { ...aliasKey('provider_a', 'cus_1'), kind: 'CUS', id: customer.id },
  ];
  const kept: ProviderMethod = {
    ...{ methodId: 'pm_1', customerId: 'cus_1', type: 'card', walletType: undefined, cardBrand: 'Visa' },
    ...{ lastFour: '4242', expiryMonth: '07', expiryYear: '2031' },
  };

  test('is saved for the customer of the payment', async () => {
    const script: Script = { keepMethod: async () => ({ kind: 'done', value: kept }) };
    const { result, stored, dueAt } = await run({ record: wanting, at: MINUTE_MS, script, others });
    expect([result, stored?.['paymentMethodId'], await dueAt()]).toEqual([
      'method saved',
      expect.stringMatching(/^pmt_/),
      undefined,
    ]);
  });

  test('is due again after five minutes while the provider gives no response', async () => {
    const { result, stored, dueAt } = await run({
      ...{ record: wanting, at: MINUTE_MS, script: { keepMethod: async () => UNKNOWN }, others },
    });
    expect([result, stored?.['paymentMethodId']]).toEqual(['method not saved yet', undefined]);
    expect(await dueAt()).toBe(NOON + 6 * MINUTE_MS);
  });
});
