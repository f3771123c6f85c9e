import Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { LOCAL_SECRETS } from '../../infra/local/machine/environment.ts';
import { guestIntentBody, intentBody, VISA } from '../builders/intent.ts';
import { intentEvent } from '../builders/provider-event.ts';
import { HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { confirm, confirmInBrowser, createIntent, itemsOf, signIn } from './flow.ts';
import { type ParsedJson, withHost } from './host.ts';

/** Secrets are planted in every input, and no log, event, message or stored item may contain them. */
const lines: string[] = [];
const service = withHost({
  frozen: true,
  env: { LOG_LEVEL: 'INFO', EXTERNAL_WEBHOOKS_ENABLED: 'true' },
  log: (line) => lines.push(line),
});

/** Planted secrets by kind; each value is unique. */
const planted = new Map<string, string>([
  ['body text', 'canary-body-3f1c'],
  ['metadata', 'canary-metadata-77aa'],
  ['guest name', 'Canary Name 5521'],
  ['guest phone', '+15550142387'],
  ['guest e-mail', 'canary.guest.9b2e@example.com'],
  ['user e-mail', 'canary.user.c0de@example.com'],
  ['wrong session', 'canary-wrong-session-41d0'],
  ['wrong bearer', 'canary-wrong-bearer-8e12'],
  ['wrong guest token', 'canary-wrong-token-6aa9'],
  ['path', 'canary-path-90fe'],
  ['search', 'canary-search-12ab'],
  ['idempotency key', 'canary-key-77b0'],
  ['card number', '4000056655665556'],
  ['secret in an event', 'canary-event-secret-e1f2'],
  ['secret in a list of an event', 'canary-listed-secret-0c3d'],
  ['secret below a secret of an event', 'canary-nested-secret-5a6b'],
  ['secret in a link of an event', 'canarylinksecret9d8e'],
  ['event e-mail', 'canary.event.17c4@example.com'],
  ['event of a refused signature', 'canary-refused-event-4b5c'],
  ['API key', LOCAL_SECRETS.PROVIDER_A_API_KEY],
  ['webhook secret', LOCAL_SECRETS.PROVIDER_A_WEBHOOK_SECRET],
  ['guest token secret', LOCAL_SECRETS.GUEST_TOKEN_SECRET],
  ['outbound webhook secret', LOCAL_SECRETS.WEBHOOK_1_SECRET],
]);
const plant = (what: string): string => planted.get(what) ?? '';

/** The kinds of secrets that a text contains. */
const foundIn = (text: string, except: readonly string[] = []): string[] =>
  [...planted].filter(([what, value]) => !except.includes(what) && text.includes(value)).map(([what]) => what);

/** Everything that functions say goes to standard output or error. */
const listen = (): void => {
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((chunk) => {
      lines.push(String(chunk));
      return true;
    });
  }
};

let canaryPayment: ParsedJson;

const actAsUser = async (): Promise<void> => {
  const user = await signIn(service, { email: plant('user e-mail') });
  planted.set('session', user.session);
  planted.set('bearer token', user.token);
  const texts = { description: plant('body text'), metadata: { note: plant('metadata'), password: plant('metadata') } };
  canaryPayment = await createIntent(service, user, texts);
  planted.set('client secret', canaryPayment.client_secret);
  const { id, provider_payment_id } = canaryPayment;
  const keyed = { ...user.options, idempotencyKey: plant('idempotency key') };
  await service.post('/payments', intentBody(texts), keyed);
  await confirm(service, id, { ...keyed, body: { payment_method_id: 'pm_card_visa_chargeDeclined' } });
  await confirm(service, id, { bearer: user.token, body: { payment_method_id: 'tok_visa' } });
  await service.get(`/payments/${id}?session_id=${user.session}`);
  await service.get(`/payments?search=${plant('search')}`, user.options);
  await service.post(`/payments/sync/${provider_payment_id}`, {}, user.options);
  await service.get(`/payments/${plant('path')}`, user.options);
  await service.get(`/${plant('path')}/${plant('path')}?token=${plant('wrong guest token')}`);
  await service.post('/payments/intents', { ...texts, total_cents: plant('body text') }, user.options);
  await service.request('POST', '/payments/intents', { ...user.options, body: `{"x":"${plant('body text')}` });
  await service.get('/payments', { session: plant('wrong session') });
  await service.get('/payments', { bearer: plant('wrong bearer') });
  await service.get(`/payments?token=${plant('wrong guest token')}`);
  await service.get(`/payments?session_id=${plant('wrong session')}`);
};

const actAsGuest = async (): Promise<void> => {
  const guest = { email: plant('guest e-mail'), name: plant('guest name'), phone: plant('guest phone') };
  const { body } = await service.post('/payments/intents', guestIntentBody({}, guest));
  planted.set('guest token', body.guest_token);
  planted.set('client secret of the guest', body.client_secret);
  await confirmInBrowser(service, body, VISA);
  await service.get(`/payments/${body.id}?token=${body.guest_token}`);
  await service.get('/payments', { guestToken: body.guest_token });
  await service.get(`/payments/guest/${plant('guest e-mail')}`);
};

