import { describe, expect, test } from 'vitest';
import { parseSettings } from '../../shared/core/settings.ts';
import { pageSettings } from '../../shared/hosted-pages/page-settings.ts';
import { pagePolicy, vendorScripts } from '../../shared/hosted-pages/vendor-scripts.ts';

const OFF = { PROVIDER_A: '', PROVIDER_B: '', PROVIDER_C: '', PROVIDER_D: '' };
const STRIPE = { PROVIDER_A: 'stripe', PROVIDER_A_API_KEY: 'sk', PROVIDER_A_PUBLISHABLE_KEY: 'pk_live_1' };
const PAYPAL = { PROVIDER_B: 'paypal', PROVIDER_B_CLIENT_ID: 'c', PROVIDER_B_CLIENT_SECRET: 's' };
const SQUARE = {
  PROVIDER_C: 'square',
  PROVIDER_C_ACCESS_TOKEN: 'EAAA1',
  PROVIDER_C_LOCATION_ID: 'L1',
  PROVIDER_C_APPLICATION_ID: 'sq0idp-1',
};
const SANDBOX = {
  PROVIDER_C_APPLICATION_ID: 'sandbox-sq0idb-1',
  PROVIDER_C_BASE_URL: 'https://connect.squareupsandbox.com',
};

const scriptsWith = (env: Readonly<Record<string, string>>) =>
  vendorScripts(pageSettings(parseSettings({ STAGE: 'local', ...OFF, ...env })));
const linesWith = (env: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    pagePolicy(scriptsWith(env))
      .split('; ')
      .map((line): [string, string] => [line.split(' ')[0] ?? '', line.slice(line.indexOf(' ') + 1)]),
  );

describe('the content policy of the hosted page', () => {
  test('allows only the page itself if no provider is configured', () => {
    expect(linesWith({})).toEqual({
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': "'self'",
      'font-src': "'none'",
      'connect-src': "'self'",
      'frame-src': "'none'",
      'img-src': "'self' data:",
      'frame-ancestors': "'none'",
      'base-uri': "'none'",
      'form-action': "'none'",
    });
  });

  test('allows Stripe’s hosts for a Stripe slot, and no host for PayPal', () => {
    expect(linesWith({ ...STRIPE, ...PAYPAL })).toMatchObject({
      'script-src': "'self' https://js.stripe.com",
      'style-src': "'self'",
      'connect-src': "'self' https://api.stripe.com",
      'frame-src': 'https://js.stripe.com https://hooks.stripe.com',
    });
  });

  test('allows Square’s hosts, and any frame for the bank’s authentication', () => {
    const lines = linesWith(SQUARE);
    expect(lines['script-src']).toBe("'self' https://web.squarecdn.com");
    expect(lines['connect-src']).toBe("'self' https://pci-connect.squareup.com https://web.squarecdn.com");
    expect(lines['frame-src']).toBe('https:');
    expect(lines['style-src']).toContain("'unsafe-inline'");
    expect(lines['font-src']).toContain('squarecdn.com');
  });

  test('allows the sandbox hosts for a slot in test mode', () => {
    const policy = pagePolicy(scriptsWith({ ...SQUARE, ...SANDBOX }));
    expect(policy).toContain('https://sandbox.web.squarecdn.com');
    expect(policy).toContain('https://pci-connect.squareupsandbox.com');
    expect(policy).not.toContain('https://pci-connect.squareup.com');
  });
});

describe('the scripts of the hosted page', () => {
  test('come from the vendor of each slot', () => {
    expect(scriptsWith({ ...STRIPE, ...PAYPAL, ...SQUARE }).map(({ slot, url }) => [slot, url])).toEqual([
      ['provider_a', 'https://js.stripe.com/v3/'],
      ['provider_c', 'https://web.squarecdn.com/v1/square.js'],
    ]);
  });

  test('come from the simulator if the base URL names it', () => {
    const [script] = scriptsWith({ ...STRIPE, PROVIDER_A_BASE_URL: 'http://127.0.0.1:3000/_local/providers/stripe' });
    expect(script?.url).toBe('http://127.0.0.1:3000/_local/providers/stripe/stripe.js');
    expect(script?.sources.script).toEqual(['http://127.0.0.1:3000']);
  });
});
