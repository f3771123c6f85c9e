/** @module The contract of set-ups, in which a payer must authenticate before the method is saved. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Outcome } from '../../shared/core/outcome.ts';
import type { ProviderMethod, SetupsPort } from '../../shared/providers/method-port.ts';
import { openRig, type ProviderRig } from './provider-rig.ts';
import { PAYPAL, SQUARE, STRIPE } from './provider-subjects.ts';

const ASKS = 'pm_card_authenticationRequiredOnSetup';

let rig: ProviderRig;
beforeEach(async () => {
  rig = await openRig(STRIPE);
});
afterEach(() => rig.close());

const setups = (): SetupsPort => {
  if (!rig.provider.setups) throw new Error('it has no set-ups');
  return rig.provider.setups;
};

const doneValue = <T>(outcome: Outcome<T>): T => {
  if (outcome.kind === 'done') return outcome.value;
  throw new Error(`not done: ${JSON.stringify(outcome)}`);
};

const attach = async (token: string): Promise<ProviderMethod> => {
  const { customerId } = doneValue(
    await rig.provider.createCustomer({
      email: 'ana@example.com',
      name: 'Ana Silva',
      phone: undefined,
      ourCustomerId: 'cust_1',
      idempotencyKey: 'cust_1:create',
    }),
  );
  const input = { token, customerId, paymentMethodId: 'pmt_1', idempotencyKey: 'pmt_1:attach' };
  return doneValue(await rig.provider.attachMethod(input));
};

const asked = async () => {
  const { methodId, setup } = await attach(ASKS);
  if (!setup) throw new Error('Stripe holds no setup intent');
  return { methodId, setupId: setup.setupId };
};

const step = (outcome: 'success' | 'failure') =>
  rig.control('POST', '/payment-methods/pmt_1/authenticate', { outcome });

const holderOf = async (methodId: string): Promise<string | undefined> =>
  doneValue(await rig.provider.findMethod(methodId)).customerId;

describe('attaching a method at Stripe', () => {
  test('needs no set-up if the method requires no authentication', async () => {
    const method = await attach('pm_card_visa');
    expect(method).toMatchObject({ customerId: expect.any(String) });
    expect(method.setup).toBeUndefined();
  });

  test.each([ASKS, 'tok_authenticationRequiredOnSetup'])(
    'creates a set-up with one call, and waits for the payer, for the token %s',
    async (token) => {
      const method = await attach(token);
      expect(method).toMatchObject({ customerId: undefined, cardBrand: 'visa', lastFour: '3155' });
      expect(method.setup).toEqual({
        setupId: expect.stringMatching(/^seti_/),
        clientSecret: expect.stringContaining('_secret_'),
        nextAction: { type: 'use_provider_sdk', url: undefined },
      });
      expect(rig.exchanges.map(({ path }) => path)).toEqual(['/stripe/v1/customers', '/stripe/v1/setup_intents']);
      expect(await attach(token)).toEqual(method);
      expect(rig.logged.join()).not.toContain(method.setup?.clientSecret);
    },
  );
});

describe('a set-up at Stripe', () => {
  test('attaches its method after the payer’s authentication', async () => {
    const { methodId, setupId } = await asked();
    expect(doneValue(await setups().find(setupId))).toMatchObject({ setupId, status: 'requires_action' });
    await step('success');
    expect(doneValue(await setups().find(setupId))).toMatchObject({ status: 'succeeded', method: { methodId } });
    expect(await holderOf(methodId)).toEqual(expect.any(String));
  });

  test('fails without a method if the payer refuses', async () => {
    const { methodId, setupId } = await asked();
    await step('failure');
    expect(doneValue(await setups().find(setupId))).toEqual({ setupId, status: 'failed', method: undefined });
    expect(await holderOf(methodId)).toBeUndefined();
  });

  test('stays canceled after repeated cancellations, and attaches nothing', async () => {
    const { methodId, setupId } = await asked();
    for (const _ of [1, 2]) expect(doneValue(await setups().cancel(setupId))).toMatchObject({ status: 'canceled' });
    await expect(step('success')).rejects.toThrow('409');
    expect(await holderOf(methodId)).toBeUndefined();
  });

  test('stays succeeded, and its cancellation reports the success', async () => {
    const { methodId, setupId } = await asked();
    await step('success');
    expect(doneValue(await setups().cancel(setupId))).toMatchObject({ status: 'succeeded', method: { methodId } });
  });

  test('counts as canceled if Stripe does not know it', async () => {
    const gone = { setupId: 'seti_absent', status: 'canceled', method: undefined };
    expect(doneValue(await setups().find('seti_absent'))).toEqual(gone);
    expect(doneValue(await setups().cancel('seti_absent'))).toEqual(gone);
  });

  test('has an unknown outcome if Stripe does not respond', async () => {
    const { setupId } = await asked();
    await rig.control('POST', '/faults', { action: 'error_500', path: '/v1/setup_intents', times: 2 });
    expect(await setups().find(setupId)).toEqual({ kind: 'unknown', reason: 'error' });
    expect(await setups().cancel(setupId)).toEqual({ kind: 'unknown', reason: 'error' });
  });

  test('reports its end in an event with our id', async () => {
    const { setupId } = await asked();
    await step('failure');
    const seen = (await rig.delivered()).map(({ body }) => rig.provider.readEvent(JSON.parse(body)));
    expect(seen.find((event) => event?.type === 'setup_intent.failed')?.object).toMatchObject({
      id: setupId,
      ourMethodId: 'pmt_1',
      ourPaymentId: undefined,
    });
  });
});

test.each([PAYPAL, SQUARE])('$name needs no set-up', async (subject) => {
  const other = await openRig(subject);
  expect(other.provider.setups).toBeUndefined();
  await other.close();
});
