import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { identityChecks } from '../../infra/payctl/commands/identity-checks.ts';
import { parseSettings } from '../../shared/core/settings.ts';

interface Sent {
  readonly status: number;
  readonly body: string;
}
const json = (status: number, body: unknown): Sent => ({ status, body: JSON.stringify(body) });
type Answers = Readonly<Record<'session' | 'email' | 'lookup' | 'keys' | 'discovery', Sent | undefined>>;

const ADMIN = { user_id: 'u-1', email: 'ada@example.com', is_admin: true, expires_at: '2030-01-01T00:00:00Z' };
const KEYS = json(200, { keys: [{ kty: 'RSA', kid: 'k1', n: 'x', e: 'x' }] });

const kindOf = ({ url = '' }: IncomingMessage): keyof Answers => {
  if (url.startsWith('/sessions/')) return 'session';
  if (url.startsWith('/users?')) return 'email';
  if (url === '/jwks') return 'keys';
  return url === '/users/lookup' ? 'lookup' : 'discovery';
};

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** The checks of a service with these responses; undefined breaks the connection. */
const checksOf = async (
  answers: Partial<Answers> | ((base: string) => Partial<Answers>),
  env: Readonly<Record<string, string>> = {},
) => {
  let sent: Answers | undefined;
  const opened = createServer((request, response) => {
    const answer = sent?.[kindOf(request)];
    if (!answer) return void request.destroy();
    response.writeHead(answer.status, { 'content-type': 'application/json', location: '/login' }).end(answer.body);
  });
  server = opened;
  await new Promise<void>((resolve) => opened.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(opened.address() as AddressInfo).port}`;
  const discovery = json(200, {
    issuer: base,
    authorization_endpoint: `${base}/authorize`,
    token_endpoint: `${base}/token`,
    jwks_uri: `${base}/jwks`,
  });
  const right = { session: json(404, {}), email: json(404, {}), lookup: json(200, []), keys: KEYS, discovery };
  sent = { ...right, ...(typeof answers === 'function' ? answers(base) : answers) };
  const settings = parseSettings({
    IDENTITY_URL: base,
    IDENTITY_JWKS_URI: `${base}/jwks`,
    CONSOLE_OIDC_ISSUER: base,
    CONSOLE_OIDC_CLIENT_ID: 'console',
    ...env,
  });
  const checks = await identityChecks({ settings });
  return Object.fromEntries(checks.map(({ check, state, detail }) => [check, `${state}: ${detail}`]));
};

describe('the identity checks', () => {
  test('pass for a correct identity service', async () => {
    expect(await checksOf({})).toEqual({
      'identity service': 'ok: responds, with HTTP 404 for an unknown session',
      'bearer tokens': 'ok: keys that verify them are published: 1',
      'console sign-in': 'ok: the discovery document names the endpoints and the keys',
    });
  });

  test.each<[string, Partial<Answers>, RegExp]>([
    [
      'an admin session for any id',
      { session: json(200, ADMIN) },
      /\/sessions\/<unknown> returned HTTP 200 with user_id.*must return HTTP 404/,
    ],
    ['an empty session', { session: json(200, {}) }, /returned HTTP 200 with no fields; it must return HTTP 404/],
    ['null for a session', { session: json(200, null) }, /must return HTTP 404/],
    ['401 for an unknown session', { session: json(401, { error: 'no' }) }, /returned HTTP 401 with error; it must/],
    ['a redirect to a sign-in page', { session: { status: 302, body: '' } }, /returned HTTP 302 without JSON/],
    ['a page of HTML', { session: { status: 200, body: '<html>' } }, /returned HTTP 200 without JSON/],
    ['a server error', { session: json(500, {}) }, /returned HTTP 500/],
    ['no response', { session: undefined }, /GET \/sessions\/<unknown> got no response/],
    [
      'a user for any e-mail',
      { email: json(200, { id: 'u-1', email: 'a@b.c' }) },
      /\/users\?email=<unknown> returned HTTP 200 with id, email/,
    ],
    [
      'an empty list for an e-mail',
      { email: json(200, []) },
      /returned HTTP 200 with a list of 0; it must return HTTP 404/,
    ],
    ['404 for unknown ids', { lookup: json(404, {}) }, /\/users\/lookup with unknown ids returned HTTP 404/],
    [
      'an object for ids',
      { lookup: json(200, { users: [] }) },
      /returned HTTP 200 with users; it must return HTTP 200 with an empty list/,
    ],
    ['a user for unknown ids', { lookup: json(200, [null]) }, /with a list of 1/],
  ])('fail for a broken identity service, and state the expected response: %s', async (_, answers, problem) => {
    const { 'identity service': service } = await checksOf(answers);
    expect(service).toMatch(/^fail: /);
    expect(service).toMatch(problem);
    expect(service).not.toContain('ada@example.com');
  });

  test('report all wrong responses together', async () => {
    const checks = await checksOf({ session: json(200, ADMIN), email: json(500, {}), lookup: json(404, {}) });
    expect(checks['identity service']?.split('; it must return')).toHaveLength(4);
  });

  test.each<[string, Sent | undefined]>([
    ['no keys', json(200, { keys: [] })],
    ['keys without a name', json(200, { keys: [{ kty: 'RSA' }] })],
    ['404', json(404, {})],
    ['HTML', { status: 200, body: '<html>' }],
  ])('fail for keys that verify no token: %s', async (_, keys) => {
    expect((await checksOf({ keys }))['bearer tokens']).toMatch(/^fail: IDENTITY_JWKS_URI returned/);
  });

  test.each<[string, (document: Record<string, unknown>) => object, RegExp]>([
    [
      'of another issuer',
      (all) => ({ ...all, issuer: 'https://other.example' }),
      /is of https:\/\/other.example, not of/,
    ],
    ['without a token endpoint', ({ token_endpoint: _, ...all }) => all, /must name issuer, endpoints/],
    ['without PKCE', (all) => ({ ...all, code_challenge_methods_supported: ['plain'] }), /PKCE/],
    ['with other keys', (all) => ({ ...all, jwks_uri: 'https://other.example/jwks' }), /IDENTITY_JWKS_URI must be/],
  ])('fail for a discovery document %s', async (_, change, problem) => {
    const checks = await checksOf((base) => ({
      discovery: json(
        200,
        change({
          issuer: base,
          authorization_endpoint: `${base}/authorize`,
          token_endpoint: `${base}/token`,
          jwks_uri: `${base}/jwks`,
        }),
      ),
    }));
    expect(checks['console sign-in']).toMatch(/^fail: /);
    expect(checks['console sign-in']).toMatch(problem);
  });

  test('report disabled and unset features', async () => {
    const off = { IDENTITY_URL: '', IDENTITY_LOOKUP: 'off', CONSOLE_OIDC_ISSUER: '', CONSOLE_OIDC_CLIENT_ID: '' };
    expect(await checksOf({}, off)).toEqual({
      'identity service': 'closed: no identity service, because IDENTITY_LOOKUP is off',
      'bearer tokens': 'ok: keys that verify them are published: 1',
    });
    expect(await checksOf({}, { IDENTITY_URL: '' })).toMatchObject({
      'identity service': 'fail: IDENTITY_URL is empty, so every session is refused',
    });
  });
});
