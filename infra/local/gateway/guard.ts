import type { IncomingMessage } from 'node:http';

/**
 * Keeps foreign web pages away from the host. A page can send requests to 127.0.0.1 through a host name that resolves
 * to it, or as a form without a preflight. The host serves only programs and pages of this machine, and of the hosts that
 * ALLOWED_HOSTS names.
 */
const OWN_HOST = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/i;

export interface Reach {
  /** The address that the host listens on. */
  readonly address: string;
  /** Lower-case host names, without a port. */
  readonly allowedHosts: readonly string[];
}

/**
 * @returns why the request is refused, or undefined if it is allowed.
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

/** Programs send no origin. Following a link to a page of this host is allowed, because it changes nothing. */
const isForeign = ({ method, headers }: IncomingMessage): boolean => {
  const { host, origin, 'sec-fetch-site': site, 'sec-fetch-mode': mode } = headers;
  if (origin !== undefined) return origin.toLowerCase() !== `http://${host}`.toLowerCase();
  if (site === undefined || site === 'same-origin' || site === 'none') return false;
  return !(method === 'GET' && mode === 'navigate');
};
