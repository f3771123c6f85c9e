/** @module A sync of a payment. A 200 response shows the payment's state at the provider. */
import { describe, expect, test } from 'vitest';
import type { Outcome } from '../../shared/core/outcome.ts';
import { MINUTE_MS, SECOND_MS } from '../../shared/core/time.ts';
import type { VisiblePayment } from '../../shared/payments/payment.ts';
import { syncPayment } from '../../shared/payments/sync-payment.ts';
import type { MoneyDeps } from '../../shared/providers/provider-deps.ts';
import type { ProviderRefund, RefundsPort } from '../../shared/providers/refund-port.ts';
import { apiRequest } from '../builders/api-request.ts';
import { NOON, payment } from '../builders/payment.ts';
import { paymentWork, reported, type Script, UNKNOWN } from '../builders/payment-work.ts';

const AWAY = { kind: 'not_done', reason: 'unreachable' } as const;
const NO_RIGHT = { kind: 'refused', reason: 'forbidden' } as const;
const none = { kind: 'done', value: [] } as const;

/** The port of refunds and disputes with these responses, and the list of reads. */
const moneyBack = (refunds: Outcome<readonly ProviderRefund[]> = none, disputes: Outcome<readonly never[]> = none) => {
  const reads: string[] = [];
  const noted = <T>(name: string, outcome: T) => {
    reads.push(name);
    return Promise.resolve(outcome);
  };
  const port = {
    listRefunds: () => noted('refunds', refunds),
    listDisputes: () => noted('disputes', disputes),
  } as unknown as RefundsPort;
  return { port, reads };
};

const sync = async (record: VisiblePayment, script: Script) => {
  const work = await paymentWork(record, { refunds: moneyBack().port, ...script });
  work.clock.at = NOON + MINUTE_MS;
  const request = apiRequest({ params: { provider_payment_id: 'pi_1' }, record });
  const reply = () =>
    syncPayment(work.deps as unknown as MoneyDeps, request as Parameters<typeof syncPayment>[1]).then(
      ({ data }) => data as VisiblePayment,
    );
  return { ...work, reply };
};

describe('a sync', () => {
  test('stores and shows the status that the provider reports', async () => {
    const { reply, load } = await sync(payment(), { findPayment: async () => reported('succeeded') });
    expect(await reply()).toMatchObject({ id: payment().id, status: 'succeeded' });
    expect(await load()).toMatchObject({ status: 'succeeded', version: 2, cause: 'sync' });
  });

  test('shows the payment as it is if the provider reports nothing new, or another amount', async () => {
    for (const report of [reported('created'), reported('succeeded', { amountCents: 1 })]) {
      const { reply, load } = await sync(payment(), { findPayment: async () => report });
      expect(await reply()).toMatchObject({ status: 'created' });
      expect(await load()).toMatchObject({ status: 'created', version: 1 });
    }
  });

  test('stores facts that the provider reports with the same status', async () => {
    const details = { type: 'card', cardBrand: 'visa', lastFour: '4242' } as const;
    const paid = payment({ status: 'succeeded', version: 3 });
    const { reply, load } = await sync(paid, {
      findPayment: async () => reported('succeeded', { facts: { details } }),
    });
    expect(await reply()).toMatchObject({ payment_method_details: { card_brand: 'visa', last_four: '4242' } });
    expect(await load()).toMatchObject({ status: 'succeeded', version: 4, cause: 'facts' });
  });

  test('reads the provider by the ids of the record', async () => {
    const asked: unknown[] = [];
    const findPayment: Script['findPayment'] = async (known) => {
      asked.push(known);
      return reported('created');
    };
    const { reply } = await sync(payment({ attemptRef: 'ch_1', providerIntentId: 'pi_7' }), { findPayment });
    await reply();
    expect(asked).toMatchObject([{ intentId: 'pi_7', attemptRef: 'ch_1', status: 'created' }]);
  });

  test('reads the provider again if another function has changed the payment meanwhile', async () => {
    const statuses = ['processing', 'succeeded'] as const;
    const record = payment({ status: 'pending', attempt: 1 });
    const work = await sync(record, {
      findPayment: async () => {
        const status = statuses[work.calls.length - 1] ?? 'failed';
        if (status === 'processing') await work.overtake({ referenceCode: 'R-1' });
        return reported(status);
      },
    });
    expect(await work.reply()).toMatchObject({ status: 'succeeded', reference_code: 'R-1' });
    expect(work.calls).toEqual(['findPayment', 'findPayment']);
  });

  test.each([
    ['PROVIDER_TIMEOUT', UNKNOWN],
    ['PROVIDER_UNAVAILABLE', AWAY],
    ['PROVIDER_ERROR', NO_RIGHT],
  ] as const)('fails with %s and the payment’s id if the provider cannot be read', async (code, outcome) => {
    const { reply, load } = await sync(payment(), { findPayment: async () => outcome });
    await expect(reply()).rejects.toMatchObject({ code, details: { payment_id: payment().id } });
    expect(await load()).toMatchObject({ version: 1 });
  });
});

