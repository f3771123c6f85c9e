/**
 * @module The local OpenID Connect issuer for demo users. It supports the authorization code flow with PKCE (S256) for
 * public clients, rotating refresh tokens, and sign-out. Codes and refresh tokens are lost when the host stops.
 */

import { createHash, randomBytes } from 'node:crypto';
import { MINUTE_MS, SECOND_MS } from '../../../shared/core/time.ts';
import { json, type LocalRequest, type LocalResponse, problem } from '../machine/answer.ts';

interface OpenIdPerson {
  readonly session_id: string;
  readonly user_id: string;
  readonly name: string;
  readonly email: string;
}

interface OpenIdOptions {
  readonly issuer: string;
  readonly now: () => number;
  readonly people: readonly OpenIdPerson[];
  /** Issues the person's access token, with the session's claims. */
  readonly accessToken: (person: OpenIdPerson, lifeMs: number) => Promise<string>;
  readonly idToken: (claims: Readonly<Record<string, unknown>>) => Promise<string>;
}

/** The rights granted by a code or a refresh token. */
interface Grant {
  readonly person: OpenIdPerson;
  readonly clientId: string;
  readonly nonce: string | undefined;
  /** Connects a code with its refresh tokens. A replayed code revokes them all. */
  readonly family: string;
}
interface Code extends Grant {
  readonly redirectUri: string;
  readonly challenge: string;
  readonly until: number;
  readonly isUsed: boolean;
}

const CODE_MS = MINUTE_MS;
const ACCESS_TOKEN_MS = 15 * MINUTE_MS;

const secret = (): string => randomBytes(32).toString('base64url');
const refused = (error: string, description: string): LocalResponse =>
  json(400, { error, error_description: description });

type Answer = Promise<LocalResponse> | LocalResponse;

/** @returns undefined for a path outside the issuer */
export const openIdRoutes = (options: OpenIdOptions): ((ask: LocalRequest) => Answer | undefined) => {
  const grants = openGrants(options);
  const routes: Readonly<Record<string, (ask: LocalRequest) => Answer>> = {
    'GET /.well-known/openid-configuration': () => discoveryOf(options.issuer),
    'GET /authorize': ({ query }) => authorize(options, query, grants.codeFor),
    'POST /token': ({ body }) => grants.token(new URLSearchParams(body.toString('utf8'))),
    'GET /end-session': endSession,
  };
  return (ask) => routes[`${ask.method} ${ask.path}`]?.(ask);
};

const discoveryOf = (issuer: string): LocalResponse =>
  json(200, {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    end_session_endpoint: `${issuer}/end-session`,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['EdDSA'],
    token_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    scopes_supported: ['openid', 'email', 'offline_access'],
    authorization_response_iss_parameter_supported: true,
  });

/** Shows the demo users, and redirects the browser with a code for the chosen user. */
const authorize = (
  { issuer, people }: OpenIdOptions,
  query: URLSearchParams,
  codeFor: (person: OpenIdPerson, query: URLSearchParams) => string,
): LocalResponse => {
  const redirectUri = query.get('redirect_uri') ?? '';
  if (!isLocalPage(redirectUri)) return problem(400, 'redirect_uri must be a page of this machine');
  const person = people.find(({ session_id: id }) => id === query.get('person'));
  const wrong = wrongIn(query);
  if (wrong === undefined && !person) return choicePage(query, people);
  const back = new URL(redirectUri);
  back.searchParams.set('state', query.get('state') ?? '');
  back.searchParams.set('iss', issuer);
  if (wrong === undefined && person) back.searchParams.set('code', codeFor(person, query));
  else back.searchParams.set('error', wrong ?? 'invalid_request');
  return { status: 302, headers: { location: back.href }, body: '' };
};

const endSession = ({ query }: LocalRequest): LocalResponse => {
  const back = query.get('post_logout_redirect_uri') ?? '';
  return isLocalPage(back)
    ? { status: 302, headers: { location: back }, body: '' }
    : problem(400, 'post_logout_redirect_uri must be a page of this machine');
};

