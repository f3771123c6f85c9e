import { describe, expect, test } from 'vitest';
import type { Outcome } from '../../shared/core/outcome.ts';
import { DAY_MS, HOUR_MS, iso, MINUTE_MS, SECOND_MS } from '../../shared/core/time.ts';
import type { Payment, VisiblePayment } from '../../shared/payments/payment.ts';
import { paymentItem } from '../../shared/payments/payment-item.ts';
import { providerReference } from '../../shared/payments/payment-versions.ts';
import { runDuePayment } from '../../shared/payments/run-payment-due.ts';
import type { ProviderEvent } from '../../shared/providers/event-port.ts';
import type { ProviderPayment, ReportedStatus } from '../../shared/providers/payment-port.ts';
import type { PaymentProvider } from '../../shared/providers/provider.ts';
import type { Providers } from '../../shared/providers/registry.ts';
import { applyPaymentEvent, type PaymentEvent } from '../../shared/webhooks/payment-event.ts';
import { testIds } from '../builders/ids.ts';
import { logLines } from '../builders/log-lines.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { draft, NOON, payment } from '../builders/payment.ts';
import { answers, stripeThatAnswers } from '../builders/stripe.ts';

const report = (status: ReportedStatus, fields: Partial<ProviderPayment> = {}): Outcome<ProviderPayment> => ({
  kind: 'done',
  value: {
    intentId: 'pi_1',
    paymentId: 'pi_1',
    status,
    amountCents: 2_500,
    currency: 'USD',
    attemptRef: 'ch_2',
    failureCode: undefined,
    clientSecret: undefined,
    nextAction: undefined,
    methodId: undefined,
    ourPaymentId: undefined,
    ...fields,
  },
});

type Part = Partial<Pick<PaymentProvider, 'findPayment' | 'confirmIntent' | 'cancelIntent'>>;

/** One payment, a clock that the test moves, and a provider with scripted responses. */
const service = (record: Payment, provider: Part) => {
  const clock = { at: NOON };
  const now = () => clock.at;
  const { table } = memoryTable({ now });
  const { log, lines } = logLines();
  const calls: string[] = [];
  const unknown = { kind: 'unknown', reason: 'timeout' } as const;
  const answer = async <T>(name: keyof Part, asked: Promise<T> | undefined): Promise<T | typeof unknown> => {
    calls.push(name);
    return asked ?? unknown;
  };
  const stands: PaymentProvider = {
    ...stripeThatAnswers(answers(500, {})).provider(),
    findPayment: (known) => answer('findPayment', provider.findPayment?.(known)),
    confirmIntent: (input) => answer('confirmIntent', provider.confirmIntent?.(input)),
    cancelIntent: (input) => answer('cancelIntent', provider.cancelIntent?.(input)),
  };
  const providers: Providers = {
    find: async () => stands,
    require: async () => stands,
    openSlots: async () => undefined,
  };
  const deps = { table, now, log, providers, ids: testIds, isChargeOpen: async () => true };
  const stored = table.put(paymentItem(record, NOON));
  const load = async () => {
    await stored;
    return table.get({ pk: `PAY#${record.id}`, sk: 'PAY' });
  };
  return {
    clock,
    calls,
    lines,
    load,
    keep: async () => {
      await stored;
      return runDuePayment(deps, record.id);
    },
    sendEvent: async (type: PaymentEvent['type'], seconds: number, fields: Partial<ProviderEvent['object']> = {}) => {
      await stored;
      const object: ProviderEvent['object'] = {
        id: 'pi_1',
        intentId: undefined,
        amountCents: 2_500,
        currency: 'USD',
        attemptRef: undefined,
        failureCode: undefined,
        ourPaymentId: record.id,
        method: undefined,
        customer: undefined,
        ...fields,
      };
      const event: ProviderEvent = { id: 'evt_1', rawType: type, type, createdAt: seconds, object };
      return applyPaymentEvent(deps, { slot: 'provider_a', type, event });
    },
  };
};

/** An attempt at noon. The payment is much older, which shows that all times of an attempt count from its claim. */
const claimed = (fields: Partial<VisiblePayment> = {}) =>
  payment({
    createdAt: iso(NOON - 20 * HOUR_MS),
    status: 'processing',
    version: 2,
    attempt: 1,
    claimedAt: iso(NOON),
    methodRef: 'pm_1',
    reconcileAt: iso(NOON + MINUTE_MS),
    reconcileStep: 0,
    ...fields,
  });