describe('a sync of a payment that was paid', () => {
  const paid = payment({ status: 'succeeded', attempt: 1 });
  const found = { findPayment: async () => reported('succeeded') };
  const refund: ProviderRefund = {
    ...{ refundId: 're_1', status: 'succeeded', amountCents: 900, currency: 'USD', createdAt: NOON / SECOND_MS },
    ...{ reason: undefined, failureCode: undefined, ourRefundId: undefined },
  };

  test('shows the refunds that were made at the provider', async () => {
    const { port, reads } = moneyBack({ kind: 'done', value: [refund] });
    const { reply, load } = await sync(paid, { ...found, refunds: port });
    expect(await reply()).toMatchObject({ refunded_cents: 900, refundable_cents: 1_600 });
    expect(await load()).toMatchObject({ refundedCents: 900, version: 2 });
    expect(reads).toEqual(['refunds', 'disputes']);
  });

  test.each([
    ['PROVIDER_TIMEOUT', 'refunds', UNKNOWN, none],
    ['PROVIDER_UNAVAILABLE', 'refunds', AWAY, none],
    ['PROVIDER_TIMEOUT', 'disputes', none, UNKNOWN],
    ['PROVIDER_UNAVAILABLE', 'disputes', none, AWAY],
  ] as const)('fails with %s if its %s could not be read', async (...[code, , refunds, disputes]) => {
    const { reply } = await sync(paid, { ...found, refunds: moneyBack(refunds, disputes).port });
    await expect(reply()).rejects.toMatchObject({ code, details: { payment_id: paid.id } });
  });

  test('succeeds if the account has no right to read refunds and disputes', async () => {
    const { reply, lines } = await sync(paid, { ...found, refunds: moneyBack(NO_RIGHT, NO_RIGHT).port });
    expect(await reply()).toMatchObject({ status: 'succeeded', refunded_cents: 0 });
    expect(lines.map(({ message }) => message)).toEqual(['money back not read', 'money back not read']);
  });

  test('reads no refunds of an unpaid payment, or of a provider without refunds', async () => {
    const { port, reads } = moneyBack(UNKNOWN);
    const unpaid = await sync(payment(), { findPayment: async () => reported('created'), refunds: port });
    expect(await unpaid.reply()).toMatchObject({ status: 'created' });
    expect(reads).toEqual([]);
    const without = await sync(paid, { ...found, refunds: undefined });
    expect(await without.reply()).toMatchObject({ status: 'succeeded' });
  });

  test('shows the payment as it was read if the payment is removed meanwhile', async () => {
    const { port } = moneyBack();
    const work = await sync(paid, {
      ...found,
      refunds: {
        ...port,
        listDisputes: async () => {
          await work.table.remove({ pk: `PAY#${paid.id}`, sk: 'PAY' });
          return none;
        },
      },
    });
    expect(await work.reply()).toMatchObject({ id: paid.id, status: 'succeeded' });
  });
});
