/**
 * @module Protects the host from foreign web pages. A page can reach 127.0.0.1 through a host name that resolves to it,
 * or by a form without a preflight. So the host serves only requests for its own names and the names in ALLOWED_HOSTS,
 * and pages of other origins cannot reach the control routes.
 */
import type { IncomingMessage } from 'node:http';

const OWN_HOST = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/i;

export interface Reach {
  /** The address that the host listens on. */
  readonly address: string;
  /** Lower-case host names, without a port. */
  readonly allowedHosts: readonly string[];
}

/**
 * @returns the reason for refusing the request, or undefined if it is allowed.
 * @param isControl true if the request is for a control route.
 */
export const requestRefusal = (message: IncomingMessage, isControl: boolean, reach: Reach): string | undefined => {
  const { host = '' } = message.headers;
  if (!OWN_HOST.test(host) && !isAllowed(host, reach))
    return 'the host accepts requests for 127.0.0.1, localhost, [::1] and the names in ALLOWED_HOSTS only';
  return isControl && isForeign(message) ? 'a page of another origin may not reach the control routes' : undefined;
};

const isAllowed = (host: string, { address, allowedHosts }: Reach): boolean => {
  const name = host.toLowerCase().replace(/:\d{1,5}$/, '');
  return name === address || allowedHosts.includes(name);
};

/**
 * True for a request from a page of another origin. Programs send no origin. Links to a page of this host are allowed,
 * because following them changes nothing.
 */
const isForeign = ({ method, headers }: IncomingMessage): boolean => {
  const { host, origin, 'sec-fetch-site': site, 'sec-fetch-mode': mode } = headers;
  if (origin !== undefined) return origin.toLowerCase() !== `http://${host}`.toLowerCase();
  if (site === undefined || site === 'same-origin' || site === 'none') return false;
  return !(method === 'GET' && mode === 'navigate');
};
