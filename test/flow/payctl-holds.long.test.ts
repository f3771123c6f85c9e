/** @module payctl's commands for holds, and their output. */

import { describe, expect, test } from 'vitest';
import { DEMO_KEY_SECRET } from '../../infra/local/host/seed.ts';
import { HOUR_MS } from '../../shared/core/time.ts';
import { YEAR_SECONDS } from '../builders/seconds.ts';
import { createPaidIntent, PATIENT, read, signIn, type User } from './flow.ts';
import { AT_PAYPAL, heldPayment } from './holders.ts';
import { withHost } from './host.ts';
import { payctlOf, spawned } from './payctl.ts';
import type { ParsedJson } from './routes.ts';

const service = withHost({ frozen: true, env: PATIENT });
const payctl = payctlOf(service);
const signInPayer = () => signIn(service, { expires_in: YEAR_SECONDS });
/** A held payment of 25.00 USD. */
const held = (user: User, fields: Readonly<Record<string, unknown>> = {}) =>
  heldPayment(service, user, { subtotal_cents: 2_500, tax_cents: 0, ...fields });
const checkOf = ({ checks }: ParsedJson, name: string) => checks.find(({ check }: ParsedJson) => check === name);

describe.each([
  ['with the key of the local host', {}, { type: 'key', id: 'key_de40de40de40de40de40de40' }],
  [
    'with another service key',
    { PAYMENTS_API_KEY: DEMO_KEY_SECRET },
    { type: 'key', id: 'key_de30de30de30de30de30de30' },
  ],
] as const)('payctl %s', (_, env, actor) => {
  test('captures a part once, by our id or the provider’s, and refuses too large an amount and a second capture', async () => {
    const payer = await signInPayer();
    const payment = await held(payer);
    const url = service.host().baseUrl;
    const tooMuch = await spawned(url, ['capture', payment.id, '--amount', '2501'], env);
    expect(tooMuch).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(/^CAPTURE_EXCEEDS_AUTHORIZATION: /) });
    expect(await payctl(['capture', payment.provider_payment_id, '--amount', '1800'], env)).toMatchObject({
      exitCode: 0,
      json: {
        payment_id: payment.id,
        status: 'succeeded',
        authorized_cents: 2_500,
        captured_cents: 1_800,
        capture_pending: false,
      },
    });
    const again = await spawned(url, ['capture', payment.id, '--amount', '700'], env);
    expect(again).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringMatching(/^INVALID_STATE: /) });
    await service.settle();
    const { body } = await service.get(`/payments/${payment.id}/timeline`, { session: 'demo-admin' });
    const claim = body.data.find(({ cause }) => cause === 'capture');
    expect(claim).toMatchObject({
      status: 'requires_capture',
      hold: { call: 'capture', amount_cents: 1_800 },
      actor,
    });
    expect(await read(service, payment.id, payer.options)).toMatchObject({ status: 'succeeded', total_cents: 1_800 });
  });

  test('releases a hold, and reports the release', async () => {
    const payer = await signInPayer();
    const payment = await held(payer);
    expect(await spawned(service.host().baseUrl, ['release', payment.id], env)).toEqual({
      exitCode: 0,
      stdout: `${payment.id} is canceled: 25.00 USD released at provider_a\n`,
      stderr: '',
    });
    expect(await read(service, payment.id, payer.options)).toMatchObject({
      status: 'canceled',
      captured_cents: 0,
      cancellation_reason: 'released',
    });
  });
});

