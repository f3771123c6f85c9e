import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HOUR_MS, iso } from '../../shared/core/time.ts';
import type { ListedPayment } from '../../shared/providers/listing-port.ts';
import { openRig, type ProviderRig } from './provider-rig.ts';
import { PAYPAL, SQUARE, STRIPE } from './provider-subjects.ts';

const SUBJECTS = [
  [STRIPE, 'pm_card_visa', 'pm_card_visa_chargeDeclined'],
  [PAYPAL, 'SIM-OK', 'SIM-DECLINED'],
  [SQUARE, 'cnon:card-nonce-ok', 'cnon:card-nonce-declined'],
] as const;

const ours = (n: number): string => `pay_${String(n).padStart(24, '0')}`;

describe.each(SUBJECTS)('the list of payments at $name', (subject, pays, declines) => {
  let rig: ProviderRig;
  beforeEach(async () => {
    rig = await openRig(subject);
  });
  afterEach(() => rig.close());

  const charge = async (n: number, method: string, more: { captureMethod?: 'manual' } = {}) => {
    const paymentId = ours(n);
    const base = { paymentId, amountCents: 1_000 + n, currency: 'USD', customerId: undefined, returnUrl: undefined };
    const made = await rig.provider.createIntent({
      ...{ ...base, ...more, method: undefined, description: `Payment ${n}`, saveMethod: false },
      idempotencyKey: `${paymentId}:create`,
    });
    if (made.kind !== 'done') throw new Error(made.kind);
    const { intentId } = made.value;
    return rig.provider.confirmIntent({ ...base, ...more, intentId, method, idempotencyKey: `${paymentId}:confirm` });
  };
  const list = async (since: number): Promise<readonly ListedPayment[]> => {
    const found = await rig.provider.listing?.listPayments(iso(since));
    if (found?.kind !== 'done') throw new Error(`${subject.name}: ${found?.kind}`);
    return found.value;
  };
  const factsOf = ({ report, captureMethod }: ListedPayment) => {
    const { ourPaymentId, status, amountCents, currency } = report;
    return [ourPaymentId, status, amountCents, currency, captureMethod];
  };

  test('lists payments since a time, oldest first, with our id and the amount', async () => {
    await charge(1, pays);
    await rig.clock.moveTo(rig.clock.now() + HOUR_MS);
    const since = rig.clock.now();
    for (const n of [2, 3]) {
      await charge(n, pays);
      await rig.clock.moveTo(rig.clock.now() + HOUR_MS);
    }
    const listed = await list(since);
    expect(listed.map(factsOf)).toEqual([
      [ours(2), 'succeeded', 1_002, 'USD', undefined],
      [ours(3), 'succeeded', 1_003, 'USD', undefined],
    ]);
    expect(Date.parse(listed[0]?.createdAt ?? '')).toBe(since);
    expect(Date.parse(listed[0]?.attemptedAt ?? '')).toBe(since);
  });

  test('reads every page', async () => {
    const since = rig.clock.now();
    const count = 103;
    for (let n = 0; n < count; n += 1) await charge(n, pays);
    expect(new Set((await list(since)).map(({ report }) => report.ourPaymentId)).size).toBe(count);
  });

  test('includes a held amount', async () => {
    const since = rig.clock.now();
    await charge(1, pays, { captureMethod: 'manual' });
    expect((await list(since)).map(factsOf)).toEqual([[ours(1), 'requires_capture', 1_001, 'USD', 'manual']]);
  });

  test('lists a declined charge once, with its last attempt', async () => {
    const since = rig.clock.now();
    await charge(1, declines);
    const listed = await list(since);
    // Unlike Stripe and Square, PayPal keeps no refused charge of a wallet.
    expect(listed.map(factsOf)).toEqual(subject === PAYPAL ? [] : [[ours(1), 'failed', 1_001, 'USD', undefined]]);
  });

  test('has an unknown outcome if the provider does not respond', async () => {
    await rig.control('POST', '/faults', { provider: subject.slot, method: 'GET', times: 5, action: 'error_500' });
    expect(await rig.provider.listing?.listPayments(iso(rig.clock.now()))).toMatchObject({ kind: 'unknown' });
  });
});
