import { describe, expect, test } from 'vitest';
import { LOCAL_SECRETS } from '../../infra/local/machine/environment.ts';
import { paypalWebhooks } from '../../infra/simulator/paypal/operations/webhooks.ts';
import { squareWebhooks } from '../../infra/simulator/square/operations/webhooks.ts';
import { stripeWebhooks } from '../../infra/simulator/stripe/operations/webhooks.ts';
import { withHost } from './host.ts';

/** The function URL that Lambda assigns in addition to the route. Square signs this URL, not the URL of the route. */
const FUNCTION_URL = 'https://abcdefghijklmnop.lambda-url.eu-central-1.on.aws/';

const service = withHost({
  frozen: true,
  env: { PROVIDER_C_NOTIFICATION_URL: `https://api.example/webhooks/provider_c,${FUNCTION_URL}` },
});

/** The event of a function URL, with payload 2.0, the default route, no parameters and the root path. */
const eventOf = (raw: string, headers: Readonly<Record<string, string>>) => ({
  version: '2.0',
  routeKey: '$default',
  rawPath: '/',
  rawQueryString: '',
  headers,
  requestContext: {
    accountId: 'anonymous',
    apiId: 'abcdefghijklmnop',
    domainName: new URL(FUNCTION_URL).host,
    domainPrefix: 'abcdefghijklmnop',
    http: { method: 'POST', path: '/', protocol: 'HTTP/1.1', sourceIp: '192.0.2.7', userAgent: 'provider' },
    requestId: '6b0f2c1e-0000-4000-8000-000000000000',
    routeKey: '$default',
    stage: '$default',
    time: '10/Mar/2026:12:00:00 +0000',
    timeEpoch: service.now(),
  },
  body: Buffer.from(raw).toString('base64'),
  isBase64Encoded: true,
});

const slot = (adapter: 'stripe' | 'paypal' | 'square', webhookSecret: string) => ({
  adapter,
  webhookSecret,
  webhookUrl: FUNCTION_URL,
  apiKey: '',
});

describe("a function's own URL", () => {
  test.each([
    ['provider-a', 'charge.updated', stripeWebhooks, slot('stripe', LOCAL_SECRETS.PROVIDER_A_WEBHOOK_SECRET)],
    ['provider-b', 'CHECKOUT.ORDER.SAVED', paypalWebhooks, slot('paypal', LOCAL_SECRETS.PROVIDER_B_WEBHOOK_ID)],
    ['provider-c', 'inventory.count.updated', squareWebhooks, slot('square', LOCAL_SECRETS.PROVIDER_C_SIGNATURE_KEY)],
  ])('accepts a signed event of %s once, and no unsigned event', async (...[id, type, webhooks, given]) => {
    const created = Math.floor(service.now() / 1_000);
    const raw = JSON.stringify(
      webhooks.envelope({ id: `${id}-1`, type, object: { id: 'x', object: 'x' }, created, cause: undefined }),
    );
    const send = async (kind: 'valid' | 'invalid' | 'missing') => {
      const headers = webhooks.headersOf({ raw, slot: given, at: service.now(), kind });
      const answer = await service.host().invoke(`webhooks.${id}`, eventOf(raw, headers));
      const { statusCode, body } = answer as { statusCode: number; body: string };
      return { status: statusCode, body: JSON.parse(body) };
    };
    for (const kind of ['missing', 'invalid'] as const) {
      expect(await send(kind)).toMatchObject({ status: 401, body: { code: 'INVALID_WEBHOOK_SIGNATURE' } });
    }
    expect(await send('valid')).toMatchObject({ status: 200, body: { received: true, event_id: `${id}-1` } });
    expect(await send('valid')).toMatchObject({ status: 200, body: { received: true, duplicate: true } });
  });
});