/** Failing requests: at the provider, at the identity service and inside the service. */
const actInTrouble = async (): Promise<void> => {
  const user = await signIn(service);
  const texts = { description: plant('body text'), metadata: { note: plant('metadata') } };
  for (const action of ['reset', 'error_500', 'malformed', 'rate_limit']) {
    await service.fault({ path: '/v1/payment_intents', times: 2, action });
    await service.post('/payments/intents', intentBody({ ...texts, payment_method_id: VISA }), user.options);
    await service.clearFaults();
  }
  await service.identity({ available: false });
  await service.get('/payments', { session: plant('wrong session') });
  await service.identity({ available: true });
  await service.advance(10 * MINUTE_SECONDS);
};

const actAsProvider = async (): Promise<void> => {
  const object = {
    client_secret: plant('secret in an event'),
    secrets: [plant('secret in a list of an event')],
    credentials: { inner: plant('secret below a secret of an event') },
    receipt_email: plant('event e-mail'),
    card: { number: plant('card number'), note: `it is ${plant('card number')}` },
    next_action: {
      redirect_to_url: { url: `https://x.example/?a=1&client_secret=${plant('secret in a link of an event')}` },
    },
    metadata: { payment_id: canaryPayment.id },
  };
  await service.sendEvent(intentEvent(canaryPayment, 'payment_intent.processing', { vocabulary: 'native', object }));
  const unknown = { id: 'x_1', ...object };
  await service.sendEvent({ type: 'something.unknown', vocabulary: 'native', object: unknown });
  const refused = { ...unknown, note: plant('event of a refused signature') };
  await service.sendEvent({ type: 'payment_intent.succeeded', object: refused, signature: 'invalid' });
  const payload = `{"broken":"${plant('body text')}`;
  const secret = LOCAL_SECRETS.PROVIDER_A_WEBHOOK_SECRET;
  const timestamp = Math.floor(service.now() / 1_000);
  const header = Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });
  await service.request('POST', '/webhooks/provider_a', { body: payload, headers: { 'stripe-signature': header } });
};

beforeAll(async () => {
  listen();
  await actAsUser();
  await actAsGuest();
  await actInTrouble();
  await service.settle();
  await actAsProvider();
  await service.settle();
  await service.advance(HOUR_SECONDS);
}, 60_000);

afterAll(() => {
  vi.restoreAllMocks();
});

describe('a secret, token, e-mail or body', () => {
  test('never appears in a log line', () => {
    const said = lines.join('\n');
    const messages = lines.flatMap((line) => line.split('\n')).filter((line) => line.startsWith('{'));
    expect(messages.length).toBeGreaterThan(60);
    for (const message of [
      'request served',
      'request failed',
      'provider called',
      'provider event applied',
      'provider event refused',
      'due work done',
      'changes published',
      'webhook dispatched',
      'webhook delivered',
    ]) {
      expect(said).toContain(`"message":"${message}"`);
    }
    expect(planted.size).toBe(28);
    expect(foundIn(said)).toEqual([]);
  });

  test('never appears in a webhook log entry', async () => {
    const entries = await itemsOf(service, 'LOG#');
    expect(entries.length).toBeGreaterThan(4);
    expect(entries.some(({ eventType }) => eventType === 'something.unknown')).toBe(true);
    expect(new Set(entries.map(({ direction }) => direction))).toEqual(new Set(['inbound', 'outbound']));
    // The provider stores the payment's description too; it is no secret.
    expect(foundIn(JSON.stringify(entries), ['body text'])).toEqual([]);
    const [processing] = entries.filter(({ eventType }) => eventType === 'payment_intent.processing');
    expect(processing.payload.data.object).toMatchObject({ amount: 2_500, metadata: { payment_id: canaryPayment.id } });
  });
});

test('the table contains no credential, and client secrets only in their payments', async () => {
  const items = (await itemsOf(service)).filter(({ sk }) => sk !== 'EVT');
  const ofPayments = ['body text', 'metadata', 'guest name', 'guest phone', 'guest e-mail', 'user e-mail'];
  // The target's body holds the payer's e-mail address.
  const allowed: Readonly<Record<string, readonly string[]>> = {
    PAY: ofPayments,
    IDEM: ofPayments,
    DLV: ['guest e-mail', 'user e-mail'],
  };
  for (const { sk, clientSecret: _own, ...item } of items) {
    const found = foundIn(JSON.stringify(item), allowed[sk] ?? ['body text']);
    expect({ pk: item.pk, sk, found }).toEqual({ pk: item.pk, sk, found: [] });
  }
});

test('the bus carries no credential and no client secret', async () => {
  const said = JSON.stringify(await service.busEvents());
  expect(said).toContain(canaryPayment.id);
  expect(foundIn(said, ['guest e-mail', 'user e-mail'])).toEqual([]);
});
