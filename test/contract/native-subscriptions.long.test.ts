/** @module The contract of native subscriptions, with each operation and each of its outcomes. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Outcome } from '../../shared/core/outcome.ts';
import { DAY_MS, MINUTE_MS } from '../../shared/core/time.ts';
import type { PaymentProvider } from '../../shared/providers/provider.ts';
import type { ProviderSubscription, SubscriptionsPort } from '../../shared/providers/subscription-port.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { openRig, type ProviderRig } from './provider-rig.ts';
import { STRIPE } from './provider-subjects.ts';

const AMOUNT = 2_500;

let rig: ProviderRig;
let names = 0;
beforeEach(async () => {
  rig = await openRig(STRIPE);
});
afterEach(() => rig.close());

const native = (provider: PaymentProvider = rig.provider): SubscriptionsPort => {
  if (!provider.subscriptions) throw new Error('it bills no subscriptions');
  return provider.subscriptions;
};

const doneValue = <T>(outcome: Outcome<T>): T => {
  if (outcome.kind === 'done') return outcome.value;
  throw new Error(`not done: ${JSON.stringify(outcome)}`);
};

const now = (): number => Math.floor(rig.clock.now() / 1_000);

const findOurs = ({ customerId, ourSubscriptionId }: Wanted) =>
  native().findOurs({ customerId, ourSubscriptionId, createdSince: now() - 1 });

const name = (): string => {
  names += 1;
  return String(names).padStart(24, '0');
};

interface Payer {
  readonly customerId: string;
  readonly methodId: string;
}

/** Attaches a method and completes its set-up: the payer authenticates if the provider requires it. @returns its id */
const attach = async (customerId: string, token: string): Promise<string> => {
  const input = { token, customerId, paymentMethodId: `pmt_${name()}`, idempotencyKey: `${name()}:attach` };
  const { methodId, setup } = doneValue(await rig.provider.attachMethod(input));
  if (setup)
    await rig.control('POST', `/payment-methods/${input.paymentMethodId}/authenticate`, { outcome: 'success' });
  return methodId;
};

const payer = async (token: string): Promise<Payer> => {
  const ourCustomerId = `cust_${name()}`;
  const { customerId } = doneValue(
    await rig.provider.createCustomer({
      email: 'ana@example.com',
      name: 'Ana Silva',
      phone: undefined,
      ourCustomerId,
      idempotencyKey: `${ourCustomerId}:create`,
    }),
  );
  return { customerId, methodId: await attach(customerId, token) };
};

type Wanted = Parameters<SubscriptionsPort['create']>[0];

const wanted = (of: Payer, more: Partial<Wanted> = {}): Wanted => {
  const ourSubscriptionId = `sub_${name()}`;
  return {
    ourSubscriptionId,
    ...of,
    amountCents: AMOUNT,
    currency: 'USD',
    unit: 'month',
    count: 1,
    trialEnd: undefined,
    description: 'Gold membership',
    isAttended: true,
    productId: undefined,
    productName: undefined,
    idempotencyKey: `${ourSubscriptionId}:create`,
    ...more,
  };
};

const created = async (token = 'pm_card_visa', more: Partial<Wanted> = {}) => {
  const of = await payer(token);
  const input = wanted(of, more);
  return { ...of, input, subscription: doneValue(await native().create(input)) };
};

interface Ledger {
  readonly charges: readonly { readonly id: string; readonly status: string; readonly payment_id: string | null }[];
  readonly subscriptions: readonly { readonly id: string; readonly status: string }[];
  readonly invoices: readonly { readonly id: string; readonly status: string; readonly attempts: number }[];
}
const ledger = () => rig.control<Ledger>('GET', '/ledger');
const paid = async (): Promise<number> =>
  (await ledger()).charges.filter(({ status }) => status === 'succeeded').length;
const find = async (id: string): Promise<ProviderSubscription> => doneValue(await native().find(id));

const FAULTS = [
  ['timeout_before', 'timeout'],
  ['timeout_after', 'timeout'],
  ['reset', 'unreachable'],
  ['error_500', 'error'],
  ['malformed', 'error'],
] as const;

/** Makes one call under a fault. The adapter has a short deadline if the fault suppresses the response. */
const struck = async <T>(
  { action, ...fault }: { readonly action: string; readonly path: string; readonly method?: 'POST' },
  call: (by: SubscriptionsPort) => Promise<T>,
): Promise<T> => {
  await rig.control('POST', '/faults', { action, ...fault, times: 1 });
  return call(native(action.startsWith('timeout') ? rig.impatient : rig.provider));
};

