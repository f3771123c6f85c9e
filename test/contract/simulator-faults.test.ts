import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConnectionDropped } from '../../infra/local/simulator/state/options.ts';
import { createRig, errorOf, type Rig } from './simulator-harness.ts';

let rig: Rig;
beforeEach(() => {
  rig = createRig({ timeoutMs: 60 });
});
afterEach(() => rig.close());

const create = (key: string) =>
  rig.stripe.paymentIntents.create(
    { amount: 500, currency: 'usd', metadata: { payment_id: 'pay_1' } },
    { idempotencyKey: key },
  );
const confirm = (id: string, key: string, method = 'pm_card_visa') =>
  rig.stripe.paymentIntents.confirm(id, { payment_method: method }, { idempotencyKey: key });
const fault = (rule: object) => rig.control('POST', '/faults', rule);
const charges = async () => ((await rig.control('GET', '/ledger')).body as { charges: { status: string }[] }).charges;
const journal = async () => (await rig.control('GET', '/requests')).body as { path: string; status: number | null }[];

describe('an injected fault', () => {
  it.each([
    ['timeout_before', 0],
    ['timeout_after', 1],
    ['reset', 0],
    ['error_500', 0],
    ['rate_limit', 0],
    ['malformed', 1],
  ])('%s leaves %i charges, and a retry under the same key ends with one charge', async (action, committed) => {
    const { id } = await create('k1');
    await fault({ action, path: '/confirm', times: 1 });
    await errorOf(confirm(id, 'k2'));
    expect(await charges()).toHaveLength(committed);
    expect((await confirm(id, 'k2')).status).toBe('succeeded');
    expect(await charges()).toMatchObject([{ status: 'succeeded' }]);
  });

  it('has the same effect on the client as a real provider’s fault', async () => {
    const { id } = await create('k1');
    await fault({ action: 'timeout_after', times: 1 });
    expect(await errorOf(rig.stripe.paymentIntents.retrieve(id))).toMatchObject({ type: 'StripeConnectionError' });
    await fault({ action: 'rate_limit', times: 1 });
    const limited = await errorOf(rig.stripe.paymentIntents.retrieve(id));
    expect(limited).toMatchObject({ type: 'StripeRateLimitError', statusCode: 429 });
    expect(limited.headers).toMatchObject({ 'retry-after': '1' });
    await fault({ action: 'error_500', times: 1 });
    expect(await errorOf(rig.stripe.paymentIntents.retrieve(id))).toMatchObject({
      type: 'StripeAPIError',
      statusCode: 500,
    });
    await fault({ action: 'malformed', times: 1 });
    const response = await rig.raw(`/v1/payment_intents/${id}`, {
      headers: { authorization: 'Bearer sk_test_local_provider_a' },
    });
    expect(response.status).toBe(200);
    await expect(response.json()).rejects.toThrow(SyntaxError);
    await fault({ action: 'reset', times: 1 });
    const reset = rig.raw(`/v1/payment_intents/${id}`, {
      headers: { authorization: 'Bearer sk_test_local_provider_a' },
    });
    await expect(reset).rejects.toBeInstanceOf(ConnectionDropped);
  });

  it('affects the given slot and path, the given number of times, until it is cleared', async () => {
    await fault({ action: 'error_500', provider: 'provider_b' });
    await fault({ action: 'error_500', path: '/v1/customers', times: 2 });
    await create('k1');
    expect(await errorOf(rig.stripe.customers.list())).toMatchObject({ statusCode: 500 });
    expect(await errorOf(rig.stripe.customers.list())).toMatchObject({ statusCode: 500 });
    expect((await rig.stripe.customers.list()).data).toEqual([]);
    await fault({ action: 'error_500' });
    expect(await errorOf(create('k2'))).toMatchObject({ statusCode: 500 });
    expect((await rig.control('DELETE', '/faults')).status).toBe(204);
    await create('k2');
  });

  it('occurs at random, and in the same sequence for the same seed', async () => {
    const run = async (seed: number) => {
      await rig.control('DELETE', '/faults');
      await fault({ action: 'error_500', probability: 0.5, seed });
      const outcomes: boolean[] = [];
      for (let n = 0; n < 40; n += 1)
        outcomes.push(
          await rig.stripe.customers.list().then(
            () => true,
            () => false,
          ),
        );
      return outcomes;
    };
    const first = await run(7);
    expect(await run(7)).toEqual(first);
    expect(await run(8)).not.toEqual(first);
    expect(first.filter(Boolean).length).toBeGreaterThan(8);
    expect(first.filter(Boolean).length).toBeLessThan(32);
  });

  it('is refused with a list of all its mistakes', async () => {
    expect(await fault({ action: 'explode', times: 0 })).toEqual({
      status: 400,
      body: { error: expect.stringMatching(/times.*action|action.*times/s) },
    });
  });
});

