import { describe, expect, test } from 'vitest';
import { closedSlots } from '../../infra/local/closed-slots.ts';

describe('what the start says of slots', () => {
  const env = {
    PROVIDER_A: 'stripe',
    PROVIDER_A_API_KEY: 'sk_test_1',
    PROVIDER_B: 'paypal',
    PROVIDER_B_CLIENT_ID: 'id',
    PROVIDER_C: 'square',
    PROVIDER_C_ACCESS_TOKEN: 'token',
    PROVIDER_C_LOCATION_ID: 'here',
    PROVIDER_C_SIGNATURE_KEY: 'key',
    PROVIDER_C_NOTIFICATION_URL: 'https://api.example/webhooks/provider_c',
  };

  test('is a line for each that is closed or deaf, and nothing of the others', async () => {
    expect(await closedSlots(env)).toEqual([
      'provider_a takes no webhooks: what verifies those of stripe is missing',
      'provider_b is closed: keys of paypal are missing',
      'provider_d is closed: it is bound to no provider',
    ]);
  });
});