describe('an adapter', () => {
  test('can leave billing to the service by a setting, and still manages provider-billed subscriptions', () => {
    const other = rig.reopen({ ...STRIPE.settings, SUBSCRIPTIONS: 'service' });
    expect([other?.can.subscriptions, typeof other?.subscriptions]).toEqual(['service', 'object']);
    const same = rig.reopen({ ...STRIPE.settings, SUBSCRIPTIONS: 'native' });
    expect([same?.can.subscriptions, typeof same?.subscriptions]).toEqual(['native', 'object']);
  });

  test.each([
    ['day', 1_095],
    ['week', 156],
    ['month', 36],
    ['year', 3],
  ] as const)('bills intervals in the unit %s up to the provider’s limit of %i', async (unit, most) => {
    expect(native().bills({ unit, count: most })).toBe(true);
    expect(native().bills({ unit, count: most + 1 })).toBe(false);
    const of = await payer('pm_card_visa');
    expect(await native().create(wanted(of, { unit, count: most }))).toMatchObject({ kind: 'done' });
    expect(await native().create(wanted(of, { unit, count: most + 1 }))).toMatchObject({ kind: 'refused' });
  });
});

describe('the product at Stripe', () => {
  const products = async (): Promise<string[]> => {
    const found = new Set(
      rig.exchanges
        .filter(({ path, status }) => path.endsWith('/v1/products') && status === 200)
        .map(({ answered }) => String(JSON.parse(answered).id)),
    );
    return [...found];
  };

  test('is created once for 20 subscriptions to our product, concurrent or not', async () => {
    const of = await payer('pm_card_visa');
    const gold = { productId: 'prod_gold', productName: 'Gold' };
    for (let n = 0; n < 10; n += 1) doneValue(await native().create(wanted(of, gold)));
    const prices = [1_000, 1_500].flatMap((amountCents) => Array.from({ length: 5 }, () => ({ amountCents, ...gold })));
    const made = await Promise.all(prices.map((more) => native().create(wanted(of, more))));
    for (const outcome of made) doneValue(outcome);
    expect(await products()).toEqual(['payments_prod_gold']);
    const creations = rig.exchanges.filter(({ path, status }) => path.endsWith('/v1/products') && status === 200);
    expect(creations).toHaveLength(1);
    expect(JSON.parse(creations[0]?.answered ?? '')).toMatchObject({
      name: 'Gold',
      metadata: { product_id: 'prod_gold' },
    });
    const { subscriptions } = await rig.control<{ subscriptions: unknown[] }>('GET', '/ledger');
    expect(subscriptions).toHaveLength(20);
  });

  test('is created per price if the subscription has no product of ours', async () => {
    const of = await payer('pm_card_visa');
    const plans: Partial<Wanted>[] = [
      {},
      {},
      { amountCents: 900 },
      { currency: 'EUR' },
      { unit: 'year' },
      { count: 2 },
    ];
    for (const plan of plans) doneValue(await native().create(wanted(of, plan)));
    expect((await products()).toSorted()).toEqual([
      'payments_price_eur_2500_1_month',
      'payments_price_usd_2500_1_month',
      'payments_price_usd_2500_1_year',
      'payments_price_usd_2500_2_month',
      'payments_price_usd_900_1_month',
    ]);
  });

  test('accepts any characters in our product id', async () => {
    const of = await payer('pm_card_visa');
    for (const productId of ['gold/monthly', 'gold monthly', 'é']) {
      doneValue(await native().create(wanted(of, { productId })));
    }
    expect(await products()).toHaveLength(3);
  });

  test('leaves the subscription unknown if the response to its creation is lost, and a retry continues', async () => {
    const input = wanted(await payer('pm_card_visa'), { productId: 'prod_gold', productName: 'Gold' });
    await rig.control('POST', '/faults', { path: '/v1/products', times: 1, action: 'timeout_after' });
    expect((await native(rig.impatient).create(input)).kind).toBe('unknown');
    expect(doneValue(await native().create(input)).status).toBe('active');
    expect(await products()).toEqual(['payments_prod_gold']);
  });
});

