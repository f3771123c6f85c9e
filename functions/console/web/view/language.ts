/**
 * @module Replaces a browser language that Intl refuses with `en`. With the locale POSIX, a browser has the invalid
 * language `en-US@posix`, and the chart library passes the browser's language to Intl when it is loaded. So this file
 * is loaded first.
 */

const isTaken = (language: string): boolean => {
  try {
    return Intl.getCanonicalLocales(language).length > 0;
  } catch {
    return false;
  }
};

if (!isTaken(navigator.language)) Object.defineProperty(navigator, 'language', { value: 'en' });
