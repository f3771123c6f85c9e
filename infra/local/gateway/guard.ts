import type { IncomingMessage } from 'node:http';

/**
 * What keeps pages of the web away from the host: a page may send requests to 127.0.0.1, by a name of its own that leads
 * there or as a form that no preflight asks about. Nobody but this machine's own programs and pages is answered.
 */
const OWN_HOST = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/i;

/** Why the request is refused; undefined: it is not. @param isControl it is for a control route. */
export const refusalOf = (message: IncomingMessage, isControl: boolean): string | undefined => {
  const { host = '' } = message.headers;
  if (!OWN_HOST.test(host)) return 'the host answers for 127.0.0.1, localhost and [::1] alone';
  return isControl && isForeign(message) ? 'a page of another origin may not reach the control routes' : undefined;
};

/** Programs name no origin. A link that somebody follows to a page here is no foreign request: it changes nothing. */
const isForeign = ({ method, headers }: IncomingMessage): boolean => {
  const { host, origin, 'sec-fetch-site': site, 'sec-fetch-mode': mode } = headers;
  if (origin !== undefined) return origin.toLowerCase() !== `http://${host}`.toLowerCase();
  if (site === undefined || site === 'same-origin' || site === 'none') return false;
  return !(method === 'GET' && mode === 'navigate');
};
