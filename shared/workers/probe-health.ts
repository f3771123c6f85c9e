/**
 * @module Requests the stage's health at its public address, as a client does, through DNS, the certificate and the
 * API. An unhealthy stage does not fail the probe. The probe's metric raises the alarm.
 */

import type { Log } from '../core/logger.ts';
import { SECOND_MS } from '../core/time.ts';
import type { Fetch, FetchResponse } from '../platform/fetch.ts';

export interface ProbeDeps {
  readonly fetch: Fetch;
  /** The address that clients use, with the prefix of the routes. */
  readonly baseUrl: string;
  readonly log: Log;
}

/** The time-out of a probe. It is longer than the health route's own limit of five seconds. */
const MOST_MS = 10 * SECOND_MS;

/** Logs one line per probe. A redirect counts as unhealthy, because the API sends no redirects. */
export const probeHealth = async ({ fetch, baseUrl, log }: ProbeDeps): Promise<void> => {
  const reason = await ask(fetch, `${baseUrl.replace(/\/$/, '')}/health`);
  if (reason === undefined) log.info('health probed', { failed: 0 });
  else log.error('health probed', { failed: 1, reason });
};

/** @returns why the stage is unhealthy, or undefined */
const ask = async (fetch: Fetch, url: string): Promise<string | undefined> => {
  const signal = AbortSignal.timeout(MOST_MS);
  try {
    const response = await fetch(url, {
      headers: { 'user-agent': 'payments-health-probe' },
      signal,
      redirect: 'error',
    });
    return response.ok ? await problemOf(response) : `status ${response.status}`;
  } catch (error) {
    return signal.aborted ? 'timeout' : codeOf(error);
  }
};

/**
 * Why a response with a success status is not healthy; undefined if it is. A page of another server may also return
 * 200.
 */
const problemOf = async (response: FetchResponse): Promise<string | undefined> => {
  const text = await response.text();
  return /"status"\s*:\s*"ok"/.test(text) ? undefined : 'the response is not that of this service';
};

/**
 * The connection error's code, such as ENOTFOUND or CERT_HAS_EXPIRED. Without a code, the error's message, for example
 * after a redirect.
 */
const codeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unreachable';
  const { cause, message } = error;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : message;
};
