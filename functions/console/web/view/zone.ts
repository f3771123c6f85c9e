/**
 * @module The time zone of the times that the console shows, which is UTC or the zone of the browser. The browser
 * remembers the choice.
 */

import { signal } from '@preact/signals';

const KEY = 'payments-console-zone';
const LOCAL = 'local';

const isLocalStored = (): boolean => {
  try {
    return localStorage.getItem(KEY) === LOCAL;
  } catch {
    // A browser may block the storage. Times are UTC then.
    return false;
  }
};

/** The name of the browser's zone, such as `Europe/Berlin`. */
export const browserZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** True if times are shown in the browser's zone, false if they are shown in UTC. */
export const isLocalZone = signal(isLocalStored());

export const chooseZone = (isLocal: boolean): void => {
  isLocalZone.value = isLocal;
  if (isLocal) localStorage.setItem(KEY, LOCAL);
  else localStorage.removeItem(KEY);
};

/** The title of a column or a field with times, with their zone, such as `Created (UTC)`. */
export const withZone = (title: string): string => `${title} (${isLocalZone.value ? browserZone : 'UTC'})`;