describe('a subscription', () => {
  test('is charged at its creation, and reads match the creation response', async () => {
    const { input, methodId, subscription } = await created();
    expect(subscription).toEqual({
      subscriptionId: expect.stringMatching(/^sub_/),
      ourSubscriptionId: input.ourSubscriptionId,
      status: 'active',
      currentPeriodStart: now(),
      currentPeriodEnd: now() + 31 * DAY_SECONDS,
      trialEnd: undefined,
      isBridge: false,
      cancelAtPeriodEnd: false,
      cancelAt: null,
      isUnpaid: false,
      price: { amountCents: AMOUNT, currency: 'USD' },
      isIncomplete: false,
      methodId,
      latestInvoice: {
        invoiceId: expect.stringMatching(/^in_/),
        intentId: expect.stringMatching(/^pi_/),
        subscriptionId: subscription.subscriptionId,
        status: 'succeeded',
        amountCents: AMOUNT,
        totalCents: AMOUNT,
        currency: 'USD',
        periodStart: now(),
        periodEnd: now() + 31 * DAY_SECONDS,
        attempts: 1,
        failureCode: undefined,
        nextAttempt: null,
        prices: { subtotalCents: AMOUNT, taxCents: 0, discountCents: 0 },
        reason: 'create',
        createdAt: now(),
        paidAt: now(),
      },
      owed: [],
    });
    expect(await find(subscription.subscriptionId)).toEqual(subscription);
    expect(doneValue(await native().findInvoice(subscription.latestInvoice?.invoiceId ?? ''))).toEqual({
      ...subscription.latestInvoice,
      methodId,
    });
    expect(await paid()).toBe(1);
  });

  test('is created once under its key, even if the call is repeated', async () => {
    const { input, subscription } = await created();
    expect(doneValue(await native().create(input))).toEqual(subscription);
    expect((await ledger()).subscriptions).toHaveLength(1);
    expect(await paid()).toBe(1);
  });

  test.each(FAULTS)(
    'has an unknown outcome if its creation meets %s, and the retry creates it once',
    async (action, reason) => {
      const input = wanted(await payer('pm_card_visa'));
      for (const path of ['/v1/products', '/v1/subscriptions']) {
        expect(await struck({ action, path }, (by) => by.create(input))).toEqual({ kind: 'unknown', reason });
      }
      const { subscriptionId } = doneValue(await native().create(input));
      expect((await ledger()).subscriptions).toMatchObject([{ id: subscriptionId, status: 'active' }]);
      expect(await paid()).toBe(1);
    },
  );

  test.each([
    ['pm_card_chargeCustomerFail', 'do_not_honor'],
    ['pm_sim_ok_0_then_nsf', 'insufficient_funds'],
    ['pm_sim_ok_0_then_lost', 'lost_card'],
  ] as const)('is declined and canceled if its card is %s', async (token, code) => {
    const input = wanted(await payer(token));
    const declined = await native().create(input);
    expect(declined).toMatchObject({ kind: 'declined', code });
    expect(await native().create(input)).toEqual(declined);
    const { subscriptions } = await ledger();
    expect(subscriptions).toMatchObject([{ status: 'incomplete_expired' }]);
    expect(await findOurs(input)).toEqual({ kind: 'done', value: [] });
    expect(await paid()).toBe(0);
  });

  test('has an unknown outcome until the declined subscription is canceled by the next call', async () => {
    const input = wanted(await payer('pm_card_chargeCustomerFail'));
    const unclear = await struck({ action: 'error_500', path: '/v1/subscriptions/sub_' }, (by) => by.create(input));
    expect(unclear).toMatchObject({ kind: 'unknown' });
    expect(await native().create(input)).toMatchObject({ kind: 'declined', code: 'do_not_honor' });
    expect((await ledger()).subscriptions).toMatchObject([{ status: 'incomplete_expired' }]);
  });

  test('waits for the payer, with the client secret, if the card requires authentication', async () => {
    const { subscription } = await created('pm_card_authenticationRequired');
    expect(subscription).toMatchObject({
      isIncomplete: true,
      latestInvoice: {
        status: 'pending',
        clientSecret: expect.stringMatching(/^pi_.*_secret_/),
        nextAction: { type: 'use_provider_sdk' },
      },
    });
    expect(await paid()).toBe(0);
  });

  test('is declined if the card requires authentication without a payer, and no subscription remains', async () => {
    const input = wanted(await payer('pm_card_authenticationRequired'), { isAttended: false });
    const declined = await native().create(input);
    expect(declined).toMatchObject({ kind: 'declined', code: 'authentication_required' });
    const { subscriptions, invoices } = await ledger();
    expect([subscriptions, invoices, await paid()]).toEqual([[], [], 0]);
  });

  test('is refused for an unknown customer or method, and for another customer’s method', async () => {
    const of = await payer('pm_card_visa');
    const other = await payer('pm_card_visa');
    for (const input of [
      wanted({ ...of, customerId: 'cus_absent' }),
      wanted({ ...of, methodId: 'pm_absent' }),
      wanted({ ...of, methodId: other.methodId }),
    ]) {
      expect(await native().create(input)).toMatchObject({ kind: 'refused' });
    }
  });

  test('is active and charges nothing if its amount is zero', async () => {
    const { subscription } = await created('pm_card_visa', { amountCents: 0 });
    expect(subscription).toMatchObject({ status: 'active', latestInvoice: undefined });
    await rig.clock.advance(40 * DAY_MS);
    expect(await find(subscription.subscriptionId)).toMatchObject({
      status: 'active',
      latestInvoice: { amountCents: 0, intentId: undefined, status: 'succeeded' },
    });
    expect((await ledger()).charges).toEqual([]);
  });

  test('is charged when its trial ends', async () => {
    const trialEnd = now() + 10 * DAY_SECONDS;
    const { subscription } = await created('pm_card_visa', { trialEnd });
    const period = { currentPeriodStart: now(), currentPeriodEnd: trialEnd };
    expect(subscription).toMatchObject({ status: 'trialing', trialEnd, latestInvoice: undefined, ...period });
    await rig.clock.advance(10 * DAY_MS - 1);
    expect(await paid()).toBe(0);
    await rig.clock.advance(1);
    expect(await find(subscription.subscriptionId)).toMatchObject({
      status: 'active',
      currentPeriodStart: trialEnd,
      latestInvoice: { status: 'succeeded', periodStart: trialEnd },
    });
    expect(await paid()).toBe(1);
  });

  test('is paused if its trial ends without a method, and continues with another method', async () => {
    const { subscription, customerId, methodId } = await created('pm_card_visa', {
      trialEnd: now() + 10 * DAY_SECONDS,
    });
    const { subscriptionId } = subscription;
    await rig.provider.detachMethod(methodId);
    await rig.clock.advance(11 * DAY_MS);
    expect(await find(subscriptionId)).toMatchObject({ status: 'paused' });
    const next = await attach(customerId, 'pm_card_visa');
    await native().changeMethod({ subscriptionId, methodId: next, isAttended: true, idempotencyKey: 'change' });
    const resumed = doneValue(await native().resume({ subscriptionId, idempotencyKey: 'resume', inNewPeriod: true }));
    expect(resumed).toMatchObject({
      status: 'active',
      currentPeriodStart: now(),
      latestInvoice: { status: 'succeeded' },
    });
    expect(await paid()).toBe(1);
  });

  test('is incomplete until its first charge has settled', async () => {
    const { subscription } = await created('pm_sim_processing_ok');
    expect(subscription).toMatchObject({ isIncomplete: true, latestInvoice: { status: 'processing', attempts: 1 } });
    await rig.clock.advance(MINUTE_MS);
    expect(await find(subscription.subscriptionId)).toMatchObject({
      status: 'active',
      isIncomplete: false,
      latestInvoice: { status: 'succeeded' },
    });
  });

  test('is found by our id after a lost creation response, until the subscription ends', async () => {
    const input = wanted(await payer('pm_card_visa'));
    await struck({ action: 'timeout_after', path: '/v1/subscriptions' }, (by) => by.create(input));
    await native().create(wanted({ customerId: input.customerId, methodId: input.methodId }));
    const [found, ...others] = doneValue(await findOurs(input));
    expect([found?.ourSubscriptionId, found?.status, others]).toEqual([input.ourSubscriptionId, 'active', []]);
    expect(await findOurs({ ...input, customerId: 'cus_absent' })).toEqual({ kind: 'done', value: [] });
    await native().cancel({ subscriptionId: found?.subscriptionId ?? '', idempotencyKey: 'k' });
    expect(doneValue(await findOurs(input))).toEqual([]);
  });

  test('is found by our id after a lost creation response and a deletion of its customer', async () => {
    const input = wanted(await payer('pm_card_visa'));
    await struck({ action: 'timeout_after', path: '/v1/subscriptions' }, (by) => by.create(input));
    await native().create(wanted(await payer('pm_card_visa')));
    doneValue(await rig.provider.deleteCustomer(input.customerId));
    const [found, ...others] = doneValue(await findOurs(input));
    expect([found?.ourSubscriptionId, found?.status, others]).toEqual([input.ourSubscriptionId, 'canceled', []]);
    await rig.clock.advance(MINUTE_MS);
    expect(doneValue(await findOurs(input))).toEqual([]);
  });

  test('is not reported as deleted with its customer if the key is revoked', async () => {
    const input = wanted(await payer('pm_card_visa'));
    await native().create(input);
    const revoked = rig.reopen({ ...STRIPE.settings, API_KEY: 'sk_test_revoked' })?.subscriptions;
    const found = await revoked?.findOurs({ ...input, createdSince: now() });
    expect(found).toBeDefined();
    expect(found?.kind).not.toBe('done');
  });

  test('is refused if absent, in every operation except cancellation', async () => {
    const absent = { subscriptionId: 'sub_absent', idempotencyKey: 'k' };
    const by = native();
    for (const call of [
      by.find('sub_absent'),
      by.findInvoice('in_absent'),
      by.changeMethod({ ...absent, methodId: 'pm_card_visa', isAttended: true }),
      by.scheduleCancel({ ...absent, cancel: true }),
      by.pause(absent),
      by.resume({ ...absent, inNewPeriod: false }),
      by.resume({ ...absent, inNewPeriod: true }),
      by.labelPayment({ intentId: 'pi_absent', paymentId: 'pay_1', idempotencyKey: 'k' }),
    ]) {
      expect(await call).toMatchObject({ kind: 'refused', reason: 'resource_missing' });
    }
    expect(await by.cancel(absent)).toEqual({ kind: 'done', value: { owed: [], subscriptionId: 'sub_absent' } });
  });

  test.each(FAULTS)('has an unknown status if its read meets %s', async (action, reason) => {
    const { subscription } = await created();
    const { subscriptionId } = subscription;
    const read = await struck({ action, path: '/v1/subscriptions' }, (by) => by.find(subscriptionId));
    expect(read).toEqual({ kind: 'unknown', reason });
  });
});

