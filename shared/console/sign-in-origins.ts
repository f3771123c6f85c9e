/**
 * @module The origins of the issuer and of its discovery document's token endpoint, for the console's sign-in. The
 * document is read at most once an hour. After a failed read, the last known origins stay in use, or only the issuer's
 * origin if none are known. The read is retried after a minute.
 */

import * as z from 'zod';
import { HOUR_MS, MINUTE_MS, type Now } from '../core/time.ts';
import type { FetchInit } from '../platform/fetch.ts';

interface OriginOptions {
  /** If empty, sign-in calls no origins. */
  readonly issuer: string;
  readonly timeoutMs: number;
  readonly fetch: (url: string, init: FetchInit) => Promise<Pick<Response, 'ok' | 'json'>>;
  readonly now: Now;
}

const endpointSchema = z.lazy(() => z.object({ issuer: z.string(), token_endpoint: z.url() }));

export const signInOrigins = ({ issuer, timeoutMs, fetch, now }: OriginOptions) => {
  let known: { readonly origins: readonly string[]; readonly until: number } | undefined;
  const read = async (): Promise<readonly string[]> => {
    const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const response = await fetch(address, { signal: AbortSignal.timeout(timeoutMs) });
    if (!response.ok) throw new Error('the discovery document cannot be read');
    const found = endpointSchema.parse(await response.json());
    if (found.issuer !== issuer) throw new Error('the discovery document is of another issuer');
    return [...new Set([new URL(issuer).origin, new URL(found.token_endpoint).origin])];
  };
  return async (): Promise<readonly string[]> => {
    if (issuer === '') return [];
    if (known && known.until > now()) return known.origins;
    try {
      known = { origins: await read(), until: now() + HOUR_MS };
    } catch {
      known = { origins: known?.origins ?? [new URL(issuer).origin], until: now() + MINUTE_MS };
    }
    return known.origins;
  };
};
