import { expect, test } from 'vitest';
import { HOUR_MS, iso } from '../../shared/core/time.ts';
import { methodBody } from '../builders/payer.ts';
import { withHost } from './host.ts';
import { asMerchant, createKey, newAdmin } from './keys.ts';

/** A host with the default of KEY_DECLINES_PER_HOUR, 300. */
const service = withHost({ frozen: true, env: { RATE_LIMITS: 'on' } });

test('a service key gets 429 after 300 guest declines in an hour', async () => {
  const options = asMerchant(await createKey(service, await newAdmin(service)));
  // The window of the limit is a whole hour of the clock.
  await service.moveTo(iso(Math.ceil(service.now() / HOUR_MS) * HOUR_MS));
  const statuses: number[] = [];
  for (let at = 0; at < 500; at += 1) {
    const guest_data = { email: `guest.${at}@example.com`, name: 'Guest' };
    const body = methodBody({ guest_data, provider_payment_method_token: 'pm_card_visa_chargeDeclined' });
    statuses.push((await service.post('/payment-methods', body, options)).status);
    await service.advance(2);
  }
  expect(statuses).toEqual([...Array(300).fill(402), ...Array(200).fill(429)]);
});
