/** @module The typed client of the public API, with sign-in and paging helpers. A failed call throws a Problem. */

import createClient from 'openapi-fetch';
import { isExpiring, isRenewable, renewToken } from './oidc.ts';
import { Problem, problemOf, unreachable } from './problem.ts';
import { credentialHeader, endSession, keepSession, session } from './session.ts';
import { site } from './site.ts';
import type { PaymentsClient, paths } from './types.ts';

const UNAUTHORIZED = 401;

/**
 * The typed client of the public API, which sends the session's credential. The cast is sound because PaymentsClient
 * accepts fewer calls than openapi-fetch.
 */
export const api = createClient<paths, 'application/json'>({ baseUrl: site.basePath }) as Omit<
  PaymentsClient,
  'paginate'
>;

/** Copies of sent requests with their tokens, for one retry after the token is renewed. */
const repeatable = new Map<string, { readonly request: Request; readonly credential: string }>();

const credentialNow = (): string => session.value?.credential ?? '';

const authorize = (request: Request): Request => {
  const credential = credentialNow();
  if (credential !== '') request.headers.set(...credentialHeader(credential));
  return request;
};

api.use({
  onRequest: async ({ request, id }) => {
    if (isRenewable() && isExpiring()) await renewToken();
    if (isRenewable()) repeatable.set(id, { request: request.clone(), credential: credentialNow() });
    return authorize(request);
  },
  /** Retries a request once after a refused token, because a refused request had no effect. */
  onResponse: async ({ response, id }) => {
    const again = repeatable.get(id);
    repeatable.delete(id);
    if (response.status !== UNAUTHORIZED || !again) return undefined;
    // Another request may have renewed the token in the meantime.
    const isRenewed = credentialNow() !== again.credential || (await renewToken());
    return isRenewed ? fetch(authorize(again.request)) : undefined;
  },
  onError: ({ id }) => {
    repeatable.delete(id);
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

/** Ends the session if the service no longer accepts its credential. @throws Problem */
const accepted = async <Data>(call: Promise<Called<Data>>): Promise<Called<Data>> => {
  const called = await call.catch((reason: unknown) => {
    if (reason instanceof Problem) throw reason;
    throw unreachable();
  });
  const { error, response } = called;
  if (response.ok) return called;
  if (response.status === 401 && session.value) endSession('The session has ended. Sign in again.');
  throw problemOf(response, error);
};

/** The response of a call. @throws Problem */
export const answerOf = async <Data>(call: Promise<Called<Data>>): Promise<Answered<Data>> => {
  const { data, response } = await accepted(call);
  if (data === undefined) throw problemOf(response, undefined);
  return { data, response };
};

/** Waits for a call with an empty response. @throws Problem */
export const done = async (call: Promise<Called<unknown>>): Promise<void> => {
  await accepted(call);
};

/** @throws Problem if the credential is refused */
export const signIn = async (credential: string, isInMemory = false): Promise<void> => {
  const headers = Object.fromEntries([credentialHeader(credential)]);
  const { data } = (await answerOf(api.GET('/me', { headers }))).data;
  const { user_id: userId, email, scopes } = data;
  keepSession(
    {
      credential,
      userId,
      name: email || userId,
      isAdmin: data.is_admin,
      staffRole: data.staff_role,
      scopes,
      refundLimits: data.refund_limits,
    },
    isInMemory,
  );
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
