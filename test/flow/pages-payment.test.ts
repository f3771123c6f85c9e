import { describe, expect, test } from 'vitest';
import { DECLINED, VISA } from '../builders/intent.ts';
import { confirmInBrowser, createIntent, read, signIn, timesCharged } from './flow.ts';
import { withHost } from './host.ts';
import { pageOf, pageToken, withToken } from './pages.ts';

const RETURN_HOST = 'shop.example';
const service = withHost({ frozen: true, env: { PAGE_NAME: 'Corner Shop', PAGE_RETURN_HOSTS: RETURN_HOST } });

const pay = (token: string, body: Readonly<Record<string, unknown>> = { payment_method_id: VISA }) =>
  service.post('/pay/confirm', body, withToken(token));

describe('the page of a payment', () => {
  test('shows the amount, and nothing about the payer', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user, { description: 'Repair', metadata: { order: 'A-1' } });
    const state = await pageOf(service, await pageToken(service, payment.id, { return_url: 'https://shop.example/x' }));
    expect(state).toMatchObject({
      kind: 'payment',
      payment_id: payment.id,
      status: 'requires_payment_method',
      amount_cents: 2_500,
      currency: 'USD',
      description: 'Repair',
      seller: { name: 'Corner Shop', color: null },
      providers: [{ provider_id: 'provider_a', provider: 'stripe', confirms_in: 'browser' }],
      client_secret: payment.client_secret,
      return_url: 'https://shop.example/x',
      test: true,
    });
    expect(JSON.stringify(state)).not.toMatch(new RegExp(`${user.userId}|A-1|@|metadata`));
  });

  test('charges a one-time token once, and shows the payment as paid', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user);
    const token = await pageToken(service, payment.id);
    expect(await pay(token)).toMatchObject({ status: 200, body: { status: 'succeeded', client_secret: null } });
    expect(await pay(token)).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    expect(await timesCharged(service, payment.id)).toBe(1);
    expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'succeeded' });
  });

  test('shows only the decline code and advice after a decline', async () => {
    const payment = await createIntent(service, await signIn(service));
    const token = await pageToken(service, payment.id);
    const declined = await pay(token, { payment_method_id: DECLINED });
    expect(declined).toMatchObject({ status: 402, body: { code: 'PAYMENT_DECLINED' } });
    expect(declined.body.details).toEqual({ decline_code: 'do_not_honor', advice: 'contact_bank' });
    expect(await pageOf(service, token)).toMatchObject({ status: 'failed', decline: { advice: 'contact_bank' } });
    expect(await pay(token)).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    expect(await timesCharged(service, payment.id)).toBe(1);
  });

  test('lets a browser pay with the shown client secret', async () => {
    const payment = await createIntent(service, await signIn(service));
    const token = await pageToken(service, payment.id);
    const { client_secret: clientSecret } = await pageOf(service, token);
    await confirmInBrowser(service, { ...payment, client_secret: clientSecret }, VISA);
    await service.settle();
    expect(await pageOf(service, token)).toMatchObject({ status: 'succeeded', client_secret: null });
  });
});
