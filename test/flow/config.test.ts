import { describe, expect, test } from 'vitest';
import { SECRET_SETTINGS } from '../../infra/deploy/stage/settings.ts';
import { withHost } from './host.ts';

describe('GET /config', () => {
  const service = withHost();

  test('lists each provider that accepts payments, without credentials, cached for five minutes', async () => {
    const answer = await service.get('/config');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
    expect(answer.body).toEqual({
      success: true,
      data: {
        default_provider: 'provider_a',
        providers: [
          {
            provider_id: 'provider_a',
            provider: 'stripe',
            test: true,
            publishable_key: 'pk_test_local_provider_a',
            confirms_in: 'browser',
            saves_methods: true,
            captures_later: true,
          },
          {
            provider_id: 'provider_b',
            provider: 'paypal',
            test: true,
            client_id: 'local_provider_b_client',
            confirms_in: 'redirect',
            saves_methods: true,
            captures_later: true,
          },
          {
            provider_id: 'provider_c',
            provider: 'square',
            test: true,
            application_id: 'sandbox-sq0idb-local',
            location_id: 'LOCAL',
            confirms_in: 'server',
            saves_methods: true,
            captures_later: true,
          },
        ],
      },
    });
  });
});

describe('GET /config of a live installation', () => {
  /** One planted value per secret setting. No response contains a planted value. */
  const planted = Object.fromEntries(
    [...SECRET_SETTINGS, 'PROVIDER_A_WEBHOOK_ID', 'PROVIDER_D_MERCHANT_ID', 'PROVIDER_D_PUBLIC_KEY'].map((name) => [
      name,
      `whsec_${Buffer.from(`planted ${name} 0123456789`).toString('base64')}`,
    ]),
  );
  const service = withHost({
    env: {
      ...planted,
      PROVIDER_A: 'square',
      PROVIDER_A_APPLICATION_ID: 'sq0idp-live',
      PROVIDER_A_LOCATION_ID: 'L1',
      PROVIDER_B: '',
      PROVIDER_C: 'stripe',
      PROVIDER_C_BASE_URL: 'https://api.stripe.com',
      PROVIDER_C_PUBLISHABLE_KEY: 'pk_live_1',
    },
  });

  test('marks live keys as live, omits slots that are off, and contains no secret', async () => {
    const { body } = await service.get('/config');
    expect(body.data).toEqual({
      default_provider: 'provider_a',
      providers: [
        {
          provider_id: 'provider_a',
          provider: 'square',
          test: false,
          application_id: 'sq0idp-live',
          location_id: 'L1',
          confirms_in: 'server',
          saves_methods: true,
          captures_later: true,
        },
        {
          provider_id: 'provider_c',
          provider: 'stripe',
          test: false,
          publishable_key: 'pk_live_1',
          confirms_in: 'browser',
          saves_methods: true,
          captures_later: true,
        },
      ],
    });
    const text = JSON.stringify(body);
    for (const secret of Object.values(planted)) expect(text).not.toContain(secret);
  });
});
