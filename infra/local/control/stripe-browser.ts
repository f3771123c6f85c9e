import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LocalRequest, LocalResponse } from '../machine/answer.ts';

/**
 * What a shop's page needs of Stripe in a browser: a stand-in for Stripe.js, and the CORS headers of Stripe's API. Only
 * pages of this machine get them.
 */
type Site = (ask: LocalRequest) => Promise<LocalResponse | undefined>;

const SCRIPT = '/stripe/stripe.js';
const API = '/stripe/v1/';
const OWN_PAGE = /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/;

/** @param site the simulated providers. */
export const withStripeBrowser =
  (site: Site): Site =>
  async (ask) => {
    if (ask.path === SCRIPT && ask.method === 'GET') return script();
    const headers = ask.path.startsWith(API) ? corsHeaders(ask.headers['origin']) : undefined;
    if (!headers) return site(ask);
    if (ask.method === 'OPTIONS') return { status: 204, headers, body: '' };
    const answer = await site(ask);
    return answer && { ...answer, headers: { ...answer.headers, ...headers } };
  };

const script = async (): Promise<LocalResponse> => ({
  status: 200,
  headers: { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'no-cache' },
  body: await readFile(join(import.meta.dirname, 'stripe.js'), 'utf8'),
});

const corsHeaders = (origin: string | undefined): Readonly<Record<string, string>> | undefined =>
  origin === undefined || !OWN_PAGE.test(origin)
    ? undefined
    : {
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'GET, POST',
        'access-control-allow-headers': 'authorization',
        vary: 'Origin',
      };
