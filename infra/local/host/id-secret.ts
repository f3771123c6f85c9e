/** @module The host's ID_SECRET, stored in its data folder, and the ids of the demo data. */
import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { fingerprint, type IdKind, idOfHex } from '../../../shared/core/ids.ts';
import type { Env } from '../machine/environment.ts';
import type { State } from '../machine/sqlite.ts';

const NAME = 'id-secret';

/** The operator's secret, else the data folder's own. An in-memory host has a new secret at each start. */
export const idSecretOf = (operator: Env, state: State): string => {
  const known = operator['ID_SECRET'] || state.get(NAME, z.string());
  if (known) return known;
  const secret = randomBytes(48).toString('base64url');
  state.set(NAME, secret);
  return secret;
};

export type DemoId = (kind: IdKind, parts: readonly string[]) => string | undefined;

/**
 * Demo ids are the same on every machine, because the documentation names them.
 * @param isDemo true while the demo data are made
 */
export const demoIds =
  (isDemo: () => boolean): DemoId =>
  (kind, parts) =>
    isDemo() ? idOfHex(kind, fingerprint(...parts)) : undefined;