describe('the end of a subscription', () => {
  test('is scheduled, and the schedule can be revoked', async () => {
    const { subscription } = await created();
    const { subscriptionId } = subscription;
    for (const cancel of [true, true, false]) {
      const changed = await native().scheduleCancel({ subscriptionId, cancel, idempotencyKey: name() });
      const cancelAt = cancel ? subscription.currentPeriodEnd : null;
      expect(doneValue(changed)).toEqual({ ...subscription, cancelAtPeriodEnd: cancel, cancelAt });
    }
    await rig.clock.advance(31 * DAY_MS);
    expect(await paid()).toBe(2);
  });

  test('takes effect at the period end if scheduled, and no charge follows', async () => {
    const { subscription } = await created();
    const { subscriptionId } = subscription;
    await native().scheduleCancel({ subscriptionId, cancel: true, idempotencyKey: 'k' });
    await rig.clock.advance(31 * DAY_MS - 1);
    expect(await find(subscriptionId)).toMatchObject({ status: 'active' });
    await rig.clock.advance(100 * DAY_MS);
    expect(await find(subscriptionId)).toMatchObject({ status: 'canceled' });
    expect(await paid()).toBe(1);
  });

  test.each(FAULTS)(
    'has an unknown outcome if the immediate end meets %s, and the retry ends the subscription',
    async (action, reason) => {
      const { subscription } = await created();
      const end = { subscriptionId: subscription.subscriptionId, idempotencyKey: 'k' };
      expect(await struck({ action, path: '/v1/subscriptions' }, (by) => by.cancel(end))).toEqual({
        kind: 'unknown',
        reason,
      });
      for (const _ of [1, 2]) {
        expect(await native().cancel(end)).toEqual({
          kind: 'done',
          value: { subscriptionId: end.subscriptionId, owed: [] },
        });
      }
      await rig.clock.advance(100 * DAY_MS);
      expect(await find(end.subscriptionId)).toMatchObject({ status: 'canceled' });
      expect(await paid()).toBe(1);
      expect(await native().scheduleCancel({ ...end, cancel: true, idempotencyKey: 'k2' })).toMatchObject({
        kind: 'refused',
      });
    },
  );

  test('collects no unpaid invoice', async () => {
    const { subscription, customerId } = await created('pm_sim_ok_1_then_nsf');
    const { subscriptionId } = subscription;
    await rig.clock.advance(31 * DAY_MS);
    await native().cancel({ subscriptionId, idempotencyKey: 'k' });
    await attach(customerId, 'pm_card_visa');
    const { charges } = await ledger();
    await rig.clock.advance(30 * DAY_MS);
    expect((await ledger()).charges).toEqual(charges);
  });
});

