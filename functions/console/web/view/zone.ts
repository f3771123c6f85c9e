/** @module The time zone of displayed times, either UTC or the browser's zone. The browser remembers the choice. */

import { signal } from '@preact/signals';

const KEY = 'payments-console-zone';
const LOCAL = 'local';

const isLocalStored = (): boolean => {
  try {
    return localStorage.getItem(KEY) === LOCAL;
  } catch {
    // A browser may block the storage. Times are then in UTC.
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

/** The title of a column or field with times, including the zone, such as `Created (UTC)`. */
export const withZone = (title: string): string => `${title} (${isLocalZone.value ? browserZone : 'UTC'})`;
