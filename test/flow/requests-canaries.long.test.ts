/**
 * @module A thousand canaries. Every route receives secrets in every part of a request, payers use their own tokens and
 * addresses, and provider events contain secrets. The test then searches all stored items, queue messages, bus events
 * and logs for each canary.
 */

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { endpoints, triggers } from '../../functions/api/catalogue.ts';
import { LOCAL_SECRETS } from '../../infra/local/machine/environment.ts';
import { loadEntry } from '../../infra/local/machine/invoke.ts';
import { cardNumber } from '../builders/card-number.ts';
import { guestIntentBody, intentBody, VISA } from '../builders/intent.ts';
import { methodBody } from '../builders/payer.ts';
import { HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { confirm, createIntent, itemsOf, signIn } from './flow.ts';
import { withHost } from './host.ts';
import type { ParsedJson } from './routes.ts';

type Kind = 'secret' | 'token' | 'card number' | 'e-mail' | 'description' | 'metadata' | 'detail';

const canaries = new Map<string, { readonly kind: Kind; readonly planted: string }>();

const keep = (kind: Kind, planted: string, value: string): string => {
  canaries.set(value, { kind, planted });
  return value;
};
const secret = (planted: string): string => keep('secret', planted, `canarysecret${canaries.size}x`);
const token = (planted: string): string => keep('token', planted, `canarytoken${canaries.size}x`);
const email = (planted: string): string => keep('e-mail', planted, `canary.mail.${canaries.size}@example.com`);
const description = (planted: string): string => keep('description', planted, `canarytext${canaries.size}x`);
const metadata = (planted: string) => ({ note: keep('metadata', planted, `canarymetadata${canaries.size}x`) });
const detail = (planted: string): string => keep('detail', planted, `canarydetail${canaries.size}x`);
const card = (planted: string): string =>
  keep('card number', planted, cardNumber(`400000${canaries.size}`.padEnd(15, '0')));

const lines: string[] = [];
/** The queue messages and bus events that workers receive, except readers of the table's stream. */
const handed: string[] = [];
const byStream = new Set(triggers.filter(({ kind }) => kind === 'stream').map(({ id }) => id));
const workers = new Set(triggers.map(({ id }) => id).filter((id) => !byStream.has(id)));

const service = withHost({
  frozen: true,
  env: { LOG_LEVEL: 'INFO', EXTERNAL_WEBHOOKS_ENABLED: 'true', ALLOW_RAW_CARDS: 'true' },
  log: (line) => lines.push(line),
  catalogue: {
    endpoints,
    triggers,
    load: async (id) => {
      const handler = await loadEntry(id);
      return (event, context) => {
        if (workers.has(id)) handed.push(JSON.stringify(event));
        return handler(event, context);
      };
    },
  },
});

const listen = (): void => {
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((chunk) => {
      lines.push(String(chunk));
      return true;
    });
  }
};

/** Calls each route as an anonymous and as a signed-in caller, with secrets in path, query, headers and body. */
const askEveryRoute = async (): Promise<void> => {
  const { session } = await signIn(service, { is_admin: true });
  for (const { id, method, path, body } of endpoints) {
    const at = (where: string): string => `${where} of ${id}`;
    const target = path.replaceAll(/\{\w+\}/g, () => token(at('path')));
    const query = `token=${token(at('query'))}&client_secret=${secret(at('query'))}`;
    const taken = {
      client_secret: secret(at('body')),
      verification_token: token(at('body')),
      cvc: secret(at('body')),
      card: { number: card(at('body')) },
      guest_data: { email: email(at('body')), password: secret(at('body')) },
    };
    const sent = body === null ? {} : { body: taken };
    const keyed = { ...sent, idempotencyKey: token(at('key')) };
    await service.request(method, `${target}?${query}`, { ...sent, session: token(at('session')) });
    await service.request(method, target, { ...sent, bearer: token(at('bearer')) });
    await service.request(method, target, { ...sent, guestToken: token(at('guest token')) });
    await service.request(method, target, { ...keyed, session });
  }
};

const payAsUser = async (): Promise<void> => {
  const user = await signIn(service, { email: email('user') });
  keep('token', 'session', user.session);
  keep('token', 'bearer', user.token);
  const texts = { description: description('payment'), metadata: metadata('payment') };
  const payment = await createIntent(service, user, texts);
  keep('secret', 'client secret', payment.client_secret);
  const options = { ...user.options, idempotencyKey: token('key of a confirm') };
  await confirm(service, payment.id, { ...options, body: { payment_method_id: VISA } });
  await confirm(service, payment.id, { bearer: user.token, body: { payment_method_id: token('one-time token') } });
  const raw = { card_number: card('raw card'), card_exp_month: '12', card_exp_year: '2030', card_cvc: '123' };
  await service.post('/payment-methods', { ...methodBody(), payment_method_id: undefined, ...raw }, user.options);
  await service.get(`/payments?session_id=${user.session}`);
};

const payAsGuest = async (): Promise<void> => {
  const { body } = await service.post(
    '/payments/intents',
    guestIntentBody({}, { email: email('guest'), name: detail('guest name') }),
  );
  keep('token', 'guest token', body.guest_token);
  keep('secret', 'client secret', body.client_secret);
  await confirm(service, body.id, { guestToken: body.guest_token, body: { payment_method_id: VISA } });
  await service.get(`/payments/${body.id}?token=${body.guest_token}`);
};

