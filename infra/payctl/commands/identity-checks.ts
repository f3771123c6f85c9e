/**
 * @module Checks the sources of user identity: the identity service with its three requests, the keys of bearer tokens,
 * and the issuer of the console's sign-in. A failing check shows the actual and the expected response.
 */

import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { Settings } from '../../../shared/core/settings.ts';
import { whyNoBearerTokens } from '../../local/control/disabled-parts.ts';
import type { Installation } from '../installation/installation.ts';
import { type Check, runCheck } from './checks.ts';

export const identityChecks = async ({ settings }: Pick<Installation, 'settings'>): Promise<readonly Check[]> => {
  const checks = [serviceCheck(settings), bearerCheck(settings)];
  return Promise.all(settings.CONSOLE_OIDC_ISSUER === '' ? checks : [...checks, issuerCheck(settings)]);
};

const WAIT_MS = 5_000;

interface Came {
  readonly status: number;
  /** Undefined if the body is not JSON. */
  readonly body: unknown;
}

const ask = async (url: string, sent?: unknown): Promise<Came> => {
  const response = await fetch(url, {
    signal: AbortSignal.timeout(WAIT_MS),
    redirect: 'manual',
    ...(sent !== undefined && {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(sent),
    }),
  });
  return { status: response.status, body: await response.json().catch(() => undefined) };
};

/**
 * Describes a response by its status and the names of its fields. Omits the values, because they may be personal data.
 */
const described = ({ status, body }: Came): string => {
  if (body === undefined) return `HTTP ${status} without JSON`;
  if (Array.isArray(body)) return `HTTP ${status} with a list of ${body.length}`;
  const names = typeof body === 'object' && body !== null ? Object.keys(body).slice(0, 8).join(', ') : '';
  return `HTTP ${status} with ${names === '' ? 'no fields' : names}`;
};

interface Asked {
  readonly what: string;
  readonly path: string;
  readonly sent?: unknown;
  readonly isRight: (came: Came) => boolean;
  readonly should: string;
}

/**
 * The three requests to the identity service. They name an unknown session, an unknown e-mail address and an unknown
 * user id.
 */
const requestsOf = (name: string): readonly Asked[] => [
  {
    what: 'GET /sessions/<unknown>',
    path: `/sessions/${name}`,
    isRight: ({ status }) => status === 404,
    should: 'HTTP 404; with any session in the response, everyone can sign in',
  },
  {
    what: 'GET /users?email=<unknown>',
    path: `/users?email=${encodeURIComponent(`${name}@example.com`)}`,
    isRight: ({ status }) => status === 404,
    should: 'HTTP 404',
  },
  {
    what: 'POST /users/lookup with unknown ids',
    path: '/users/lookup',
    sent: { ids: [name] },
    isRight: ({ status, body }) => status === 200 && Array.isArray(body) && body.length === 0,
    should: 'HTTP 200 with an empty list',
  },
];

const SERVICE = 'identity service';

const serviceCheck = ({ IDENTITY_URL: url, IDENTITY_LOOKUP: lookup }: Settings): Promise<Check> =>
  runCheck(SERVICE, async () => {
    if (lookup === 'off')
      return { check: SERVICE, state: 'closed', detail: 'no identity service, because IDENTITY_LOOKUP is off' };
    if (url === '')
      return { check: SERVICE, state: 'fail', detail: 'IDENTITY_URL is empty, so every session is refused' };
    const requests = requestsOf(`payctl-doctor-${randomUUID()}`);
    const wrong = await Promise.all(requests.map((asked) => problemOf(url, asked)));
    const problems = wrong.filter((problem) => problem !== undefined);
    return problems.length === 0
      ? { check: SERVICE, state: 'ok', detail: 'responds, with HTTP 404 for an unknown session' }
      : { check: SERVICE, state: 'fail', detail: problems.join('; ') };
  });

const problemOf = async (url: string, { what, path, sent, isRight, should }: Asked): Promise<string | undefined> => {
  const came = await ask(`${url}${path}`, sent).catch((error: unknown) => (error instanceof Error ? error : undefined));
  if (came === undefined || came instanceof Error) return `${what} got no response (${came?.name ?? 'error'})`;
  return isRight(came) ? undefined : `${what} returned ${described(came)}; it must return ${should}`;
};

const keysSchema = z.object({ keys: z.array(z.looseObject({ kty: z.string(), kid: z.string() })).min(1) });

const BEARER = 'bearer tokens';

const bearerCheck = (settings: Settings): Promise<Check> =>
  runCheck(BEARER, async () => {
    const closed = whyNoBearerTokens(settings);
    if (closed !== undefined) return { check: BEARER, state: 'closed', detail: closed };
    const came = await ask(settings.IDENTITY_JWKS_URI);
    const keys = came.status === 200 ? keysSchema.safeParse(came.body).data?.keys : undefined;
    return keys
      ? { check: BEARER, state: 'ok', detail: `keys that verify them are published: ${keys.length}` }
      : {
          check: BEARER,
          state: 'fail',
          detail: `IDENTITY_JWKS_URI returned ${described(came)}; it must return HTTP 200 with keys that have kty and kid`,
        };
  });

const discoverySchema = z.object({
  issuer: z.string(),
  authorization_endpoint: z.url(),
  token_endpoint: z.url(),
  jwks_uri: z.url(),
  code_challenge_methods_supported: z.array(z.string()).optional(),
});

const ISSUER = 'console sign-in';

const issuerCheck = (settings: Settings): Promise<Check> =>
  runCheck(ISSUER, async () => {
    const { CONSOLE_OIDC_ISSUER: issuer } = settings;
    const fail = (detail: string): Check => ({ check: ISSUER, state: 'fail', detail });
    const came = await ask(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
    const found = came.status === 200 ? discoverySchema.safeParse(came.body).data : undefined;
    if (!found)
      return fail(`the discovery document is ${described(came)}; it must name issuer, endpoints and jwks_uri`);
    if (found.issuer !== issuer) return fail(`the discovery document is of ${found.issuer}, not of ${issuer}`);
    const methods = found.code_challenge_methods_supported;
    if (methods && !methods.includes('S256')) return fail('the issuer does not support PKCE with S256');
    if (settings.IDENTITY_JWKS_URI !== found.jwks_uri) {
      return fail(`IDENTITY_JWKS_URI must be ${found.jwks_uri}, or the tokens of the sign-in are refused`);
    }
    if (settings.IDENTITY_ISSUER !== '' && settings.IDENTITY_ISSUER !== issuer) {
      return fail(`IDENTITY_ISSUER must be ${issuer}, or the tokens of the sign-in are refused`);
    }
    return { check: ISSUER, state: 'ok', detail: 'the discovery document names the endpoints and the keys' };
  });
