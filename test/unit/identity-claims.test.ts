import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { identityClient } from '../../shared/access/identity.ts';
import { parseSettings, SettingsError } from '../../shared/core/settings.ts';
import { epochSeconds } from '../../shared/core/time.ts';
import {
  AUTH0_ACCESS,
  AUTH0_ID,
  CLERK,
  COGNITO_ACCESS,
  COGNITO_ID,
  KEYCLOAK_ACCESS,
} from '../builders/identity-tokens.ts';

type Claims = Readonly<Record<string, unknown>>;

let server: Server;
let jwksUri: string;
let keys: Awaited<ReturnType<typeof generateKeyPair>>;

beforeAll(async () => {
  keys = await generateKeyPair('RS256', { extractable: true });
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'key-1', alg: 'RS256', use: 'sig' };
  server = createServer((_, response) => response.end(JSON.stringify({ keys: [jwk] })));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  jwksUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`;
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

/** The user of a token with these claims; undefined for a refused token. */
const userOf = async (claims: Claims, env: Readonly<Record<string, string>>) => {
  const settings = parseSettings(env);
  const { sessionOfToken } = identityClient({
    ...{ url: '', looksUp: false, jwksUri, issuer: String(claims['iss']), timeoutMs: 1_000, now: Date.now },
    audiences: settings.IDENTITY_AUDIENCE,
    claims: settings.IDENTITY_CLAIMS,
    needsEmail: settings.IDENTITY_EMAIL === 'required',
  });
  const token = await new SignJWT({ exp: epochSeconds(Date.now()) + 3_600, ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: 'key-1' })
    .sign(keys.privateKey);
  const found = await sessionOfToken(token);
  if (!found) return undefined;
  const { expiresAt: _, ...user } = found;
  return user;
};

const PLAIN = { email: 'ada@example.com', organizationId: undefined, isAdmin: false, staffRole: undefined };
const OPTIONAL = { IDENTITY_EMAIL: 'optional' };
const CLIENTS = { IDENTITY_AUDIENCE: '1example23456789, payments-console' };

describe('a token', () => {
  const cases: readonly (readonly [string, Claims, Readonly<Record<string, string>>, object | undefined])[] = [
    ['a Cognito ID token', COGNITO_ID, CLIENTS, PLAIN],
    [
      'a Cognito ID token with mapped claims',
      COGNITO_ID,
      { IDENTITY_CLAIMS: 'is_admin=cognito:groups~admins,organization_id=custom:org,staff_role=cognito:groups' },
      { ...PLAIN, isAdmin: true, organizationId: 'org_1', staffRole: 'support' },
    ],
    ['a Cognito ID token with another group', COGNITO_ID, { IDENTITY_CLAIMS: 'is_admin=cognito:groups~admin' }, PLAIN],
    ['a Cognito ID token for another client', COGNITO_ID, { IDENTITY_AUDIENCE: 'other' }, undefined],
    ['a Cognito access token, which has no e-mail', COGNITO_ACCESS, CLIENTS, undefined],
    [
      'a Cognito access token with an optional e-mail',
      COGNITO_ACCESS,
      { ...CLIENTS, ...OPTIONAL },
      { ...PLAIN, email: undefined },
    ],
    [
      'a Cognito access token for another client',
      COGNITO_ACCESS,
      { IDENTITY_AUDIENCE: 'other', ...OPTIONAL },
      undefined,
    ],
    ['an Auth0 ID token', AUTH0_ID, { IDENTITY_AUDIENCE: 'abcdefClientId' }, PLAIN],
    [
      'an Auth0 ID token with mapped claims',
      AUTH0_ID,
      { IDENTITY_CLAIMS: 'staff_role=https://example.com/role,organization_id=org_id' },
      { ...PLAIN, organizationId: 'org_2eondWoxcMIpaLQc', staffRole: 'finance' },
    ],
    [
      'an Auth0 access token with mapped claims',
      AUTH0_ACCESS,
      {
        IDENTITY_AUDIENCE: 'https://payments.example.com',
        IDENTITY_CLAIMS: 'email=https://example.com/email,staff_role=https://example.com/role',
      },
      { ...PLAIN, staffRole: 'finance' },
    ],
    [
      'an Auth0 access token whose azp, but not aud, is the audience',
      AUTH0_ACCESS,
      { IDENTITY_AUDIENCE: 'abcdefClientId', ...OPTIONAL },
      undefined,
    ],
    ['a Clerk token, which has no e-mail', CLERK, { IDENTITY_AUDIENCE: 'https://shop.example.com' }, undefined],
    [
      'a Clerk token with a mapped claim',
      CLERK,
      { IDENTITY_AUDIENCE: 'https://shop.example.com', IDENTITY_CLAIMS: 'organization_id=o.id', ...OPTIONAL },
      { ...PLAIN, email: undefined, organizationId: 'org_2NNEqL2nrIRdJ194ndJqAHwEfxE' },
    ],
    [
      'a Clerk token, whose role in the organization gives no admin access to the service',
      CLERK,
      { IDENTITY_CLAIMS: 'organization_id=o.id', ...OPTIONAL },
      { ...PLAIN, email: undefined, organizationId: 'org_2NNEqL2nrIRdJ194ndJqAHwEfxE' },
    ],
    ['a Clerk token of another page', CLERK, { IDENTITY_AUDIENCE: 'https://evil.example', ...OPTIONAL }, undefined],
    [
      'a Keycloak access token with mapped claims',
      KEYCLOAK_ACCESS,
      {
        IDENTITY_AUDIENCE: 'account',
        IDENTITY_CLAIMS: 'is_admin=realm_access.roles~payments-admin,staff_role=resource_access.payments.roles',
      },
      { ...PLAIN, isAdmin: true, staffRole: 'finance' },
    ],
    ['a Keycloak access token whose azp, but not aud, is an audience', KEYCLOAK_ACCESS, CLIENTS, undefined],
    ['a Keycloak access token without aud', { ...KEYCLOAK_ACCESS, aud: undefined }, CLIENTS, PLAIN],
    [
      'a token of any issuer without mapped claims',
      { ...KEYCLOAK_ACCESS, is_admin: true, staff_role: 'support' },
      {},
      {
        ...PLAIN,
        isAdmin: true,
        staffRole: 'support',
      },
    ],
  ];
  test.each(cases)('is read or refused: %s', async (_, claims, env, user) => {
    expect(await userOf(claims, env)).toEqual(user && { userId: claims['sub'], ...user });
  });

  const BASE: Claims = { sub: 'user_1', iss: 'https://id.example', email: 'ada@example.com' };

  test('is not read by the standard name of a mapped claim', async () => {
    const claims = { ...BASE, is_admin: true, organization_id: 'org_old', staff_role: 'finance' };
    const env = { IDENTITY_CLAIMS: 'is_admin=groups~admins,organization_id=org,staff_role=role' };
    expect(await userOf(claims, env)).toEqual({ userId: 'user_1', ...PLAIN });
    expect(await userOf(claims, { IDENTITY_CLAIMS: 'email=mail' })).toBeUndefined();
  });

  test.each<[string, unknown, boolean]>([
    ['a list that holds the word', ['staff', 'admins'], true],
    ['the word', 'admins', true],
    ['a list that holds a longer word', ['admins-of-shop'], false],
    ['a longer text that contains the word', 'admins staff', false],
    ['the word in another case', ['Admins'], false],
    ['a list in a list', [['admins']], false],
    ['an object', { admins: true }, false],
    ['true', true, false],
    ['nothing', undefined, false],
  ])('belongs to an admin if its claim equals or lists the admin word: %s', async (_, groups, isAdmin) => {
    const found = await userOf({ ...BASE, groups }, { IDENTITY_CLAIMS: 'is_admin=groups~admins' });
    expect(found).toMatchObject({ isAdmin });
  });

  test('is read by the whole name of a claim first, then by its path', async () => {
    const env = { IDENTITY_CLAIMS: 'organization_id=app.org.id' };
    const nested = { app: { org: { id: 'org_nested' }, 'org.id': 'org_joined' } };
    expect(await userOf({ ...BASE, ...nested }, env)).toMatchObject({ organizationId: 'org_joined' });
    expect(await userOf({ ...BASE, ...nested, 'app.org.id': 'org_whole' }, env)).toMatchObject({
      organizationId: 'org_whole',
    });
    expect(await userOf({ ...BASE, app: { org: { id: 'org_nested' } } }, env)).toMatchObject({
      organizationId: 'org_nested',
    });
    for (const app of [undefined, null, 'org', ['org'], { org: null }, { org: 'id' }]) {
      expect(await userOf({ ...BASE, app }, env)).toMatchObject({ organizationId: undefined });
    }
    const inherited = { IDENTITY_CLAIMS: 'organization_id=constructor.name' };
    expect(await userOf(BASE, inherited)).toMatchObject({ organizationId: undefined });
  });

  test.each([{ email: 1 }, { is_admin: 'true' }, { organization_id: ['org_1'] }])(
    'is refused if a field has another type: %j',
    async (field) => {
      expect(await userOf({ ...BASE, ...field }, OPTIONAL)).toBeUndefined();
    },
  );

  test.each(['', null, undefined])(
    'without an e-mail is accepted only if IDENTITY_EMAIL is optional: %j',
    async (email) => {
      expect(await userOf({ ...BASE, email }, {})).toBeUndefined();
      expect(await userOf({ ...BASE, email }, OPTIONAL)).toEqual({ userId: 'user_1', ...PLAIN, email: undefined });
    },
  );
});

describe('IDENTITY_CLAIMS', () => {
  test.each([
    ...['is_admin', 'is_admin=', '=x', 'admin=x', 'is_admin=groups~', 'is_admin=~x', 'email=a~b'],
    ...['email=a,email=b', 'is_admin=groups~admins,is_admin=roles~admin'],
  ])('is refused if it is %s', (IDENTITY_CLAIMS) => {
    expect(() => parseSettings({ IDENTITY_CLAIMS })).toThrow(SettingsError);
  });

  test('keeps separators within the name of a claim', () => {
    const { IDENTITY_CLAIMS } = parseSettings({ IDENTITY_CLAIMS: ' email = https://x.example/a=b , is_admin=a~b~c' });
    expect(IDENTITY_CLAIMS).toEqual({
      email: { claim: 'https://x.example/a=b' },
      is_admin: { claim: 'a~b', word: 'c' },
    });
  });
});
