/** @module Reads a request's session from the identity service and caches it for a minute. */
import { createError } from '@middy/util';
import * as z from 'zod';

const sessionSchema = z.object({ user_id: z.string(), email: z.string().optional() });
export type Session = z.infer<typeof sessionSchema>;

const UNAUTHORIZED = { success: false, code: 'UNAUTHORIZED', error: 'Sign in first' };
const KEPT_MS = 60_000;
const kept = new Map<string, { readonly session: Session; readonly until: number }>();

/** @throws 401 without a valid session */
export const sessionOf = async (headers: Readonly<Record<string, string | undefined>>): Promise<Session> => {
  const id = headers['x-session-id'];
  if (!id) throw createError(401, JSON.stringify(UNAUTHORIZED));
  const known = kept.get(id);
  if (known && known.until > Date.now()) return known.session;
  const response = await fetch(`${process.env['IDENTITY_URL']}/sessions/${encodeURIComponent(id)}`);
  if (!response.ok) throw createError(401, JSON.stringify(UNAUTHORIZED));
  const session = sessionSchema.parse(await response.json());
  kept.set(id, { session, until: Date.now() + KEPT_MS });
  return session;
};
