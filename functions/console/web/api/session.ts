import { computed, signal } from '@preact/signals';

/** The signed-in user. The session is kept only in sessionStorage, so it ends with the tab. */
export interface Session {
  /** A session ID, or a bearer token. */
  readonly credential: string;
  readonly isAdmin: boolean;
  /** The user's e-mail address or id. */
  readonly name: string;
  readonly userId: string;
}

const KEY = 'payments-console-session';

const isSession = (value: unknown): value is Session =>
  typeof value === 'object' && value !== null && 'credential' in value && typeof value.credential === 'string';

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
/** Why the user sees the sign-in page. */
export const endedBecause = signal('');

export const keepSession = (opened: Session): void => {
  sessionStorage.setItem(KEY, JSON.stringify(opened));
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
