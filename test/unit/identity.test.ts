import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { identityClient } from '../../shared/access/identity.ts';
import { MINUTE_MS, SECOND_MS } from '../../shared/core/time.ts';

/** An identity service that knows one session, and the key of its tokens. */
let server: Server;
let url: string;
let session: object = {};
let keys: Awaited<ReturnType<typeof generateKeyPair>>;
let published: readonly object[] = [];
let isDown = false;
const ISSUER = 'https://id.example';
/** The session for which the service never responds. */
const SILENT = 's-silent';

beforeAll(async () => {
  keys = await generateKeyPair('EdDSA', { extractable: true });
  published = [{ ...(await exportJWK(keys.publicKey)), kid: 'key-1', alg: 'EdDSA', use: 'sig' }];
  server = createServer((request, response) => {
    if (request.url === `/sessions/${SILENT}`) return;
    const refused = /^\/sessions\/status-(\d+)$/.exec(request.url ?? '')?.[1];
    if (refused) response.statusCode = Number(refused);
    if (isDown) response.statusCode = 503;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(request.url === '/jwks' ? { keys: published } : session));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

const client = (audience = '', timeoutMs = 10_000, now: () => number = Date.now) =>
  identityClient({
    ...{ url, looksUp: true, jwksUri: `${url}/jwks`, issuer: ISSUER, timeoutMs, now },
    ...{ audiences: audience === '' ? [] : [audience], claims: {}, needsEmail: true },
  });

const PERSON = { user_id: 'user_1', email: 'Ada@example.com' };

describe('a session', () => {
  test('has an unknown validity if the identity service times out', async () => {
    await expect(client('', 50).session(SILENT)).rejects.toMatchObject({ code: 'IDENTITY_UNAVAILABLE' });
  });

  test.each([400, 404, 414, 431])('does not exist if the identity service returns %i', async (status) => {
    session = { ...PERSON, expires_at: '2030-01-01T00:00:00Z' };
    expect(await client().session(`status-${status}`)).toBeUndefined();
  });

  test.each([401, 403, 429, 500, 503])('has an unknown validity if the identity service returns %i', async (status) => {
    await expect(client().session(`status-${status}`)).rejects.toMatchObject({ code: 'IDENTITY_UNAVAILABLE' });
  });

  test.each(['2030-01-01T00:00:00Z', '2030-01-01T01:00:00.000+01:00'])(
    'ends at its stated time: %s',
    async (expires_at) => {
      session = { ...PERSON, expires_at };
      expect(await client().session('s1')).toMatchObject({ userId: 'user_1', expiresAt: Date.UTC(2030, 0, 1) });
    },
  );

  test.each([undefined, null, '', 'never', 'tomorrow', '2030', 4_102_444_800, true, {}])(
    'is refused without a readable end time: %j',
    async (expires_at) => {
      session = { ...PERSON, expires_at };
      expect(await client().session('s1')).toBeUndefined();
    },
  );
});

describe('a bearer token', () => {
  const signed = (audience: string | string[] | undefined, hours = 1) => {
    const token = new SignJWT({ email: PERSON.email })
      .setProtectedHeader({ alg: 'EdDSA', kid: 'key-1' })
      .setSubject(PERSON.user_id)
      .setIssuer(ISSUER)
      .setExpirationTime(Math.floor(Date.now() / SECOND_MS) + hours * 3_600);
    return (audience === undefined ? token : token.setAudience(audience)).sign(keys.privateKey);
  };

  test.each([
    ['payments', true],
    [['shop', 'payments'], true],
    ['shop', false],
    [['shop', 'payments-staging'], false],
    [[], false],
    [undefined, false],
  ])('with the audience %j is accepted if the configured audience is payments: %s', async (audience, isTaken) => {
    const found = await client('payments').sessionOfToken(await signed(audience));
    expect(found?.userId).toBe(isTaken ? 'user_1' : undefined);
  });

  test.each(['payments', undefined])(
    'with the audience %j is accepted if no audience is configured',
    async (audience) => {
      expect(await client().sessionOfToken(await signed(audience))).toMatchObject({ userId: 'user_1' });
    },
  );

  test('is refused five minutes after the identity service has removed its key', async () => {
    const clock = { at: Date.now() };
    const { sessionOfToken } = client('', 10_000, () => clock.at);
    const token = await signed(undefined);
    expect(await sessionOfToken(token)).toMatchObject({ userId: 'user_1' });
    const [removed = {}] = published;
    published = [];
    try {
      clock.at += 5 * MINUTE_MS - 1;
      expect(await sessionOfToken(token)).toMatchObject({ userId: 'user_1' });
      clock.at += 1;
      expect(await sessionOfToken(token)).toBeUndefined();
    } finally {
      published = [removed];
    }
  });

  test('is verified with the earlier keys for an hour while the keys cannot be read again', async () => {
    const clock = { at: Date.now() };
    const { sessionOfToken } = client('', 10_000, () => clock.at);
    const token = await signed(undefined, 2);
    expect(await sessionOfToken(token)).toMatchObject({ userId: 'user_1' });
    isDown = true;
    try {
      clock.at += 59 * MINUTE_MS;
      expect(await sessionOfToken(token)).toMatchObject({ userId: 'user_1' });
      clock.at += MINUTE_MS;
      await expect(sessionOfToken(token)).rejects.toMatchObject({ code: 'IDENTITY_UNAVAILABLE' });
    } finally {
      isDown = false;
    }
  });
});
