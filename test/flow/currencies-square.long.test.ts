import { expect, test } from 'vitest';
import { guestIntentBody, intentBody } from '../builders/intent.ts';
import { signIn } from './flow.ts';
import { withHost } from './host.ts';
import { unchanged } from './unchanged.ts';

/** At Square, the location sets the currency. A function reads the location once. */
const service = withHost({ frozen: true });
const atSquare = intentBody({ provider_id: 'provider_c' });

test.each(['error_500', 'timeout_before', 'reset'])(
  'a payment at Square is refused without a write while its currency is unknown (%s)',
  async (action) => {
    const user = await signIn(service);
    await unchanged(service, async () => {
      await service.fault({ provider: 'provider_c', path: '/v2/locations', action, times: 1 });
      expect(await service.post('/payments/intents', atSquare, user.options)).toMatchObject({
        status: 503,
        body: { code: 'PROVIDER_UNAVAILABLE' },
      });
      await service.clearFaults();
    });
  },
);

test('a currency that Square never accepts is refused without a call to Square', async () => {
  await service.fault({ provider: 'provider_c', path: '/v2/locations', action: 'error_500', times: 1 });
  const refused = await service.post('/payments/intents', guestIntentBody({ ...atSquare, currency: 'KES' }));
  expect(refused).toMatchObject({ status: 400, body: { code: 'UNSUPPORTED_CURRENCY' } });
  await service.clearFaults();
});

test('the location is read once, and its currency is cached', async () => {
  const user = await signIn(service);
  await service.clearProviderRequests();
  for (const [currency, status] of [
    ['USD', 201],
    ['EUR', 400],
    ['USD', 201],
  ] as const) {
    const answer = await service.post('/payments/intents', { ...atSquare, currency }, user.options);
    expect(answer).toMatchObject({ status });
  }
  const sent = (await service.providerRequests()).map(({ path }: { path: string }) => path);
  expect(sent).toEqual(['/v2/locations/LOCAL', '/v2/orders', '/v2/orders']);
});