describe('a renewal', () => {
  test('is charged once per period, under a labeled intent with our id', async () => {
    const { subscription } = await created();
    const { subscriptionId } = subscription;
    await rig.clock.advance(31 * DAY_MS);
    const { latestInvoice, ...renewed } = await find(subscriptionId);
    expect(renewed).toMatchObject({ status: 'active', currentPeriodStart: subscription.currentPeriodEnd });
    expect(latestInvoice).toMatchObject({ status: 'succeeded', periodStart: subscription.currentPeriodEnd });
    expect((await ledger()).charges.map(({ payment_id: ours }) => ours)).toEqual([null, null]);
    const label = { intentId: latestInvoice?.intentId ?? '', paymentId: 'pay_1', idempotencyKey: 'pay_1:label' };
    for (const _ of [1, 2]) expect(doneValue(await native().labelPayment(label))).toEqual({ intentId: label.intentId });
    expect((await ledger()).charges.map(({ payment_id: ours }) => ours)).toEqual([null, 'pay_1']);
    const { charges } = await rig.control<Ledger>('GET', '/ledger?payment_id=pay_1');
    expect(charges).toMatchObject([{ payment_id: 'pay_1', status: 'succeeded' }]);
    const known = { intentId: label.intentId, attemptRef: undefined, method: undefined, status: 'processing' } as const;
    expect(doneValue(await rig.provider.findPayment(known))).toMatchObject({
      status: 'succeeded',
      ourPaymentId: 'pay_1',
    });
  });

  test('leaves the subscription past due, with the decline code, if it is declined', async () => {
    const { subscription } = await created('pm_sim_ok_1_then_nsf');
    await rig.clock.advance(31 * DAY_MS);
    const found = await find(subscription.subscriptionId);
    expect(found).toMatchObject({
      status: 'past_due',
      currentPeriodStart: subscription.currentPeriodEnd,
      latestInvoice: { status: 'failed', attempts: 1, failureCode: 'insufficient_funds', amountCents: AMOUNT },
    });
    await rig.clock.advance(DAY_MS);
    expect((await find(subscription.subscriptionId)).latestInvoice).toMatchObject({
      invoiceId: found.latestInvoice?.invoiceId,
      intentId: found.latestInvoice?.intentId,
      attempts: 2,
    });
  });
});

