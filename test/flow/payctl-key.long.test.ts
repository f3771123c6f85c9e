/** @module payctl's commands through the API, with a service key. */

import { describe, expect, test } from 'vitest';
import { DEMO_KEY_SECRET } from '../../infra/local/host/seed.ts';
import { PATIENT } from './flow.ts';
import { startTestHost, withHost } from './host.ts';
import { payctlOf, spawned } from './payctl.ts';
import { plan } from './plan-changes.ts';
import type { ParsedJson } from './routes.ts';
import { payer, readSubscription } from './subscribers.ts';

const service = withHost({ frozen: true, env: PATIENT });
const payctl = payctlOf(service);
const OWNER = { session: 'demo-owner' };
const env = { PAYMENTS_API_KEY: DEMO_KEY_SECRET };

const paidPayment = async () => {
  const order = { total_cents: 2_500, currency: 'USD', payment_method_id: 'pm_card_visa' };
  const { body } = await service.post('/payments/intents', order, OWNER);
  await service.post(`/payments/confirm/${body.id}`, {}, OWNER);
  await service.settle();
  return body;
};

const keyWith = async (scopes: readonly string[]) => {
  const key = await service.post('/admin/keys', { name: 'operator', scopes }, { session: 'demo-admin' });
  return { PAYMENTS_API_KEY: key.body.data.secret };
};

describe('payctl with a service key', () => {
  test('plans and makes a refund, and the timeline names the key as its actor', async () => {
    const { id, provider_payment_id: theirs } = await paidPayment();
    expect(await payctl(['refund', id, '--amount', '700', '--dry-run'], env)).toMatchObject({
      exitCode: 0,
      json: { dry_run: true, payment_id: id, amount_cents: 700, refundable_cents: 1_800 },
    });
    expect(await payctl(['refund', theirs, '--amount', '700', '--reason', 'duplicate'], env)).toMatchObject({
      exitCode: 0,
      json: {
        dry_run: false,
        refundable_cents: 1_800,
        refund: { payment_id: id, amount_cents: 700, created_by: 'key_de30de30de30de30de30de30' },
      },
    });
    await service.settle();
    const shown = await spawned(service.host().baseUrl, ['timeline', id], env);
    expect(shown).toMatchObject({ exitCode: 0, stderr: '' });
    expect(shown.stdout).toMatch(
      /^pay_\w+ is succeeded: 25\.00 USD at provider_a\nrefund +ref_\w+ +succeeded +7\.00 USD/,
    );
    expect(shown.stdout).toMatch(/key key_de30de30de30de30de30de30$/m);
  });

  test('timeline shows changes, and shows events and deliveries only with the scope webhooks:read', async () => {
    const { id } = await paidPayment();
    const { entries } = (await payctl(['timeline', id])).json;
    const changes = entries.filter(({ kind }: ParsedJson) => kind === 'change');
    expect(entries.length).toBeGreaterThan(changes.length);
    expect((await payctl(['timeline', id], env)).json.entries).toEqual(changes);
  });

  test('reconciles a payment with the scope payments:operate', async () => {
    const { id, provider_payment_id: theirs } = await paidPayment();
    const withKey = await keyWith(['payments:read', 'payments:operate']);
    expect(await payctl(['reconcile', theirs], withKey)).toEqual({
      exitCode: 0,
      json: { payment_id: id, before: 'succeeded', after: 'succeeded', outcome: 'same' },
    });
  });

  test.each(['4242', 'demo.owner@example.com', 'ORDER-17'])(
    'refuses to refund a payment found by %s, because only an id is unique',
    async (text) => {
      const order = { total_cents: 2_500, currency: 'USD', payment_method_id: 'pm_card_visa' };
      const { body } = await service.post('/payments/intents', { ...order, reference_code: 'ORDER-17' }, OWNER);
      await service.post(`/payments/confirm/${body.id}`, {}, OWNER);
      await service.settle();
      expect(await spawned(service.host().baseUrl, ['refund', text], env)).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining(`there is no payment ${text}`),
      });
      expect((await service.get(`/payments/${body.id}`, OWNER)).body.data.refunded_cents).toBe(0);
    },
  );

  test('previews a plan change for the payer, and changes nothing', async () => {
    const withKey = await keyWith(['subscriptions:read', 'subscriptions:write']);
    const owner = await payer(service, OWNER);
    const product_id = await plan(service, 1_000);
    const { body: made } = await service.post('/subscriptions', { ...owner.names, product_id }, OWNER);
    const asked = ['preview-change', made.id, '--product', await plan(service, 3_000), '--quantity', '2'];
    expect(await payctl(asked, withKey)).toMatchObject({
      exitCode: 0,
      json: { subscription_id: made.id, kind: 'upgrade', when: 'now', due_now_cents: 5_000, next_total_cents: 6_000 },
    });
    const shown = await spawned(service.host().baseUrl, [...asked, '--when', 'period_end'], withKey);
    expect(shown.stdout).toMatch(/upgrade on \S+, nothing was changed\ndue now 0\.00 USD\nnext charge 60\.00 USD/);
    expect(await readSubscription(service, owner, made.id)).toEqual(made);
    expect((await spawned(service.host().baseUrl, [...asked, '--when', 'period_end'])).stdout).toBe(shown.stdout);
  });

  test('is refused without the command’s scope, and the error names that scope but not the key', async () => {
    const { id } = await paidPayment();
    const { exitCode, stdout, stderr } = await spawned(service.host().baseUrl, ['reconcile', id], env);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(/^INSUFFICIENT_PERMISSIONS: The scope payments:operate is required/);
    expect(stderr).not.toContain('psk_');
  });

  test('is refused with an invalid key, or with a stage instead of an address', async () => {
    const wrong = { PAYMENTS_API_KEY: `${DEMO_KEY_SECRET.slice(0, -1)}x` };
    expect(await spawned(service.host().baseUrl, ['refund', 'pay_1'], wrong)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/^API_KEY_INVALID/),
    });
    expect(await spawned(service.host().baseUrl, ['--stage', 'prod', 'timeline', 'pay_1'], env)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('--url'),
    });
  });

  test('sends the key to other machines only over HTTPS', async () => {
    const sent = await spawned('http://payments.example.invalid', ['timeline', 'pay_1'], env);
    expect(sent).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('https') });
  });

  test.each([
    ['http://127.0.0.1:1', ['--stage', 'prod']],
    ['https://payments.example.invalid', []],
  ])('refuses to call any host except the local host without a key: %s %j', async (url, args) => {
    for (const command of [
      ['timeline', 'pay_1'],
      ['refund', 'pay_1'],
      ['capture', 'pay_1'],
      ['release', 'pay_1'],
    ]) {
      expect(await spawned(url, [...args, ...command])).toMatchObject({
        exitCode: 2,
        stdout: '',
        stderr: expect.stringMatching(/--url, not a stage, and set a service key in PAYMENTS_API_KEY\n$/),
      });
    }
  });

  test('needs no key on the local host, even with a base path', async () => {
    const other = await startTestHost({ frozen: true, env: { ...PATIENT, BASE_PATH: '/pay' } });
    const { stderr } = await spawned(other.host().baseUrl, ['timeline', 'pay_1']);
    await other.stop();
    expect(stderr).toMatch(/^RESOURCE_NOT_FOUND: .*\/pay\/payments\/pay_1/);
  });

  test('ignores the key for commands outside the public API', async () => {
    expect(await payctl(['clock'], env)).toMatchObject({ exitCode: 0 });
  });
});
