/**
 * A browser with the locale POSIX has the language `en-US@posix`. Intl takes no such tag, and the chart library gives the
 * browser's language to Intl when it is loaded. So this file is loaded first, and the language is `en` there.
 */
const isTaken = (language: string): boolean => {
  try {
    return Intl.getCanonicalLocales(language).length > 0;
  } catch {
    return false;
  }
};

if (!isTaken(navigator.language)) Object.defineProperty(navigator, 'language', { value: 'en' });