describe('an attempt whose response was lost', () => {
  test.each<[ReportedStatus, string]>([
    ['succeeded', 'succeeded'],
    ['failed', 'failed'],
    ['canceled', 'canceled'],
    ['pending', 'pending'],
  ])('gets the provider’s status: %s', async (status, expected) => {
    const { clock, keep, load, calls } = service(claimed(), { findPayment: async () => report(status) });
    clock.at = NOON + MINUTE_MS;
    await keep();
    expect((await load())?.['status']).toBe(expected);
    expect(calls).toEqual(['findPayment']);
  });

  test('is reported as stuck after half an hour with an unknown outcome, and again at each later lookup', async () => {
    const { clock, keep, lines } = service(claimed(), {});
    const stuck = () => lines.filter(({ message }) => message === 'payment stuck').length;
    for (const [minutes, expected] of [
      [1, 0],
      [5, 0],
      [30, 1],
      [120, 2],
    ] as const) {
      clock.at = NOON + minutes * MINUTE_MS;
      expect(await keep()).toBe('provider unclear');
      expect([minutes, stuck()]).toEqual([minutes, expected]);
    }
  });

  test('is retried under its own key after a lookup, if it never arrived', async () => {
    const keys: string[] = [];
    const { clock, keep, load, calls } = service(claimed(), {
      findPayment: async () => report('created', { attemptRef: undefined }),
      confirmIntent: async ({ idempotencyKey }) => {
        keys.push(idempotencyKey);
        return report('succeeded');
      },
    });
    clock.at = NOON + 30 * MINUTE_MS;
    await keep();
    expect((await load())?.['status']).toBe('succeeded');
    expect(calls).toEqual(['findPayment', 'confirmIntent']);
    expect(keys).toEqual([`${payment().id}:confirm:1`]);
  });

  test('fails after half an hour if it never arrived, and is not retried', async () => {
    const { clock, keep, load, calls } = service(claimed(), {
      findPayment: async () => report('created', { attemptRef: undefined }),
    });
    clock.at = NOON + 30 * MINUTE_MS + 1;
    await keep();
    expect(await load()).toMatchObject({ status: 'failed', failureCode: 'processing_error' });
    expect(calls).toEqual(['findPayment']);
  });

  test('is looked up again later while its outcome is unknown', async () => {
    const { clock, keep, load } = service(claimed(), {});
    for (const [at, next] of [
      [MINUTE_MS, 5 * MINUTE_MS],
      [5 * MINUTE_MS, 30 * MINUTE_MS],
      [3 * DAY_MS, 4 * DAY_MS],
    ] as const) {
      clock.at = NOON + at;
      await keep();
      expect(await load()).toMatchObject({ status: 'processing', version: 2, due_at: iso(NOON + next) });
    }
  });

  test('is not settled if the provider reports another amount, which is logged as an anomaly', async () => {
    const { clock, keep, load, lines } = service(claimed(), {
      findPayment: async () => report('succeeded', { amountCents: 1 }),
    });
    clock.at = NOON + MINUTE_MS;
    await keep();
    expect((await load())?.['status']).toBe('processing');
    expect(lines.filter(({ message, level }) => message === 'payment anomaly' && level === 'error')).toHaveLength(1);
  });
});

describe('a payment that waits for its payer', () => {
  test('is canceled a day after its confirmation, and not sooner', async () => {
    const { clock, keep, load } = service(claimed({ status: 'pending', attemptRef: 'ch_2' }), {
      findPayment: async () => report('pending'),
      cancelIntent: async () => report('canceled'),
    });
    for (const [at, status] of [
      [12 * HOUR_MS, 'pending'],
      [DAY_MS - 1, 'pending'],
      [DAY_MS, 'canceled'],
    ] as const) {
      clock.at = NOON + at;
      await keep();
      expect([at, (await load())?.['status']]).toEqual([at, status]);
    }
  });
});

describe('a stale event', () => {
  test.each([
    ['', {}],
    [' that still holds its client secret', { clientSecret: 'pi_1_secret_x' }],
  ])('causes an immediate lookup of an unsettled payment%s', async (_, fields) => {
    const failed = payment({ status: 'failed', version: 3, attempt: 1, claimedAt: iso(NOON), ...fields });
    const { clock, sendEvent, keep, load } = service(failed, { findPayment: async () => report('succeeded') });
    clock.at = NOON + 10 * SECOND_MS;
    // The provider's clock is slow, so the success of this attempt looks older than its claim.
    const answer = await sendEvent('payment_intent.succeeded', NOON / SECOND_MS - 2);
    expect(answer).toMatchObject({ kind: 'ignored', reason: 'stale' });
    expect((await load())?.['due_at']).toBe(iso(clock.at));
    await keep();
    expect((await load())?.['status']).toBe('succeeded');
  });

  test('leaves a settled payment unchanged', async () => {
    const { sendEvent, load, calls } = service(payment({ status: 'succeeded', claimedAt: iso(NOON) }), {});
    await sendEvent('payment_intent.failed', NOON / SECOND_MS - 2);
    expect([(await load())?.['status'], calls.length]).toEqual(['succeeded', 0]);
  });
});