describe('a payment method that loses the connection', () => {
  it.each([
    ['pm_sim_timeout_before', 0],
    ['pm_sim_timeout_after', 1],
  ])('%s loses it at the first attempt only, and leaves %i charges', async (method, committed) => {
    const { id } = await create('k1');
    expect(await errorOf(confirm(id, 'k2', method))).toMatchObject({ type: 'StripeConnectionError' });
    expect(await charges()).toHaveLength(committed);
    expect((await rig.stripe.paymentIntents.retrieve(id)).status).toBe(
      committed === 1 ? 'succeeded' : 'requires_payment_method',
    );
    expect((await confirm(id, 'k2', method)).status).toBe('succeeded');
    expect(await charges()).toHaveLength(1);
  });

  it.each(['pm_sim_timeout_before', 'pm_sim_timeout_after'])(
    '%s loses it when one call creates and confirms the intent',
    async (method) => {
      const charge = () =>
        rig.stripe.paymentIntents.create(
          { amount: 50, currency: 'usd', confirm: true, payment_method: method },
          { idempotencyKey: 'k1' },
        );
      expect(await errorOf(charge())).toMatchObject({ type: 'StripeConnectionError' });
      expect((await charge()).status).toBe('succeeded');
      expect(await charges()).toHaveLength(1);
    },
  );

  it('loses it once per payment', async () => {
    for (const key of ['a', 'b']) {
      const { id } = await create(key);
      expect(await errorOf(confirm(id, `${key}2`, 'pm_sim_timeout_before'))).toMatchObject({
        type: 'StripeConnectionError',
      });
    }
  });
});

describe('the call journal', () => {
  it('records every call of an adapter, with or without a response, but no call of a browser', async () => {
    const { id, client_secret: secret } = await create('k1');
    await errorOf(confirm(id, 'k2', 'pm_sim_timeout_before'));
    await errorOf(confirm(id, 'k3', 'pm_card_chargeDeclined'));
    await rig.browser(`/v1/payment_intents/${id}?client_secret=${secret}`);
    await rig.stripe.paymentIntents.list({ limit: 1 });
    expect((await rig.control('GET', '/requests')).body).toEqual([
      {
        at: '2030-01-01T00:00:00.000Z',
        provider: 'provider_a',
        method: 'POST',
        path: '/v1/payment_intents',
        idempotency_key: 'k1',
        status: 200,
      },
      expect.objectContaining({ path: `/v1/payment_intents/${id}/confirm`, idempotency_key: 'k2', status: null }),
      expect.objectContaining({ path: `/v1/payment_intents/${id}/confirm`, idempotency_key: 'k3', status: 402 }),
      expect.objectContaining({ method: 'GET', path: '/v1/payment_intents', idempotency_key: null, status: 200 }),
    ]);
    expect((await rig.control('DELETE', '/requests')).status).toBe(204);
    expect(await journal()).toEqual([]);
  });
});
