import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
// Takes a session ID out of the address before this module reads the address.
import '../api/sign-in-return.ts';
import { site } from '../api/site.ts';

/** The page that the address bar names: the path below /console, and the query, which holds a page's filters. */
interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
}

const placeNow = (): Place => ({
  path: location.pathname.slice(site.root.length) || '/',
  query: new URLSearchParams(location.search),
});

export const place = signal<Place>(placeNow());

addEventListener('popstate', () => {
  place.value = placeNow();
});

/** @param to a path below /console, with its query. */
export const go = (to: string, how: 'push' | 'replace' = 'push'): void => {
  if (how === 'push') history.pushState(null, '', site.root + to);
  else history.replaceState(null, '', site.root + to);
  const before = place.value.path;
  place.value = placeNow();
  if (before !== place.value.path) scrollTo(0, 0);
};

/** Sets values of the query in the address bar; an empty value is left out. */
export const setQuery = (values: Readonly<Record<string, string>>): void => {
  const query = new URLSearchParams(place.value.query);
  for (const [name, value] of Object.entries(values)) {
    if (value === '') query.delete(name);
    else query.set(name, value);
  }
  go(withQuery(place.value.path, query), 'replace');
};

export const withQuery = (path: string, query: URLSearchParams): string => (query.size > 0 ? `${path}?${query}` : path);

/** undefined: the percent signs of the text are not valid. */
const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};

/** Parameters of a path like `/payments/:id`; undefined where the path is another. */
export const matchPath = (pattern: string, path: string): Readonly<Record<string, string>> | undefined => {
  const wanted = pattern.split('/');
  const given = path.replace(/\/$/, '').split('/');
  if (wanted.length !== given.length) return undefined;
  const found: Record<string, string> = {};
  for (const [index, segment] of wanted.entries()) {
    const value = decoded(given[index] ?? '');
    if (value === undefined) return undefined;
    if (segment.startsWith(':') && value !== '') found[segment.slice(1)] = value;
    else if (segment !== given[index]) return undefined;
  }
  return found;
};

interface LinkProps {
  /** A path below /console. */
  readonly to: string;
  readonly class?: string;
  readonly current?: boolean;
  readonly children: ComponentChildren;
}

/** A link to a page of the console. It is a real link: it opens in a new tab, and its address can be copied. */
export const Link = ({ to, current, children, ...rest }: LinkProps) => (
  <a
    {...rest}
    href={site.root + to}
    {...(current && { 'aria-current': 'page' as const })}
    onClick={(event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
      event.preventDefault();
      go(to);
    }}
  >
    {children}
  </a>
);