describe('an event during an update without an outcome', () => {
  const updating = () => service(payment({ draft: draft({ totalCents: 3_000, concept: 'Tea' }), version: 4 }), {});

  test.each([
    ['payment_intent.succeeded', 'succeeded'],
    ['payment_intent.failed', 'failed'],
    ['payment_intent.processing', 'processing'],
    ['payment_intent.requires_action', 'pending'],
    ['payment_intent.canceled', 'canceled'],
  ] as const)('applies the update if %s names the updated amount', async (type, status) => {
    const { sendEvent, load } = updating();
    expect(await sendEvent(type, NOON / SECOND_MS, { amountCents: 3_000 })).toMatchObject({ kind: 'applied', status });
    const stored = await load();
    expect(stored).toMatchObject({ status, totalCents: 3_000, concept: 'Tea', version: 5 });
    expect(stored?.['draft']).toBeUndefined();
  });

  test('keeps the update open if a decline event names the previous amount', async () => {
    const { sendEvent, load } = updating();
    await sendEvent('payment_intent.failed', NOON / SECOND_MS, { amountCents: 2_500 });
    expect(await load()).toMatchObject({ status: 'failed', totalCents: 2_500, draft: { totalCents: 3_000 } });
  });

  test('drops the update if the previous amount was paid', async () => {
    const { sendEvent, load } = updating();
    await sendEvent('payment_intent.succeeded', NOON / SECOND_MS, { amountCents: 2_500 });
    const stored = await load();
    expect(stored).toMatchObject({ status: 'succeeded', totalCents: 2_500 });
    expect(stored?.['draft']).toBeUndefined();
  });

  test('changes nothing if the event names neither the previous nor the new amount', async () => {
    const { sendEvent, load } = updating();
    const answer = await sendEvent('payment_intent.succeeded', NOON / SECOND_MS, { amountCents: 2_999 });
    expect(answer).toMatchObject({ kind: 'quarantined', reason: 'amount differs' });
    expect(await load()).toMatchObject({ status: 'created', totalCents: 2_500, version: 4 });
  });
});

describe('an event that contradicts a settled payment', () => {
  const canceled = payment({ status: 'canceled', version: 3 });

  test('reads the provider once, and applies a later status', async () => {
    const { sendEvent, load, lines, calls } = service(canceled, { findPayment: async () => report('succeeded') });
    expect(await sendEvent('payment_intent.succeeded', NOON / SECOND_MS)).toMatchObject({
      kind: 'applied',
      status: 'succeeded',
    });
    expect(await load()).toMatchObject({ status: 'succeeded', anomaly: expect.any(String) });
    expect(calls).toEqual(['findPayment']);
    expect(lines.some(({ message, level }) => message === 'payment anomaly' && level === 'error')).toBe(true);
  });

  test('changes nothing if the provider’s status does not confirm the event', async () => {
    for (const status of ['canceled', 'failed'] as const) {
      const { sendEvent, load, lines } = service(canceled, { findPayment: async () => report(status) });
      expect(await sendEvent('payment_intent.succeeded', NOON / SECOND_MS)).toMatchObject({ kind: 'ignored' });
      expect(await load()).toMatchObject({ status: 'canceled', version: 3 });
      // A provider's status that equals the record's is no anomaly.
      expect(lines.some(({ level }) => level === 'error')).toBe(status === 'failed');
    }
  });

  test('is retried while the provider cannot be read', async () => {
    const { sendEvent, load } = service(canceled, {});
    await expect(sendEvent('payment_intent.succeeded', NOON / SECOND_MS)).rejects.toThrow();
    expect(await load()).toMatchObject({ status: 'canceled', version: 3 });
  });
});

test('a read of the provider uses the record’s ids', () => {
  const record = payment({ attemptRef: 'ch_1', methodRef: 'pm_1', providerIntentId: 'pi_7' });
  expect(providerReference(record)).toMatchObject({ intentId: 'pi_7', attemptRef: 'ch_1', method: 'pm_1' });
});