const openGrants = ({ issuer, now, accessToken, idToken }: OpenIdOptions) => {
  const codes = new Map<string, Code>();
  const refreshTokens = new Map<string, Grant>();

  const codeFor = (person: OpenIdPerson, query: URLSearchParams): string => {
    const code = secret();
    codes.set(code, {
      ...{ person, family: secret(), until: now() + CODE_MS, isUsed: false },
      redirectUri: query.get('redirect_uri') ?? '',
      clientId: query.get('client_id') ?? '',
      nonce: query.get('nonce') ?? undefined,
      challenge: query.get('code_challenge') ?? '',
    });
    return code;
  };

  const endFamily = (family: string): void => {
    for (const [token, grant] of refreshTokens) if (grant.family === family) refreshTokens.delete(token);
  };

  const redeem = (sent: URLSearchParams): Answer => {
    const id = sent.get('code') ?? '';
    const code = codes.get(id);
    if (!code) return refused('invalid_grant', 'the code is not known');
    if (code.isUsed) {
      endFamily(code.family);
      return refused('invalid_grant', 'the code was used before');
    }
    codes.set(id, { ...code, isUsed: true });
    const challenge = createHash('sha256')
      .update(sent.get('code_verifier') ?? '')
      .digest('base64url');
    const isTheirs = code.redirectUri === sent.get('redirect_uri') && code.clientId === sent.get('client_id');
    if (!isTheirs || code.challenge !== challenge || code.until <= now()) {
      return refused('invalid_grant', 'the code has expired, or is of another client or sign-in');
    }
    return tokensOf(code);
  };

  const refresh = (sent: URLSearchParams): Answer => {
    const token = sent.get('refresh_token') ?? '';
    const grant = refreshTokens.get(token);
    if (!grant || grant.clientId !== sent.get('client_id')) return refused('invalid_grant', 'the token is not known');
    refreshTokens.delete(token);
    return tokensOf(grant);
  };

  const tokensOf = async ({ person, clientId, nonce, family }: Grant): Promise<LocalResponse> => {
    const next = secret();
    refreshTokens.set(next, { person, clientId, nonce, family });
    // Use real time, because browsers check the ID token by their own clock.
    const issuedAt = Math.floor(Date.now() / SECOND_MS);
    const id_token = await idToken({
      ...{ iss: issuer, sub: person.user_id, aud: clientId, email: person.email, nonce },
      ...{ iat: issuedAt, exp: issuedAt + ACCESS_TOKEN_MS / SECOND_MS },
    });
    return json(200, {
      access_token: await accessToken(person, ACCESS_TOKEN_MS),
      token_type: 'Bearer',
      expires_in: ACCESS_TOKEN_MS / SECOND_MS,
      refresh_token: next,
      id_token,
      scope: 'openid email offline_access',
    });
  };

  const token = (sent: URLSearchParams): Answer => {
    const type = sent.get('grant_type');
    if (type === 'authorization_code') return redeem(sent);
    if (type === 'refresh_token') return refresh(sent);
    return refused('unsupported_grant_type', 'send authorization_code or refresh_token');
  };

  return { codeFor, token };
};

const wrongIn = (query: URLSearchParams): string | undefined => {
  if (query.get('response_type') !== 'code') return 'unsupported_response_type';
  if ((query.get('client_id') ?? '') === '') return 'unauthorized_client';
  const hasPkce = query.get('code_challenge_method') === 'S256' && (query.get('code_challenge') ?? '').length === 43;
  return hasPkce ? undefined : 'invalid_request';
};

const isLocalPage = (text: string): boolean =>
  URL.canParse(text) && /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/.test(new URL(text).origin);

/** A page with a button per demo user. */
const choicePage = (query: URLSearchParams, people: readonly OpenIdPerson[]): LocalResponse => {
  const kept = [...query].map(([name, value]) => `<input type="hidden" name="${text(name)}" value="${text(value)}">`);
  const buttons = people.map(
    ({ session_id: id, name, email }) =>
      `<p><button name="person" value="${text(id)}">${text(name)}</button> ${text(email)}</p>`,
  );
  return {
    status: 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    },
    body: `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Demo sign-in</title></head><body><main>
<h1>Sign in as a demo person</h1><form>${kept.join('')}${buttons.join('')}</form></main></body></html>`,
  };
};

const text = (given: string): string =>
  given.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
