/**
 * @module The typed client of the public API, with the sign-in and the positions of the next pages. A failed call
 * throws a Problem.
 */

import createClient from 'openapi-fetch';
import { Problem, problemOf, unreachable } from './problem.ts';
import { credentialHeader, endSession, keepSession, session } from './session.ts';
import { site } from './site.ts';
import type { paths } from './types.ts';

/** The typed client of the public API, which sends the credential of the session. */
export const api = createClient<paths, 'application/json'>({ baseUrl: site.basePath });

api.use({
  onRequest: ({ request }) => {
    const { credential = '' } = session.value ?? {};
    if (credential !== '') request.headers.set(...credentialHeader(credential));
    return request;
  },
});

interface Called<Data> {
  readonly data?: Data | undefined;
  readonly error?: unknown;
  readonly response: Response;
}

export interface Answered<Data> {
  readonly data: Data;
  readonly response: Response;
}

/**
 * The response of a call. A session that the service no longer accepts is ended.
 * @throws Problem
 */
export const answerOf = async <Data>(call: Promise<Called<Data>>): Promise<Answered<Data>> => {
  const { data, error, response } = await call.catch((reason: unknown) => {
    if (reason instanceof Problem) throw reason;
    throw unreachable();
  });
  if (response.ok && data !== undefined) return { data, response };
  const problem = problemOf(response, error);
  if (response.status === 401 && session.value) endSession('The session has ended. Sign in again.');
  throw problem;
};

/** @throws Problem if the credential is refused */
export const signIn = async (credential: string): Promise<void> => {
  const headers = Object.fromEntries([credentialHeader(credential)]);
  const { data: list } = await answerOf(api.GET('/payments', { headers, params: { query: { limit: 1 } } }));
  const { response } = await api.GET('/admin/payments', { headers, params: { query: { limit: 1 } } });
  const { email, id } = userIn(list);
  keepSession({ credential, isAdmin: response.ok, name: email || id, userId: id });
};

/** Reads the caller from the list of payments, which reports the caller beside its data. */
const userIn = (list: object): { readonly email: string; readonly id: string } => {
  const context: unknown = 'user_context' in list ? list.user_context : undefined;
  if (typeof context !== 'object' || context === null) return { email: '', id: '' };
  const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
  return {
    email: textOf('user_email' in context && context.user_email),
    id: textOf('user_id' in context && context.user_id),
  };
};

/** The position of the next page of a list with offsets; undefined on the last page. */
export const nextOffset = (response: Response): string | undefined => {
  const [, target] = /<([^<>]*)>;\s*rel="next"/.exec(response.headers.get('link') ?? '') ?? [];
  return target === undefined ? undefined : (new URL(target, location.href).searchParams.get('offset') ?? undefined);
};

/** The position of the next page of a list with cursors; undefined on the last page. */
export const nextCursor = (meta: Readonly<Record<string, unknown>> | undefined): string | undefined => {
  const hasMore = meta?.['has_more'] ?? meta?.['hasMore'];
  const cursor = meta?.['next_cursor'];
  return hasMore === true && typeof cursor === 'string' ? cursor : undefined;
};
