/** @module The requests of the OpenID Connect sign-in. Loaded only when a user signs in with OpenID Connect. */

import {
  type AuthorizationServer,
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  calculatePKCECodeChallenge,
  discoveryRequest,
  generateRandomCodeVerifier,
  generateRandomNonce,
  generateRandomState,
  None,
  processAuthorizationCodeResponse,
  processDiscoveryResponse,
  processRefreshTokenResponse,
  refreshTokenGrantRequest,
  type TokenEndpointResponse,
  validateAuthResponse,
} from 'oauth4webapi';
import { site } from './site.ts';

const client = { client_id: site.oidcClientId };
/** The options of every request. They allow http for an issuer without https, which only a local host has. */
const options = { [allowInsecureRequests]: site.oidcIssuer.startsWith('http:') };
const redirectUri = `${location.origin}${site.root}`;

/** @throws if the document cannot be read or names another issuer */
export const readIssuer = async (): Promise<AuthorizationServer> => {
  const issuer = new URL(site.oidcIssuer);
  return processDiscoveryResponse(issuer, await discoveryRequest(issuer, options));
};

export interface Secrets {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

export const newSecrets = (): Secrets => ({
  state: generateRandomState(),
  nonce: generateRandomNonce(),
  verifier: generateRandomCodeVerifier(),
});

/** The address of the issuer's sign-in page. */
export const authorizeAddress = async (
  { authorization_endpoint: endpoint = '', scopes_supported: scopes = [] }: AuthorizationServer,
  { state, nonce, verifier }: Secrets,
): Promise<URL> => {
  const address = new URL(endpoint);
  const fields = {
    client_id: site.oidcClientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: ['openid', ...['email', 'offline_access'].filter((scope) => scopes.includes(scope))].join(' '),
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
  };
  for (const [name, value] of Object.entries(fields)) address.searchParams.set(name, value);
  return address;
};

/** @throws if state, nonce or issuer differ, or the issuer refuses the code */
export const redeemCode = async (
  server: AuthorizationServer,
  sent: URLSearchParams,
  { state, nonce, verifier }: Secrets,
): Promise<TokenEndpointResponse> => {
  const checked = validateAuthResponse(server, client, sent, state);
  const response = await authorizationCodeGrantRequest(
    ...([server, client, None(), checked, redirectUri, verifier, options] as const),
  );
  return processAuthorizationCodeResponse(server, client, response, { expectedNonce: nonce, requireIdToken: true });
};

/** @throws if the issuer refuses */
export const refreshTokens = async (server: AuthorizationServer, token: string): Promise<TokenEndpointResponse> => {
  const response = await refreshTokenGrantRequest(server, client, None(), token, options);
  return processRefreshTokenResponse(server, client, response);
};
