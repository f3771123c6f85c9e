/**
 * @module The issuer's response in the address. It is read when the console starts, before any other code reads the
 * address, and is then removed from the address bar and the history.
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

/** The issuer's response; undefined without a sign-in and after the first read. */
export const takeIssuersResponse = (): URLSearchParams | undefined => {
  const sent = returned;
  returned = undefined;
  return sent;
};