/** Requests that fail at the provider, at the identity service or in the service itself. */
const askInTrouble = async (): Promise<void> => {
  const user = await signIn(service);
  for (const action of ['reset', 'error_500', 'malformed', 'rate_limit']) {
    await service.fault({ path: '/v1/payment_intents', times: 2, action });
    const texts = { description: description(action), metadata: metadata(action) };
    await service.post('/payments/intents', intentBody({ ...texts, payment_method_id: VISA }), user.options);
    await service.clearFaults();
  }
  await service.request('POST', '/payments/intents', { ...user.options, body: `{"x":"${detail('malformed JSON')}` });
  await service.post('/payments/intents', { total_cents: detail('amount') }, user.options);
  await service.identity({ available: false });
  await service.get('/payments', { session: token('session during an outage') });
  await service.identity({ available: true });
};

const SECRET_FIELDS = ['client_secret', 'access_token', 'password', 'signature', 'cvc', 'api_key', 'private_key'];

const tellFromProviders = async (): Promise<void> => {
  for (const provider of ['provider_a', 'provider_b', 'provider_c']) {
    for (const type of ['payment_intent.succeeded', 'customer.updated', 'something.unknown']) {
      const where = `event ${type} of ${provider}`;
      const object = {
        id: `obj_${canaries.size}`,
        ...Object.fromEntries(SECRET_FIELDS.map((name) => [name, secret(where)])),
        receipt_email: email(where),
        note: `paid with ${card(where)}`,
        list: [{ token: token(where) }],
        secrets: [secret(where)],
        credentials: { inner: secret(where) },
        redirect: { url: `https://x.example/?a=1&client_secret=${secret(where)}` },
      };
      await service.sendEvent({ provider, type, vocabulary: 'contract', object });
      const refused = { ...object, note: detail(`${where} with an invalid signature`) };
      await service.sendEvent({ provider, type, vocabulary: 'contract', object: refused, signature: 'invalid' });
    }
  }
};

/** The kinds of log lines that this file's requests, events and due work must cause. */
const MESSAGES = [
  ...['request served', 'request failed', 'provider called', 'provider event applied', 'provider event refused'],
  ...['due work done', 'changes published', 'webhook dispatched', 'webhook delivered'],
];

const PEOPLE = 20;

beforeAll(async () => {
  listen();
  for (const [name, value] of Object.entries(LOCAL_SECRETS)) keep('secret', name, value);
  await askEveryRoute();
  for (let person = 0; person < PEOPLE; person += 1) {
    await payAsUser();
    await payAsGuest();
  }
  await askInTrouble();
  await service.settle();
  await tellFromProviders();
  await service.advance(10 * MINUTE_SECONDS);
  await service.advance(HOUR_SECONDS);
}, 120_000);

afterAll(() => {
  vi.restoreAllMocks();
});

/** The canaries in a text, except the kinds that belong there. */
const foundIn = (text: string, belongs: readonly Kind[] = []): string[] =>
  [...canaries]
    .filter(([value, { kind }]) => !belongs.includes(kind) && text.includes(value))
    .map(([value, { kind, planted }]) => `${kind} of ${planted}: ${value}`);

/** Events of payments have the payer's e-mail address and the payment's metadata. */
const OF_EVENTS: readonly Kind[] = ['e-mail', 'metadata'];

describe('a planted secret, token, card number or address', () => {
  test('appears in no log line', () => {
    expect(canaries.size).toBeGreaterThanOrEqual(1_000);
    expect(new Set([...canaries.values()].map(({ kind }) => kind)).size).toBe(7);
    for (const message of MESSAGES) expect(lines.join('\n')).toContain(`"message":"${message}"`);
    expect(lines.length).toBeGreaterThan(endpoints.length);
    expect(foundIn(lines.join('\n'))).toEqual([]);
  });

  test('appears in no queue message or bus event, except payer fields in payment events', async () => {
    expect(handed.length).toBeGreaterThan(PEOPLE);
    expect(foundIn(handed.join('\n'), OF_EVENTS)).toEqual([]);
    expect(foundIn(JSON.stringify(await service.busEvents()), OF_EVENTS)).toEqual([]);
  });

  test('appears only in the expected table items', async () => {
    // A record contains its owner's address, and a payment also its live client secret.
    // A delivery contains the payload for its target.
    const belongs: Readonly<Record<string, readonly Kind[]>> = {
      DLV: OF_EVENTS,
      PAY: ['e-mail', 'description', 'metadata', 'detail'],
      IDEM: ['e-mail', 'description', 'metadata', 'detail'],
      CUS: ['e-mail', 'detail'],
      // The provider stores the description and includes it in its events.
      LOG: ['description', 'metadata'],
    };
    const items: ParsedJson[] = (await itemsOf(service)).filter(({ sk }) => sk !== 'EVT');
    expect(items.length).toBeGreaterThan(PEOPLE * 5);
    const leaks = items.flatMap(({ clientSecret: _own, methodRef: _given, ...item }) =>
      foundIn(JSON.stringify(item), belongs[item.sk]).map((leak) => `${item.pk} ${item.sk}: ${leak}`),
    );
    expect(leaks).toEqual([]);
  });
});
