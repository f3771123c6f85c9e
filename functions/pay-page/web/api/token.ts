/**
 * @module The token of the page. It arrives in the URL fragment, which reaches no server. The tab stores the token and
 * removes it from the address. A payer who reloads or returns from a vendor still has it.
 */

const FORM = /^#(plk_[\w-]+)$/;
const KEPT = 'pay-token';
const LEFT = 'pay-left';

/** Replaces sessionStorage if the browser blocks it. */
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

/** The data from the address at page load. */
export interface Arrival {
  readonly token: string | undefined;
  /** The payment's status when the payer left for the vendor's page; undefined unless the payer has just returned. */
  readonly leftAs: string | undefined;
  /** True if the address contains a PayPal approval. */
  readonly isApproval: boolean;
}

export const keepToken = (token: string): void => keep(KEPT, token);

/** Stores the payment's current status, and opens the vendor's page. */
export const leaveFor = (url: string, status: string): void => {
  keep(LEFT, status);
  location.assign(url);
};

/** Reads the address, and removes the token and the vendor's parameters from it. */
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

/** The idempotency key of a start. A retry reuses the key while the outcome is unknown. */
export const keyOfStart = (body: string): string => {
  const [key = '', of] = (kept(STARTED) ?? '').split('\n', 2);
  if (of === body && key !== '') return key;
  const fresh = crypto.randomUUID();
  keep(STARTED, `${fresh}\n${body}`);
  return fresh;
};

export const forgetStart = (): void => keep(STARTED, undefined);
