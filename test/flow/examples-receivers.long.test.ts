import { spawnSync } from 'node:child_process';
import { execPath } from 'node:process';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { LOCAL_SECRETS } from '../../infra/local/machine/environment.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { startExample } from './example-process.ts';
import { confirm, createPaidIntent, signIn } from './flow.ts';
import { withHost } from './host.ts';
import { signInAdmin } from './refunders.ts';

const hasPython = spawnSync('python3', ['--version']).status === 0;
const RECEIVERS = [[execPath, 'receivers/receiver.mjs'], ...(hasPython ? [['python3', 'receivers/receiver.py']] : [])];

/** A program prints its line after it responds. */
const LINE = { timeout: 10_000 };
const SECRET: string = LOCAL_SECRETS.WEBHOOK_1_SECRET;

describe.each(RECEIVERS)(
  'the example receiver, started as %s %s (Python only if installed)',
  (program = '', file = '') => {
    const service = withHost({ env: { EXTERNAL_WEBHOOKS_ENABLED: 'true' } });
    const start = (env = {}) => startExample(program, file, env);
    const startForwarded = () => start({ FORWARD_FROM: service.host().baseUrl });
    const kept = async (url: string, id: string) => (await fetch(`${url}/payments/${id}`)).json();

    /** Sends an event as the service would. */
    const deliver = async (
      url: string,
      event: unknown,
      { id = 'msg_1', secret = SECRET, at = new Date(), more = {} },
    ) => {
      const body = JSON.stringify(event);
      const headers = {
        'webhook-event': 'payment.succeeded',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
        'webhook-signature': new Webhook(secret).sign(id, at, body),
        ...more,
      };
      return (await fetch(url, { method: 'POST', headers, body })).status;
    };
    const event = (seconds: number, data: object = {}) => ({
      timestamp: `2026-11-22T10:00:0${seconds}.000Z`,
      data: { payment_id: 'pay_1', status: 'succeeded', ...data },
    });

    test('records a payment and its refund, although the local host’s clock is days ahead', async () => {
      const { url } = await startForwarded();
      await service.advance(3 * DAY_SECONDS);
      const user = await signIn(service);
      const { id } = await createPaidIntent(service, user);
      await confirm(service, id, user.options);
      await service.settle();
      expect(await kept(url, id)).toMatchObject({ id, status: 'succeeded', refunded_cents: 0 });
      const admin = await signInAdmin(service);
      const refunded = await service.post(`/payments/${id}/refunds`, { amount_cents: 500 }, admin.options);
      expect(refunded.status).toBe(201);
      await service.settle();
      expect(await kept(url, id)).toMatchObject({ status: 'succeeded', refunded_cents: 500 });
    });

    test('refuses a signature with another secret, and an old timestamp', async () => {
      const { url } = await start();
      const foreign = `whsec_${Buffer.from('another secret of another sender').toString('base64')}`;
      expect(await deliver(url, event(1), { secret: foreign })).toBe(401);
      expect(await deliver(url, event(1), { at: new Date(Date.now() - 600_000) })).toBe(401);
      expect(await kept(url, 'pay_1')).toEqual({});
    });

    test('accepts either of two signatures, since secrets rotate', async () => {
      const { url } = await start();
      const at = new Date();
      const signature = new Webhook(SECRET).sign('msg_1', at, JSON.stringify(event(1)));
      expect(await deliver(url, event(1), { at, more: { 'webhook-signature': `v1,AAAA ${signature}` } })).toBe(200);
      expect(await kept(url, 'pay_1')).toMatchObject({ status: 'succeeded' });
    });

    test('applies an event once, and keeps the newest state for any order of arrival', async () => {
      const { url, printed } = await start();
      expect(await deliver(url, event(3, { refunded_cents: 700 }), { id: 'msg_3' })).toBe(200);
      expect(await deliver(url, event(3, { refunded_cents: 700 }), { id: 'msg_3' })).toBe(200);
      expect(await deliver(url, event(1, { status: 'created' }), { id: 'msg_1' })).toBe(200);
      expect(await deliver(url, event(2), { id: 'msg_2' })).toBe(200);
      expect(await kept(url, 'pay_1')).toMatchObject({ status: 'succeeded', refunded_cents: 700 });
      const outcomes = () => printed().match(/applied|a repeat/g);
      await expect.poll(outcomes, LINE).toEqual(['applied', 'a repeat', 'applied', 'applied']);
    });

    test('ignores a test event', async () => {
      const { url, printed } = await start();
      expect(await deliver(url, event(1), { more: { 'webhook-test': 'true' } })).toBe(200);
      await expect.poll(printed, LINE).toContain('a test');
      expect(await kept(url, 'pay_1')).toEqual({});
    });
  },
);

describe('the webhook target of the local host', () => {
  const service = withHost({ env: { EXTERNAL_WEBHOOKS_ENABLED: 'true' } });

  test('forwards only to programs of this machine', async () => {
    const ownSink = `${service.host().baseUrl}/_local/sink/default`;
    for (const forward_to of [ownSink, 'http://shop.example/', 'https://127.0.0.1/', 'file:///etc/passwd']) {
      const answer = await service.post('/_local/sink/default/behaviour', { forward_to });
      expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining('forward_to') } });
    }
  });

  test('returns 502 if no receiver listens, so the delivery is retried', async () => {
    await service.post('/_local/sink/default/behaviour', { forward_to: 'http://127.0.0.1:1/' });
    const answer = await service.post('/_local/sink/default', { event: 'payment.succeeded' });
    expect(answer.status).toBe(502);
  });
});