const pastDue = async (token = 'pm_sim_ok_1_then_nsf') => {
  const made = await created(token);
  await rig.clock.advance(31 * DAY_MS);
  return { ...made, subscriptionId: made.subscription.subscriptionId };
};

describe('a replacement method', () => {
  test('is used from the next charge on', async () => {
    const { subscription, customerId } = await created('pm_sim_ok_1_then_nsf');
    const { subscriptionId } = subscription;
    const methodId = await attach(customerId, 'pm_card_visa');
    const changed = await native().changeMethod({ subscriptionId, methodId, isAttended: true, idempotencyKey: 'k' });
    expect(doneValue(changed)).toEqual({ ...subscription, methodId });
    expect(await paid()).toBe(1);
    await rig.clock.advance(31 * DAY_MS);
    expect(await find(subscriptionId)).toMatchObject({ status: 'active', latestInvoice: { status: 'succeeded' } });
  });

  test('pays the open invoice immediately, and only once', async () => {
    const { subscriptionId, customerId } = await pastDue();
    const change = {
      isAttended: true,
      subscriptionId,
      methodId: await attach(customerId, 'pm_card_visa'),
      idempotencyKey: 'k',
    };
    for (const _ of [1, 2]) {
      expect(doneValue(await native().changeMethod(change))).toMatchObject({
        status: 'active',
        methodId: change.methodId,
        latestInvoice: { status: 'succeeded' },
      });
    }
    expect(await paid()).toBe(2);
    await rig.clock.advance(20 * DAY_MS);
    expect(await paid()).toBe(2);
  });

  test('is not needed by a resume, which starts a new period and charges it once', async () => {
    const { subscription } = await created();
    const { subscriptionId } = subscription;
    await native().pause({ subscriptionId, idempotencyKey: 'p' });
    await rig.clock.advance(70 * DAY_MS);
    const command = { subscriptionId, idempotencyKey: 'r', inNewPeriod: true };
    const resumed = doneValue(await native().resume(command));
    expect(resumed).toMatchObject({
      status: 'active',
      currentPeriodStart: now(),
      latestInvoice: { status: 'succeeded', periodStart: now() },
    });
    expect(doneValue(await native().resume(command))).toEqual(resumed);
    expect(doneValue(await native().resume({ ...command, idempotencyKey: 'another' }))).toEqual(resumed);
    expect(await paid()).toBe(2);
  });

  test('leaves the subscription paused if it declines the charge of the new period', async () => {
    const { subscription, customerId } = await created();
    const { subscriptionId } = subscription;
    const methodId = await attach(customerId, 'pm_card_chargeCustomerFail');
    await native().changeMethod({ subscriptionId, methodId, isAttended: true, idempotencyKey: 'm' });
    await native().pause({ subscriptionId, idempotencyKey: 'p' });
    await rig.clock.advance(70 * DAY_MS);
    const resumed = await native().resume({ subscriptionId, idempotencyKey: 'r', inNewPeriod: true });
    expect(resumed).toMatchObject({ kind: 'declined' });
    expect(await find(subscriptionId)).toMatchObject({ status: 'paused' });
    expect(await paid()).toBe(1);
  });

  test.each(FAULTS)(
    'is not needed if a resume meets %s, because the retry charges the new period once',
    async (action, reason) => {
      const { subscription } = await created();
      const { subscriptionId } = subscription;
      await native().pause({ subscriptionId, idempotencyKey: 'p' });
      await rig.clock.advance(70 * DAY_MS);
      const command = { subscriptionId, idempotencyKey: 'r', inNewPeriod: true };
      const lost = await struck({ action, path: subscriptionId, method: 'POST' }, (by) => by.resume(command));
      expect(lost).toEqual({ kind: 'unknown', reason });
      expect(doneValue(await native().resume(command))).toMatchObject({ status: 'active', currentPeriodStart: now() });
      expect(await paid()).toBe(2);
    },
  );

  test('does not pay an invoice with a canceled payment, so the subscription ends unpaid', async () => {
    const { subscriptionId, customerId, subscription } = await pastDue();
    const methodId = await attach(customerId, 'pm_card_visa');
    const { intentId } = (await find(subscriptionId)).latestInvoice ?? subscription.latestInvoice ?? {};
    const known = { intentId: intentId ?? '', attemptRef: undefined, method: undefined, status: 'failed' } as const;
    doneValue(await rig.provider.cancelIntent({ ...known, idempotencyKey: 'c' }));
    expect(
      doneValue(await native().changeMethod({ subscriptionId, methodId, isAttended: true, idempotencyKey: 'k' })),
    ).toMatchObject({ status: 'past_due', methodId });
    await rig.clock.advance(15 * DAY_MS);
    expect(await find(subscriptionId)).toMatchObject({ status: 'canceled' });
    expect(await paid()).toBe(1);
  });

  test('is kept if its charge is declined, and retries keep their schedule', async () => {
    const { subscriptionId, customerId } = await pastDue();
    const methodId = await attach(customerId, 'pm_sim_ok_0_then_expired');
    await rig.clock.advance(DAY_MS / 2);
    expect(
      doneValue(await native().changeMethod({ subscriptionId, methodId, isAttended: true, idempotencyKey: 'k' })),
    ).toMatchObject({
      status: 'past_due',
      methodId,
      latestInvoice: { status: 'failed', failureCode: 'expired_card', attempts: 1 },
    });
    await rig.clock.advance(DAY_MS / 2);
    expect((await find(subscriptionId)).latestInvoice).toMatchObject({ attempts: 2 });
  });

  test.each(FAULTS)(
    'has an unknown outcome if its charge meets %s, and the retry charges once',
    async (action, reason) => {
      const { subscriptionId, customerId } = await pastDue();
      const change = {
        isAttended: true,
        subscriptionId,
        methodId: await attach(customerId, 'pm_card_visa'),
        idempotencyKey: 'k',
      };
      expect(await struck({ action, path: '/pay' }, (by) => by.changeMethod(change))).toEqual({
        kind: 'unknown',
        reason,
      });
      expect(doneValue(await native().changeMethod(change))).toMatchObject({ status: 'active' });
      expect(await paid()).toBe(2);
    },
  );

  test('is not set while Stripe limits requests, and is unknown if Stripe limits only its charge', async () => {
    const { subscriptionId, customerId } = await pastDue();
    const change = {
      isAttended: true,
      subscriptionId,
      methodId: await attach(customerId, 'pm_card_visa'),
      idempotencyKey: 'k',
    };
    await rig.control('POST', '/faults', { action: 'rate_limit', path: '/v1/subscriptions', times: 2 });
    expect(await native().changeMethod(change)).toMatchObject({ kind: 'not_done', retryAfterSeconds: 1 });
    await rig.control('POST', '/faults', { action: 'rate_limit', path: '/pay', times: 2 });
    expect(await native().changeMethod(change)).toEqual({ kind: 'unknown', reason: 'error' });
    expect(doneValue(await native().changeMethod(change))).toMatchObject({ status: 'active' });
    expect(await paid()).toBe(2);
  });

  test('is refused if it belongs to another customer', async () => {
    const { subscriptionId } = await pastDue();
    const { methodId } = await payer('pm_card_visa');
    const changed = await native().changeMethod({ subscriptionId, methodId, isAttended: true, idempotencyKey: 'k' });
    expect(changed).toMatchObject({ kind: 'refused' });
    expect(await paid()).toBe(1);
  });
});

