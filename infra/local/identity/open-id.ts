/**
 * @module The local OpenID Connect issuer of the demo people: authorization code with PKCE (S256) for public clients,
 * refresh tokens that rotate, and sign-out. Codes and refresh tokens end with the host.
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
  /** The access token of the person, with the claims of the session. */
  readonly accessToken: (person: OpenIdPerson, lifeMs: number) => Promise<string>;
  readonly idToken: (claims: Readonly<Record<string, unknown>>) => Promise<string>;
}

/** What a code or a refresh token stands for. */
interface Grant {
  readonly person: OpenIdPerson;
  readonly clientId: string;
  readonly nonce: string | undefined;
  /** A replayed code ends every token of its family. */
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

export const openIdRoutes = (options: OpenIdOptions) => {
  const { issuer, now, people } = options;
  const codes = new Map<string, Code>();
  const refreshTokens = new Map<string, Grant>();

  const discovery = () =>
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

  const authorize = ({ query }: LocalRequest): LocalResponse => {
    const redirectUri = query.get('redirect_uri') ?? '';
    if (!isLocalPage(redirectUri)) return problem(400, 'redirect_uri must be a page of this machine');
    const back = new URL(redirectUri);
    back.searchParams.set('state', query.get('state') ?? '');
    back.searchParams.set('iss', issuer);
    const wrong = wrongIn(query);
    const person = people.find(({ session_id: id }) => id === query.get('person'));
    if (wrong !== undefined) back.searchParams.set('error', wrong);
    else if (!person) return choicePage(query, people);
    else {
      const code = secret();
      codes.set(code, {
        ...{ person, redirectUri, family: secret(), until: now() + CODE_MS, isUsed: false },
        clientId: query.get('client_id') ?? '',
        nonce: query.get('nonce') ?? undefined,
        challenge: query.get('code_challenge') ?? '',
      });
      back.searchParams.set('code', code);
    }
    return { status: 302, headers: { location: back.href }, body: '' };
  };

  const endFamily = (family: string): void => {
    for (const [token, grant] of refreshTokens) if (grant.family === family) refreshTokens.delete(token);
  };

  const redeem = (sent: URLSearchParams): Promise<LocalResponse> | LocalResponse => {
    const id = sent.get('code') ?? '';
    const code = codes.get(id);
    if (!code) return refused('invalid_grant', 'the code is not known');
    if (code.isUsed) {
      endFamily(code.family);
      return refused('invalid_grant', 'the code was used before');
    }
    codes.set(id, { ...code, isUsed: true });
    const challenge = createHash('sha256').update(sent.get('code_verifier') ?? '').digest('base64url');
    const isTheirs = code.redirectUri === sent.get('redirect_uri') && code.clientId === sent.get('client_id');
    if (!isTheirs || code.challenge !== challenge || code.until <= now()) {
      return refused('invalid_grant', 'the code has expired, or is of another client or sign-in');
    }
    return tokensOf(code);
  };

  const refresh = (sent: URLSearchParams): Promise<LocalResponse> | LocalResponse => {
    const token = sent.get('refresh_token') ?? '';
    const grant = refreshTokens.get(token);
    if (!grant || grant.clientId !== sent.get('client_id')) return refused('invalid_grant', 'the token is not known');
    refreshTokens.delete(token);
    return tokensOf(grant);
  };

  const tokensOf = async ({ person, clientId, nonce, family }: Grant): Promise<LocalResponse> => {
    const next = secret();
    refreshTokens.set(next, { person, clientId, nonce, family });
    // Browsers check the ID token by their own clock, which a moved clock of the host does not move.
    const issuedAt = Math.floor(Date.now() / SECOND_MS);
    const id_token = await options.idToken({
      ...{ iss: issuer, sub: person.user_id, aud: clientId, email: person.email, nonce },
      ...{ iat: issuedAt, exp: issuedAt + ACCESS_TOKEN_MS / SECOND_MS },
    });
    return json(200, {
      access_token: await options.accessToken(person, ACCESS_TOKEN_MS),
      token_type: 'Bearer',
      expires_in: ACCESS_TOKEN_MS / SECOND_MS,
      refresh_token: next,
      id_token,
      scope: 'openid email offline_access',
    });
  };

  const token = ({ body }: LocalRequest): Promise<LocalResponse> | LocalResponse => {
    const sent = new URLSearchParams(body.toString('utf8'));
    switch (sent.get('grant_type')) {
      case 'authorization_code':
        return redeem(sent);
      case 'refresh_token':
        return refresh(sent);
      default:
        return refused('unsupported_grant_type', 'send authorization_code or refresh_token');
    }
  };

  const endSession = ({ query }: LocalRequest): LocalResponse => {
    const back = query.get('post_logout_redirect_uri') ?? '';
    return isLocalPage(back)
      ? { status: 302, headers: { location: back }, body: '' }
      : problem(400, 'post_logout_redirect_uri must be a page of this machine');
  };

  const routes: Readonly<Record<string, (ask: LocalRequest) => Promise<LocalResponse> | LocalResponse>> = {
    'GET /.well-known/openid-configuration': discovery,
    'GET /authorize': authorize,
    'POST /token': token,
    'GET /end-session': endSession,
  };
  /** @returns undefined if the path is none of the issuer's */
  return (ask: LocalRequest): Promise<LocalResponse> | LocalResponse | undefined =>
    routes[`${ask.method} ${ask.path}`]?.(ask);
};

const wrongIn = (query: URLSearchParams): string | undefined => {
  if (query.get('response_type') !== 'code') return 'unsupported_response_type';
  if ((query.get('client_id') ?? '') === '') return 'unauthorized_client';
  const hasPkce = query.get('code_challenge_method') === 'S256' && (query.get('code_challenge') ?? '').length === 43;
  return hasPkce ? undefined : 'invalid_request';
};

const isLocalPage = (text: string): boolean =>
  URL.canParse(text) && /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/.test(new URL(text).origin);

/** A page with a button for each demo person. */
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
