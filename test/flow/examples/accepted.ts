/** @module The API document's 202 responses to requests whose outcome at the provider is unknown. */
import { exampleRequests } from '../../../functions/api/example-requests.ts';
import type { RequestOptions, TestAnswer, TestHost } from '../host.ts';
import { tokenIn } from '../pages.ts';
import type { ParsedJson } from '../routes.ts';
import type { Steady } from './steadied.ts';

/** Sends requests while the provider does not respond to their calls. @returns the responses by operation */
export const acceptedOf = async (service: TestHost, steady: Steady): Promise<Readonly<Record<string, unknown>>> => {
  const [created, refund] = [exampleRequests['payments.create-intent'], exampleRequests['refunds.create']];
  const intent = await service.post('/payments/intents', created?.body, { session: 'demo-owner' });
  await service.settle();
  const unanswered = async (path: string, send: () => Promise<TestAnswer>) => {
    await service.fault({ provider: 'provider_a', method: 'POST', path, action: 'reset', times: 1 });
    const response = await send();
    if (response.status !== 202) throw new Error(`${response.status}: ${JSON.stringify(response.body)}`);
    return response;
  };
  const confirmed = await unanswered('/confirm', () =>
    service.post(`/payments/confirm/${intent.body.id}`, {}, { session: 'demo-owner' }),
  );
  const refunded = await unanswered('/v1/refunds', () =>
    service.post(`/payments/${refund?.params?.['id']}/refunds`, refund?.body, { session: 'demo-admin' }),
  );
  const held = async (): Promise<string> => {
    const body = { ...Object(created?.body), capture_method: 'manual' };
    const { body: payment } = await service.post('/payments/intents', body, { session: 'demo-owner' });
    await service.post(`/payments/confirm/${payment.id}`, {}, { session: 'demo-owner' });
    return payment.id;
  };
  const [toCapture, toRelease] = [await held(), await held()];
  const captured = await unanswered('/capture', () =>
    service.post(`/payments/${toCapture}/capture`, { total_cents: 2_500 }, { session: 'demo-admin' }),
  );
  const released = await unanswered('/cancel', () =>
    service.post(`/payments/intents/${toRelease}/cancel`, {}, { session: 'demo-admin' }),
  );
  const { id } = exampleRequests['subscriptions.change']?.params ?? {};
  const changed = await unanswered('/confirm', () =>
    service.post(`/subscriptions/${id}/change`, { quantity: 2 }, { session: 'demo-owner' }),
  );
  const tokenTo = async (path: string): Promise<RequestOptions> => {
    const answer: ParsedJson = await service.post(`${path}/link`, {}, { session: 'demo-admin' });
    return { headers: { 'x-link-token': tokenIn(answer.body.url) } };
  };
  const due = await service.post('/payments/intents', created?.body, { session: 'demo-owner' });
  const page = await tokenTo(`/payments/${due.body.id}`);
  const paid = await unanswered('/confirm', () => service.post('/pay/confirm', {}, page));
  const authenticated = await service.post(
    '/pay/method',
    { provider_payment_method_token: 'pm_card_authenticationRequired' },
    await tokenTo(`/subscriptions/${id}`),
  );
  return {
    'pay.confirm': steady.shown('pay.confirm 202', paid.body),
    'pay.method': steady.shown('pay.method 202', authenticated.body),
    'payments.cancel-intent': steady.shown('payments.cancel-intent 202', released.body),
    'payments.capture': steady.shown('payments.capture 202', captured.body),
    'payments.confirm': steady.shown('payments.confirm 202', confirmed.body),
    'subscriptions.change': steady.shown('subscriptions.change 202', changed.body),
    'refunds.create': steady.shown('refunds.create 202', refunded.body),
  };
};
