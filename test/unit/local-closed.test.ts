import { describe, expect, test } from 'vitest';
import { PLAIN_SETTINGS, SECRET_SETTINGS } from '../../infra/deploy/stage/settings.ts';
import { disabledParts, readOutbound } from '../../infra/local/control/disabled-parts.ts';
import { isSecretSetting, reportedSettings } from '../../infra/local/control/start-report.ts';
import { LOCAL_SECRETS } from '../../infra/local/machine/environment.ts';

const NODE_2 = { WEBHOOK_2_ENABLED: 'true', WEBHOOK_2_URL: 'https://target.example/' };

describe('the list of closed features of a host', () => {
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
  const reasonsOf = async (more: Readonly<Record<string, string>>) =>
    (await disabledParts({ ...env, ...more })).map(({ reason }) => reason);

  test('lists each slot without keys or a webhook secret, each closed kind of credential, and closed outbound webhooks', async () => {
    expect(await reasonsOf({})).toEqual([
      'provider_a accepts no webhooks: the setting that verifies webhooks of stripe is missing',
      'provider_b is closed: keys of paypal are missing',
      'provider_d is closed: it is bound to no provider',
      'outbound webhooks are closed: EXTERNAL_WEBHOOKS_ENABLED is not true',
      'guest tokens are closed: GUEST_TOKEN_SECRET is empty',
      'bearer tokens are closed: IDENTITY_JWKS_URI names no keys',
    ]);
  });

  test('does not list an open feature', async () => {
    const open = {
      GUEST_TOKEN_SECRET: 'secret',
      IDENTITY_JWKS_URI: 'https://identity.example/jwks',
      EXTERNAL_WEBHOOKS_ENABLED: 'true',
    };
    const reasons = await reasonsOf({ ...open, ...NODE_2 });
    expect(reasons.filter((reason) => !reason.startsWith('provider_'))).toEqual([]);
    expect(readOutbound(open, false).closed).toBe('outbound webhooks are closed: no target is named');
  });

  test('lists the variables that disable configured targets', () => {
    const closed = (env: Readonly<Record<string, string>>) => readOutbound(env, false).closed;
    const { WEBHOOK_2_ENABLED: _, ...url } = NODE_2;
    const on = { EXTERNAL_WEBHOOKS_ENABLED: 'true' };
    expect(closed(NODE_2)).toBe('outbound webhooks are closed: EXTERNAL_WEBHOOKS_ENABLED is not true');
    expect(closed({ ...on, ...url })).toBe('outbound webhooks are closed: WEBHOOK_2_ENABLED is not true');
    expect(closed(url)).toBe(
      'outbound webhooks are closed: EXTERNAL_WEBHOOKS_ENABLED and WEBHOOK_2_ENABLED are not true',
    );
    expect(readOutbound({ ...on, ...NODE_2, WEBHOOK_3_URL: 'https://three.example' }, false)).toEqual({
      targets: ['WEBHOOK_2'],
      closed: undefined,
      switchesOff: ['WEBHOOK_3_ENABLED'],
    });
  });
});

describe('the shown settings of a host', () => {
  test('include all settings that are not secret, and empty secrets', () => {
    const names = [...PLAIN_SETTINGS, ...SECRET_SETTINGS];
    const reported = reportedSettings(Object.fromEntries(names.map((name) => [name, 'x'])));
    expect(Object.keys(reported).toSorted()).toEqual(PLAIN_SETTINGS.toSorted());
    expect(reportedSettings({ PROVIDER_A_API_KEY: '', PROVIDER_B_CLIENT_SECRET: 's' })).toEqual({
      PROVIDER_A_API_KEY: '',
    });
    expect(Object.keys(LOCAL_SECRETS).filter((name) => /SECRET$/.test(name) && !isSecretSetting(name))).toEqual([]);
  });

  test('do not include the address of a webhook target', () => {
    expect(reportedSettings({ WEBHOOK_1_URL: 'https://hooks.slack.com/T/B/key', EXTERNAL_WEBHOOK_URLS: 'x' })).toEqual(
      {},
    );
  });
});
