import './oidc-return.ts';
import { endedBecause, session } from './session.ts';
import { site } from './site.ts';

/** The sessionStorage key of the random state, which proves that this tab opened CONSOLE_SIGN_IN_URL. */
const KEY = 'payments-console-sign-in';
const NOT_ASKED = 'The console ignored the session in this link, because the sign-in did not start in this tab.';

/** Opens the sign-in page, which sends the user back to `return_to` with `#session_id=`. */
export const openSignInPage = (): void => {
  const state = crypto.randomUUID();
  sessionStorage.setItem(KEY, state);
  const back = new URL(location.href);
  back.hash = '';
  back.searchParams.set('state', state);
  const address = new URL(site.signInUrl);
  address.searchParams.set('return_to', back.href);
  location.assign(address);
};

/** Removes the session ID and the state from the address bar and the history. */
const takeFromAddress = (): { readonly credential: string; readonly state: string } => {
  const address = new URL(location.href);
  const fragment = new URLSearchParams(address.hash.slice(1));
  const state = address.searchParams.get('state') ?? '';
  if (fragment.has('session_id')) address.hash = '';
  if (address.searchParams.has('state')) address.searchParams.delete('state');
  if (address.href !== location.href) history.replaceState(null, '', address);
  return { credential: fragment.get('session_id') ?? '', state };
};

/**
 * Reads the session ID from the address. The state in the address must equal this tab's stored state, so another
 * person's link cannot sign the user in.
 */
const readReturn = (): string => {
  const { credential, state } = takeFromAddress();
  if (credential === '') return '';
  const asked = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  if (session.value) return '';
  if (asked !== null && state === asked) return credential;
  endedBecause.value = NOT_ASKED;
  return '';
};

let returned = readReturn();

// A session in a changed fragment is removed from the address and ignored. The browser does not reload the page for
// such a change, and the sign-in page never returns this way.
addEventListener('hashchange', () => {
  readReturn();
});

/** The session ID from the sign-in page; empty without a sign-in and after the first read. */
export const takeReturnedSession = (): string => {
  const credential = returned;
  returned = '';
  return credential;
};
