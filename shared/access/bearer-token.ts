/** @module Verifies bearer tokens (JWT) with the issuer's published keys. Loaded only when a bearer token arrives. */

import { JwtVerifier } from 'aws-jwt-verify';
import { FetchError, JwtBaseError, JwtExpiredError } from 'aws-jwt-verify/error';
import { SimpleJwksCache } from 'aws-jwt-verify/jwk';

export interface BearerOptions {
  readonly jwksUri: string;
  readonly issuer: string;
  /** The accepted audiences; if empty, the audience is not checked. */
  readonly audiences: readonly string[];
  /** Fetches the published keys. */
  readonly read: (uri: string) => Promise<ArrayBuffer>;
}

export type VerifiedBearer =
  | { readonly kind: 'valid'; readonly claims: unknown }
  | { readonly kind: 'invalid' | 'expired' }
  /** The published keys could not be read. */
  | { readonly kind: 'unavailable'; readonly cause: unknown };

export const openBearerTokens = ({ jwksUri, issuer, audiences, read }: BearerOptions) => {
  const fetcher = {
    fetch: async (uri: string): Promise<ArrayBuffer> => {
      try {
        return await read(uri);
      } catch (error) {
        throw new FetchError(uri, error);
      }
    },
  };
  // The library checks `exp` against the machine's clock. The caller also checks it against the host's clock.
  const verifier = JwtVerifier.create(
    { issuer: issuer || null, audience: null, jwksUri },
    { jwksCache: new SimpleJwksCache({ fetcher }) },
  );
  return async (token: string): Promise<VerifiedBearer> => {
    try {
      const claims = await verifier.verify(token);
      return isForOneOf(audiences, claims) ? { kind: 'valid', claims } : { kind: 'invalid' };
    } catch (error) {
      if (error instanceof FetchError) return { kind: 'unavailable', cause: error };
      if (error instanceof JwtExpiredError) return { kind: 'expired' };
      if (error instanceof JwtBaseError) return { kind: 'invalid' };
      throw error;
    }
  };
};

/**
 * True if a token's audience is accepted, or if no audience is checked. In a token without `aud`, the audience is the
 * client (`client_id` in Cognito's access tokens, `azp` in Clerk's sessions).
 */
const isForOneOf = (audiences: readonly string[], claims: Readonly<Record<string, unknown>>): boolean => {
  const { aud, client_id: clientId, azp } = claims;
  const named = [aud ?? clientId ?? azp].flat();
  return audiences.length === 0 || named.some((one) => audiences.some((known) => known === one));
};