describe('a pause', () => {
  test('charges nothing until it ends, and never charges for the paused time', async () => {
    const { subscription } = await created();
    const { subscriptionId } = subscription;
    const paused = doneValue(await native().pause({ subscriptionId, idempotencyKey: 'p' }));
    expect(paused).toEqual({ ...subscription, status: 'paused' });
    await rig.clock.advance(70 * DAY_MS);
    expect(await find(subscriptionId)).toMatchObject({ status: 'paused', latestInvoice: undefined });
    expect(await paid()).toBe(1);
    const resumed = doneValue(await native().resume({ subscriptionId, idempotencyKey: 'r', inNewPeriod: false }));
    expect(resumed).toMatchObject({ status: 'active', currentPeriodEnd: now() + 20 * DAY_SECONDS });
    expect(await paid()).toBe(1);
    await rig.clock.advance(20 * DAY_MS);
    expect(await paid()).toBe(2);
  });

  test('leaves the open invoice and the method unchanged', async () => {
    const { subscriptionId, customerId } = await pastDue();
    expect(doneValue(await native().pause({ subscriptionId, idempotencyKey: 'p' }))).toMatchObject({
      status: 'paused',
    });
    const { charges } = await ledger();
    const methodId = await attach(customerId, 'pm_card_visa');
    await native().changeMethod({ subscriptionId, methodId, isAttended: true, idempotencyKey: 'm' });
    await rig.clock.advance(10 * DAY_MS);
    expect((await ledger()).charges).toEqual(charges);
    await native().resume({ subscriptionId, idempotencyKey: 'r', inNewPeriod: false });
    await rig.clock.advance(1);
    expect(await find(subscriptionId)).toMatchObject({ status: 'active', latestInvoice: { status: 'succeeded' } });
    expect(await paid()).toBe(2);
  });
});

