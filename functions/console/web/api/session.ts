import { computed, signal } from '@preact/signals';
import type { Me, Scope } from './types.ts';

/** The signed-in user. The session ends with the tab, because it is only in sessionStorage or in memory. */
export interface Session {
  /** A session ID, or a bearer token. */
  readonly credential: string;
  readonly isAdmin: boolean;
  readonly staffRole: Me['staff_role'];
  /** Empty for payers. */
  readonly scopes: readonly Scope[];
  /** The user's limit for all refunds of one payment, by currency; null without a limit. */
  readonly refundLimits: Me['refund_limits'];
  /** The user's e-mail address or id. */
  readonly name: string;
  readonly userId: string;
}

const KEY = 'payments-console-session';

const isSession = (value: unknown): value is Session =>
  typeof value === 'object' && value !== null && 'credential' in value && 'scopes' in value;

const stored = (): Session | undefined => {
  try {
    const value: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? 'null');
    return isSession(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

export const session = signal<Session | undefined>(stored());
export const isAdmin = computed(() => session.value?.isAdmin === true);

/** True if the user has the scope, which covers the records of every owner. */
export const may = (scope: Scope): boolean => session.value?.scopes.includes(scope) === true;

/** The user's limit for all refunds of one payment together; undefined without a limit. */
export const refundLimitIn = (currency: string): number | undefined => {
  const limits = session.value?.refundLimits;
  return limits ? (limits[currency] ?? 0) : undefined;
};

/**
 * True if the user may open a record named by a payment or subscription. Staff need the scope. Payers do not, because
 * they see only their own records.
 */
export const mayOpen = (scope: Scope): boolean => !may('payments:read') || may(scope);

/** The reason for showing the sign-in page. */
export const endedBecause = signal('');

/** @param isInMemory true for a token from the issuer, lost when the page is closed */
export const keepSession = (opened: Session, isInMemory = false): void => {
  if (!isInMemory) sessionStorage.setItem(KEY, JSON.stringify(opened));
  endedBecause.value = '';
  session.value = opened;
};

export const endSession = (reason = ''): void => {
  sessionStorage.removeItem(KEY);
  endedBecause.value = reason;
  session.value = undefined;
};

/** A JWT has three parts. Any other credential is a session ID. */
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

export const credentialHeader = (credential: string): readonly [name: string, value: string] =>
  JWT.test(credential) ? ['Authorization', `Bearer ${credential}`] : ['X-Session-ID', credential];
