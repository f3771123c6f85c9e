/**
 * @module Sets the browser's language to `en` if Intl rejects it. With the locale POSIX, a browser reports the invalid
 * language `en-US@posix`. The chart library passes this language to Intl when it is loaded, so this file is loaded
 * first.
 */

const isTaken = (language: string): boolean => {
  try {
    return Intl.getCanonicalLocales(language).length > 0;
  } catch {
    return false;
  }
};

if (!isTaken(navigator.language)) Object.defineProperty(navigator, 'language', { value: 'en' });
