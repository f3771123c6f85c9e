/**
 * @module Sends a POST to a webhook target. The time-out covers name resolution, connection, request and response. By
 * default only https and public addresses are allowed.
 */

import { promises as dns, type LookupAddress } from 'node:dns';
import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import * as z from 'zod';
import { isPublicAddress, urlProblem } from './webhook-targets.ts';

export interface PostOptions {
  readonly timeoutMs: number;
  /** True to allow targets at http and at private addresses. */
  readonly allowPrivate: boolean;
  readonly resolve?: (hostname: string) => Promise<readonly LookupAddress[]>;
}

export interface Posted {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const FAILURE_REASONS = ['timeout', 'forbidden_address', 'unreachable'] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

export const postResponseSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('answered'),
    status: z.int(),
    /** The first 2 KB of the body. A redirect is not followed. */
    body: z.string(),
    /** The header Retry-After. */
    retryAfter: z.string().optional(),
    durationMs: z.number(),
  }),
  z.object({
    kind: z.literal('failed'),
    reason: z.enum(FAILURE_REASONS),
    detail: z.string(),
    durationMs: z.number(),
  }),
]);
export type PostResponse = z.infer<typeof postResponseSchema>;

export type Post = (posted: Posted) => Promise<PostResponse>;

const ANSWER_BYTES = 2_048;

/** The target's address is not allowed. Thrown before any connection. */
class ForbiddenAddress extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = 'ForbiddenAddress';
  }
}

export const openPost = ({ timeoutMs, allowPrivate, resolve = resolveAll }: PostOptions): Post => {
  const lookup = allowPrivate ? undefined : publicLookup(resolve);
  const agents = openAgents();
  return async (posted) => {
    const startedAt = performance.now();
    const durationMs = () => Math.round(performance.now() - startedAt);
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const problem = urlProblem(posted.url, allowPrivate);
      if (problem !== undefined) throw new ForbiddenAddress(`its URL ${problem}`);
      const response = await send(posted, signal, { lookup, agents: agents() });
      const body = await firstBytes(response);
      const retryAfter = response.headers['retry-after'];
      const status = response.statusCode ?? 0;
      return { kind: 'answered', status, body, ...(retryAfter && { retryAfter }), durationMs: durationMs() };
    } catch (error) {
      return { kind: 'failed', ...failureOf(error, signal), durationMs: durationMs() };
    }
  };
};

const resolveAll = (hostname: string): Promise<readonly LookupAddress[]> => dns.lookup(hostname, { all: true });

/**
 * Resolves a name once and returns the checked addresses to the socket, so that a later change of the DNS record cannot
 * redirect the connection. The name is refused if any of its addresses is forbidden.
 */
const publicLookup =
  (resolve: (hostname: string) => Promise<readonly LookupAddress[]>): LookupFunction =>
  (hostname, options, done) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (!first || !addresses.every(({ address }) => isPublicAddress(address))) {
          done(new ForbiddenAddress('its host name also leads to an address that is not public'), '', 0);
        } else if (options.all) done(null, [...addresses]);
        else done(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => done(error, '', 0),
    );
  };

/**
 * How long an idle connection is kept. Targets usually keep it longer. A target with a shorter limit sends
 * `Keep-Alive`, which Node obeys.
 */
const KEPT_MS = 4_000;

interface Agents {
  readonly plain: PlainAgent;
  readonly secure: SecureAgent;
}

/** Keeps connections between POSTs, but not after a pause, because a frozen function loses its connections. */
const openAgents = (): (() => Agents) => {
  let agents: Agents | undefined;
  let usedAt = 0;
  return () => {
    const now = Date.now();
    if (!agents || now - usedAt > KEPT_MS || now < usedAt) {
      const options = { keepAlive: true, timeout: KEPT_MS };
      agents = { plain: new PlainAgent(options), secure: new SecureAgent(options) };
    }
    usedAt = now;
    return agents;
  };
};

interface Route {
  readonly lookup: LookupFunction | undefined;
  readonly agents: Agents | undefined;
}

/**
 * Sends the POST. If a kept connection is reset, the target closed it before the POST arrived, so the POST is sent
 * again on a new connection.
 */
const send = async (posted: Posted, signal: AbortSignal, route: Route): Promise<IncomingMessage> => {
  try {
    return await sendOnce(posted, signal, route);
  } catch (error) {
    if (!(error instanceof ClosedConnection)) throw error;
    return sendOnce(posted, signal, { ...route, agents: undefined });
  }
};

/** A kept connection was closed before the target responded on it. */
class ClosedConnection extends Error {}

const sendOnce = (
  { url, headers, body }: Posted,
  signal: AbortSignal,
  { lookup, agents }: Route,
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const target = new URL(url);
    const isSecure = target.protocol === 'https:';
    const call = (isSecure ? secureRequest : plainRequest)(target, {
      method: 'POST',
      agent: (isSecure ? agents?.secure : agents?.plain) ?? false,
      headers: { ...headers, 'content-length': body.byteLength },
      signal,
      ...(lookup && { lookup }),
    });
    call.once('response', resolve);
    call.once('error', (error: NodeJS.ErrnoException) => {
      const isClosed = call.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
      reject(isClosed ? new ClosedConnection() : error);
    });
    call.end(body);
  });

/** Reads the first bytes. If more follow, closes the connection. */
const firstBytes = async (response: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    chunks.push(Buffer.from(chunk));
    bytes += chunks.at(-1)?.byteLength ?? 0;
    if (bytes >= ANSWER_BYTES) break;
  }
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, ANSWER_BYTES), { stream: true });
};

const failureOf = (error: unknown, signal: AbortSignal): { reason: FailureReason; detail: string } => {
  if (error instanceof ForbiddenAddress) return { reason: 'forbidden_address', detail: error.message };
  if (signal.aborted) return { reason: 'timeout', detail: 'no response in time' };
  return { reason: 'unreachable', detail: codeOf(error) };
};

/** The error's code. If several addresses were tried, the code for the first address. */
const codeOf = (error: unknown): string => {
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  if (error instanceof Error && 'code' in error) return String(error.code);
  return 'unknown';
};