describe('payctl', () => {
  test('release is refused for a payment without a hold', async () => {
    const payer = await signInPayer();
    const { id } = await held(payer);
    await payctl(['capture', id]);
    const { exitCode, stderr } = await spawned(service.host().baseUrl, ['release', id]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringMatching(/^INVALID_STATE: /) });
    expect(await read(service, id, payer.options)).toMatchObject({ status: 'succeeded', captured_cents: 2_500 });
  });

  test('release does not cancel a payment that is not confirmed yet', async () => {
    const payer = await signInPayer();
    const { id } = await createPaidIntent(service, payer);
    const { exitCode, stderr } = await spawned(service.host().baseUrl, ['release', id]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringMatching(/^INVALID_STATE: /) });
    expect(await read(service, id, payer.options)).toMatchObject({ status: 'created' });
  });

  test('doctor lists exactly the holds that end within 24 hours', async () => {
    const payer = await signInPayer();
    const { id: later } = await held(payer);
    const { id: soon } = await held(payer, { payment_method_id: 'pm_sim_hold_1h' });
    await service.settle();
    const warned = await payctl(['doctor']);
    expect(warned.exitCode).toBe(1);
    const { state, detail } = checkOf(warned.json, 'holds');
    expect({ state, detail }).toEqual({ state: 'fail', detail: expect.stringMatching(new RegExp(`${soon} by 20`)) });
    expect(detail).not.toContain(later);
    await payctl(['release', soon]);
    expect(checkOf((await payctl(['doctor'])).json, 'holds')).toMatchObject({ state: 'ok' });
  });

  test('drift finds a hold that ended at the provider without an event, and stores the end of the hold', async () => {
    const payer = await signInPayer();
    const [ended, other] = [await held(payer), await held(payer)];
    await service.settle();
    await service.webhookMode('drop');
    await service.control('POST', `/simulator/payments/${ended.id}/release`);
    await service.webhookMode('normal');
    const since = ['--since', new Date(service.now() - HOUR_MS).toISOString()];
    const ofBoth = ({ findings }: ParsedJson) =>
      findings.filter(({ payment_id: id }: ParsedJson) => id === ended.id || id === other.id);
    expect(ofBoth((await payctl(['drift', ...since])).json)).toEqual([
      expect.objectContaining({
        payment_id: ended.id,
        kind: 'status differs',
        here: 'requires_capture',
        there: 'canceled',
      }),
    ]);
    expect(ofBoth((await payctl(['drift', ...since, '--fix'])).json)).toEqual([
      expect.objectContaining({ payment_id: ended.id, fixed: true }),
    ]);
    expect(await read(service, ended.id, payer.options)).toMatchObject({
      status: 'canceled',
      cancellation_reason: 'provider',
    });
    expect(ofBoth((await payctl(['drift', ...since])).json)).toEqual([]);
  });

  test('drift finds a capture at PayPal that no event reported, and stores the captured amount', async () => {
    const payer = await signInPayer();
    const { id } = await held(payer, { holding: AT_PAYPAL });
    const take = (amount: number) => service.control('POST', `/simulator/payments/${id}/captures`, { amount });
    await take(1_000);
    await service.settle();
    await service.webhookMode('drop');
    await take(1_200);
    await service.webhookMode('normal');
    const since = ['--since', new Date(service.now() - HOUR_MS).toISOString()];
    const ofThis = ({ findings }: ParsedJson) => findings.filter(({ payment_id }: ParsedJson) => payment_id === id);
    const found = { kind: 'captured more', here: '10.00 USD', there: '22.00 USD' };
    expect(ofThis((await payctl(['drift', ...since])).json)).toMatchObject([found]);
    expect(ofThis((await payctl(['drift', ...since, '--fix'])).json)).toMatchObject([{ ...found, fixed: true }]);
    expect(await read(service, id, payer.options)).toMatchObject({ status: 'succeeded', captured_cents: 2_200 });
    expect(ofThis((await payctl(['drift', ...since])).json)).toEqual([]);
  });

  test('doctor warns if Stripe sends events in another version of its API', async () => {
    const useVersion = (version: string) => service.control('POST', '/simulator/events-version', { version });
    await useVersion('2024-11-20.acacia');
    expect(checkOf((await payctl(['doctor'])).json, 'provider_a events')).toMatchObject({
      state: 'fail',
      detail: expect.stringContaining('/webhooks/provider_a has 2024-11-20.acacia'),
    });
    await useVersion('2026-10-28.endive');
    expect(checkOf((await payctl(['doctor'])).json, 'provider_a events')).toMatchObject({
      state: 'ok',
      detail: 'are sent in version 2026-10-28.endive',
    });
  });
});
