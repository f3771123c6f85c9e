/**
 * @module The token of the page. It arrives in the fragment of the address, which reaches no server. The tab keeps it, so that
 * a payer who returns from a vendor or reloads the page still has it, and the address loses it.
 */

const FORM = /^#(plk_[\w-]+)$/;
const KEPT = 'pay-token';
const LEFT = 'pay-left';

/** Of a browser that keeps nothing for this site. */
const memory = new Map<string, string>();

const keep = (name: string, value: string | undefined): void => {
  try {
    if (value === undefined) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, value);
  } catch {
    if (value === undefined) memory.delete(name);
    else memory.set(name, value);
  }
};

const kept = (name: string): string | undefined => {
  try {
    return sessionStorage.getItem(name) ?? undefined;
  } catch {
    return memory.get(name);
  }
};

/** What the address said when the page was loaded. */
export interface Arrival {
  readonly token: string | undefined;
  /** The status of the payment when its payer left for the vendor's page; undefined unless the payer has just returned. */
  readonly leftAs: string | undefined;
  /** True if the address names an approval of PayPal. */
  readonly isApproval: boolean;
}

export const keepToken = (token: string): void => keep(KEPT, token);

/** Notes that the payer leaves for a vendor's page, and the status of the payment then. */
export const leaveFor = (url: string, status: string): void => {
  keep(LEFT, status);
  location.assign(url);
};

/** Reads the address, and takes the token and the vendor's parameters out of it. */
export const arrive = (): Arrival => {
  const [, sent] = FORM.exec(location.hash) ?? [];
  const query = new URLSearchParams(location.search);
  const isApproval = query.has('token');
  const isReturn = sent === undefined && (isApproval || query.has('payment_intent') || query.has('setup_intent'));
  if (sent !== undefined) keep(KEPT, sent);
  const left = kept(LEFT);
  keep(LEFT, undefined);
  history.replaceState(null, '', location.pathname);
  return { token: kept(KEPT), leftAs: isReturn ? left : undefined, isApproval };
};

const STARTED = 'pay-start';

/** The key of a start. A repeat has the same key while the outcome is unknown. */
export const keyOfStart = (body: string): string => {
  const [key = '', of] = (kept(STARTED) ?? '').split('\n', 2);
  if (of === body && key !== '') return key;
  const fresh = crypto.randomUUID();
  keep(STARTED, `${fresh}\n${body}`);
  return fresh;
};

export const forgetStart = (): void => keep(STARTED, undefined);
