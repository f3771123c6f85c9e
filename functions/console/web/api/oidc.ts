/**
 * @module The OpenID Connect sign-in (authorization code with PKCE). Tokens are kept in memory only. sessionStorage
 * holds the state, nonce and verifier of a sign-in that this tab started.
 */

import { effect } from '@preact/signals';
import type { AuthorizationServer, TokenEndpointResponse } from 'oauth4webapi';
import type { Secrets } from './oidc-calls.ts';
import { takeIssuersResponse } from './oidc-return.ts';
import { Problem } from './problem.ts';
import { session } from './session.ts';
import { site } from './site.ts';

interface Tokens {
  readonly credential: string;
  readonly idToken: string | undefined;
  readonly refreshToken: string | undefined;
  /** Epoch ms by the browser's clock. */
  readonly expiresAt: number;
}

interface Started extends Secrets {
  /** The user's requested page. */
  readonly page: string;
}

const KEY = 'payments-console-oidc';
const RENEW_BEFORE_MS = 30_000;
const MS_PER_SECOND = 1_000;
/** The expiry of a token without a lifetime. Such a token is renewed only after a refusal. */
const NEVER = Number.MAX_SAFE_INTEGER;

const calls = () => import('./oidc-calls.ts');

let known: Promise<AuthorizationServer> | undefined;
let tokens: Tokens | undefined;
let renewal: Promise<boolean> | undefined;
/** The issuer's page that ends the session at the issuer. */
let endPage: string | undefined;

effect(() => {
  if (session.value === undefined) tokens = undefined;
});

const issuer = (): Promise<AuthorizationServer> => {
  known ??= calls()
    .then(({ readIssuer }) => readIssuer())
    .catch((reason: unknown) => {
      known = undefined;
      throw reason;
    });
  return known;
};

/** Problems show no detail of the issuer's response, because the response may contain a code or token. */
const failed = (text: string): Problem => new Problem(text, { status: 0 });

/** Opens the issuer's sign-in page. @throws Problem if the issuer cannot be read */
export const startSignIn = async (): Promise<void> => {
  const server = await issuer().catch(() => {
    throw failed('The sign-in service cannot be reached, or is not the configured service.');
  });
  const { authorizeAddress, newSecrets } = await calls();
  const started: Started = { ...newSecrets(), page: `${location.pathname}${location.search}` };
  sessionStorage.setItem(KEY, JSON.stringify(started));
  location.assign(await authorizeAddress(server, started));
};

const isStarted = (value: unknown): value is Started =>
  typeof value === 'object' && value !== null && 'state' in value && 'verifier' in value;

const takeStarted = (): Started | undefined => {
  const text = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  try {
    const value: unknown = JSON.parse(text ?? 'null');
    return isStarted(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

interface SignedIn {
  readonly credential: string;
  readonly page: string;
}

/**
 * Redeems the issuer's code; undefined if the address had no response from the issuer.
 * @throws Problem if this tab did not start the sign-in or the issuer refuses the code
 */
export const finishSignIn = async (): Promise<SignedIn | undefined> => {
  const sent = takeIssuersResponse();
  if (!sent) return undefined;
  const started = takeStarted();
  if (!started) throw failed('The console ignored the sign-in in this link, because it did not start in this tab.');
  try {
    const server = await issuer();
    endPage = server.end_session_endpoint;
    const { redeemCode } = await calls();
    tokens = tokensOf(await redeemCode(server, sent, started));
  } catch {
    throw failed('The sign-in service did not sign you in. Try again.');
  }
  return { credential: tokens.credential, page: started.page };
};

/**
 * A JWT has three parts. If the access token is no JWT, only the issuer can read it, so the console sends the ID token.
 */
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

const tokensOf = (answer: TokenEndpointResponse): Tokens => {
  const { access_token: access, id_token: idToken = tokens?.idToken, expires_in: seconds } = answer;
  return {
    credential: JWT.test(access) ? access : (idToken ?? access),
    idToken,
    refreshToken: answer.refresh_token ?? tokens?.refreshToken,
    expiresAt: seconds === undefined ? NEVER : Date.now() + seconds * MS_PER_SECOND,
  };
};

export const isRenewable = (): boolean => tokens?.refreshToken !== undefined;
export const isExpiring = (): boolean => (tokens?.expiresAt ?? NEVER) - RENEW_BEFORE_MS < Date.now();

/**
 * Renews the token. Concurrent callers share one renewal.
 * @returns false if the token could not be renewed
 */
export const renewToken = (): Promise<boolean> => {
  renewal ??= renew().finally(() => {
    renewal = undefined;
  });
  return renewal;
};

const renew = async (): Promise<boolean> => {
  const { refreshToken } = tokens ?? {};
  if (refreshToken === undefined) return false;
  try {
    const server = await issuer();
    const { refreshTokens } = await calls();
    const answer = await refreshTokens(server, refreshToken);
    if (!session.value) return false;
    tokens = tokensOf(answer);
    session.value = { ...session.value, credential: tokens.credential };
    return true;
  } catch {
    if (tokens) tokens = { ...tokens, refreshToken: undefined };
    return false;
  }
};

/** The address that ends the issuer's session; undefined without an OpenID Connect sign-in. */
export const signOutAddress = (): URL | undefined => {
  if (tokens === undefined || endPage === undefined) return undefined;
  const address = new URL(endPage);
  address.searchParams.set('client_id', site.oidcClientId);
  address.searchParams.set('post_logout_redirect_uri', `${location.origin}${site.root}`);
  if (tokens.idToken !== undefined) address.searchParams.set('id_token_hint', tokens.idToken);
  return address;
};
