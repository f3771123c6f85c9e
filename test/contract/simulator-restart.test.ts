import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSimulator } from '../../infra/local/host/simulator.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../shared/core/time.ts';
import { createRig, fakeClock, type Rig, SLOTS } from './simulator-harness.ts';

let folder: string;
let rig: Rig | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'simulator-'));
});
afterEach(() => {
  rig?.close();
  rig = undefined;
  rmSync(folder, { recursive: true, force: true });
});

const PAY = {
  amount: 500,
  currency: 'usd',
  confirm: true,
  metadata: { payment_id: 'pay_1' },
  automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
} as const;

const restarted = (rig: Rig): Rig => {
  const { clock } = rig;
  rig.close();
  return createRig({ file: join(folder, 'simulator.db'), clock });
};

describe('a restart of the simulator', () => {
  test('keeps ledger, keys, journal, faults, mode, due work and undelivered events', async () => {
    const clock = fakeClock();
    rig = createRig({ file: join(folder, 'simulator.db'), clock });
    rig.answerWith(503);
    const key = { idempotencyKey: 'k1' };
    const first = await rig.stripe.paymentIntents.create({ ...PAY, payment_method: 'pm_sim_processing_ok' }, key);
    await clock.settle(0);
    const before = await rig.control('GET', '/ledger');
    await rig.control('POST', '/webhooks', { mode: 'duplicate', seed: 4 });
    await rig.control('POST', '/faults', { action: 'error_500', path: '/nowhere' });

    rig = restarted(rig);
    expect(await rig.control('GET', '/ledger')).toEqual(before);
    expect((await rig.control('GET', '/requests')).body).toHaveLength(1);
    expect((await rig.control('GET', '/webhooks')).body).toMatchObject({ mode: 'duplicate', seed: 4 });
    expect((await rig.control('GET', '/faults')).body).toMatchObject([{ action: 'error_500' }]);
    const again = await rig.stripe.paymentIntents.create({ ...PAY, payment_method: 'pm_sim_processing_ok' }, key);
    expect(again.id).toBe(first.id);

    await clock.advance(MINUTE_MS);
    expect((await rig.stripe.paymentIntents.retrieve(first.id)).status).toBe('succeeded');
    const types = (await rig.events()).map(({ type }) => type);
    expect(types.filter((type) => type === 'payment_intent.created')).toHaveLength(1);
    expect(types.filter((type) => type === 'payment_intent.succeeded')).toHaveLength(3);
  });

  test('bills exactly the missed periods after years of downtime', async () => {
    const file = join(folder, 'simulator.db');
    rig = createRig({ file });
    const { stripe } = rig;
    const customer = (await stripe.customers.create({})).id;
    const product = (await stripe.products.create({ name: 'Gold' })).id;
    const { id: method } = await stripe.paymentMethods.attach('pm_card_visa', { customer });
    const price = { currency: 'usd', product, unit_amount: 500, recurring: { interval: 'year' as const } };
    await stripe.subscriptions.create({
      customer,
      default_payment_method: method,
      items: [{ price_data: price }],
      payment_behavior: 'error_if_incomplete',
    });
    rig.close();
    const clock = fakeClock();
    await clock.advance(5 * 366 * DAY_MS);
    rig = createRig({ file, clock });
    await rig.clock.settle(0);
    const { data } = await rig.stripe.invoices.list({});
    expect(data.map(({ lines }) => new Date((lines.data[0]?.period.start ?? 0) * 1_000).getUTCFullYear())).toEqual([
      2035, 2034, 2033, 2032, 2031, 2030,
    ]);
  });
});

describe('a slot whose vendor was removed', () => {
  test('keeps its due work and deliveries until the vendor is configured again', async () => {
    const clock = fakeClock();
    const file = join(folder, 'simulator.db');
    rig = createRig({ file, clock });
    rig.answerWith(503);
    const { id } = await rig.stripe.paymentIntents.create({ ...PAY, payment_method: 'pm_sim_processing_ok' });
    await clock.settle(0);
    rig.close();
    const slots = { ...SLOTS, provider_a: { ...SLOTS.provider_a, adapter: '' as const } };
    const idle = createSimulator({ clock, file, slots, deliver: () => expect.fail('nothing can be signed') });
    clock.register(idle);
    await clock.advance(HOUR_MS);
    expect(await idle.idle()).toBe(true);
    idle.close();
    rig = createRig({ file, clock });
    expect((await rig.events()).map(({ type }) => type)).toContain('payment_intent.succeeded');
    expect((await rig.stripe.paymentIntents.retrieve(id)).status).toBe('succeeded');
  });
});

describe('a start of the simulator', () => {
  test.each(['sk_live_x', 'rk_live_x', 'pk_live_x'])(
    'is refused with the live key %s, and the one-line error masks the key',
    (apiKey) => {
      const slots = { ...SLOTS, provider_c: { ...SLOTS.provider_c, apiKey: `${apiKey}_secret` } };
      const start = () =>
        createSimulator({
          clock: fakeClock(),
          file: ':memory:',
          slots,
          deliver: async () => ({ status: 200, body: '' }),
        });
      expect(start).toThrow(/^The simulator does not start: the API key of provider_c looks live/);
      expect(start).not.toThrow(/secret/);
    },
  );
});

describe('a closed simulator', () => {
  test('drops its open calls, and has no due work', async () => {
    const held = createRig();
    await held.control('POST', '/faults', { action: 'timeout_before' });
    const call = held.raw('/v1/customers', { headers: { authorization: 'Bearer sk_test_local_provider_a' } });
    const outcome = call.then(
      () => 'answered',
      (error: Error) => error.name,
    );
    await held.clock.settle(0);
    held.close();
    expect(await outcome).toBe('ConnectionDropped');
    expect(held.simulator.nextDueAt()).toBeUndefined();
    expect(await held.simulator.idle()).toBe(true);
  });
});
