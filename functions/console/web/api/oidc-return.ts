/**
 * @module What the issuer sent back in the address. Read when the console starts, before any other reader of the
 * address, and removed from the address bar and the history.
 */

import { site } from './site.ts';

const isReturn = (sent: URLSearchParams): boolean =>
  site.oidcIssuer !== '' &&
  location.pathname.replace(/\/$/, '') === site.root &&
  sent.has('state') &&
  (sent.has('code') || sent.has('error'));

const readReturn = (): URLSearchParams | undefined => {
  const sent = new URLSearchParams(location.search);
  if (!isReturn(sent)) return undefined;
  history.replaceState(null, '', site.root);
  return sent;
};

let returned = readReturn();

/** The response of the issuer; undefined without a sign-in, and after the first read. */
export const takeIssuersResponse = (): URLSearchParams | undefined => {
  const sent = returned;
  returned = undefined;
  return sent;
};
