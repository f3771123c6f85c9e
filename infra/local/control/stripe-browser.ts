import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LocalRequest, LocalResponse } from '../machine/answer.ts';

/** A stand-in for Stripe.js, for a shop's page in a browser. */
type Site = (ask: LocalRequest) => Promise<LocalResponse | undefined>;

const SCRIPT = '/stripe/stripe.js';

/** @param site the simulated providers. */
export const withStripeBrowser =
  (site: Site): Site =>
  async (ask) =>
    ask.path === SCRIPT && ask.method === 'GET' ? script() : site(ask);

const script = async (): Promise<LocalResponse> => ({
  status: 200,
  headers: { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'no-cache' },
  body: await readFile(join(import.meta.dirname, 'stripe.js'), 'utf8'),
});
