/** @module Serves the stand-ins for the vendors' browser scripts. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rowOf } from '../../../shared/core/rows.ts';
import type { LocalRequest, LocalResponse } from '../machine/answer.ts';

type Site = (ask: LocalRequest) => Promise<LocalResponse | undefined>;

/** Script files by path below the simulated providers. */
const SCRIPTS: Readonly<Record<string, string>> = {
  '/stripe/stripe.js': 'stripe.js',
  '/square/square.js': 'square.js',
};

/** @param site the simulated providers. */
export const withBrowserScripts =
  (site: Site): Site =>
  async (ask) => {
    const file = ask.method === 'GET' ? rowOf(SCRIPTS, ask.path) : undefined;
    return file === undefined ? site(ask) : script(file);
  };

const script = async (file: string): Promise<LocalResponse> => ({
  status: 200,
  headers: { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'no-cache' },
  body: await readFile(join(import.meta.dirname, file), 'utf8'),
});