describe('another price', () => {
  type NewPrice = Parameters<SubscriptionsPort['changePrice']>[0];

  const priced = async (more: Partial<NewPrice> = {}) => {
    const { subscription } = await created();
    const { subscriptionId } = subscription;
    const input: NewPrice = {
      ...{ subscriptionId, changeId: 'chg_1', amountCents: 9_900, currency: 'USD', unit: 'month', count: 1 },
      ...{ productId: 'gold', productName: 'Gold', trialEnd: undefined, isBridge: true, idempotencyKey: name() },
      ...more,
    };
    return { subscription, subscriptionId, input };
  };

  test('is charged from the next period, and the renewal names the change', async () => {
    const { subscription, subscriptionId, input } = await priced();
    expect(doneValue(await native().changePrice(input))).toEqual({ subscriptionId });
    const changed = await find(subscriptionId);
    expect(changed).toEqual({ ...subscription, changeId: 'chg_1', price: { amountCents: 9_900, currency: 'USD' } });
    expect(await paid()).toBe(1);
    await rig.clock.advance(31 * DAY_MS);
    expect(await find(subscriptionId)).toMatchObject({ latestInvoice: { amountCents: 9_900, status: 'succeeded' } });
    expect(await paid()).toBe(2);
  });

  test('of another interval is charged once the paid time is over', async () => {
    const trialEnd = now() + 90 * DAY_SECONDS;
    const { subscriptionId, input } = await priced({ unit: 'year', trialEnd });
    doneValue(await native().changePrice(input));
    expect(await find(subscriptionId)).toMatchObject({ status: 'trialing', isBridge: true, trialEnd });
    await rig.clock.advance(89 * DAY_MS);
    expect(await paid()).toBe(1);
    await rig.clock.advance(2 * DAY_MS);
    expect(await find(subscriptionId)).toMatchObject({
      ...{ status: 'active', currentPeriodStart: trialEnd },
      latestInvoice: { amountCents: 9_900, status: 'succeeded' },
    });
    expect(await paid()).toBe(2);
  });

  test.each(FAULTS)('is set by a retry after %s, and nothing is charged', async (action, reason) => {
    const { subscriptionId, input } = await priced();
    const call = (by: SubscriptionsPort) => by.changePrice(input);
    const lost = await struck({ action, path: `/v1/subscriptions/${subscriptionId}`, method: 'POST' }, call);
    expect(lost).toMatchObject({ kind: 'unknown', reason });
    doneValue(await native().changePrice(input));
    expect(await find(subscriptionId)).toMatchObject({ changeId: 'chg_1', price: { amountCents: 9_900 } });
    expect(await paid()).toBe(1);
  });

  test('is refused for an ended subscription, and for an amount that the provider cannot express', async () => {
    const { subscriptionId, input } = await priced();
    doneValue(await native().cancel({ subscriptionId, idempotencyKey: 'c' }));
    expect(await native().changePrice(input)).toMatchObject({ kind: 'refused' });
    const other = await priced({ currency: 'ISK', amountCents: 1 });
    expect(await native().changePrice(other.input)).toMatchObject({ kind: 'refused' });
  });
});
