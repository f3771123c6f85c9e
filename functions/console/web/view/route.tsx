/**
 * @module The router of the console. The address bar is the state. The path below /console selects the page, and the
 * query holds its filters.
 */

import { batch, signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
// This import comes first, because it removes a session ID from the address before this module reads the address.
import '../api/sign-in-return.ts';
import { site } from '../api/site.ts';

/** The address of a page, with the path below /console and the query of its filters. */
interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
}

const placeNow = (): Place => ({
  path: location.pathname.slice(site.root.length) || '/',
  query: new URLSearchParams(location.search),
});

export const place = signal<Place>(placeNow());

/** Counts the pages opened after the first page, including with Back. Filter changes do not count. */
export const arrivals = signal(0);

const move = (to: Place, isArrival: boolean): void => {
  batch(() => {
    place.value = to;
    if (isArrival) arrivals.value += 1;
  });
};

const addressOf = ({ path, query }: Place): string => withQuery(path, query);

addEventListener('popstate', () => {
  const to = placeNow();
  // A fragment change, such as a jump to the content, stays on the page.
  move(to, addressOf(to) !== addressOf(place.value));
});

/** @param to a path below /console, with its query */
export const go = (to: string, how: 'push' | 'replace' = 'push'): void => {
  if (how === 'push') history.pushState(null, '', site.root + to);
  else history.replaceState(null, '', site.root + to);
  const isOtherPage = placeNow().path !== place.value.path;
  move(placeNow(), how === 'push' || isOtherPage);
  if (isOtherPage) scrollTo(0, 0);
};

/** Sets parameters of the query in the address bar. An empty value removes the parameter. */
export const setQuery = (values: Readonly<Record<string, string>>): void => {
  const query = new URLSearchParams(place.value.query);
  for (const [name, value] of Object.entries(values)) {
    if (value === '') query.delete(name);
    else query.set(name, value);
  }
  go(withQuery(place.value.path, query), 'replace');
};

export const withQuery = (path: string, query: URLSearchParams): string => (query.size > 0 ? `${path}?${query}` : path);

/** Decodes a path segment; undefined if its percent encoding is invalid. */
const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};

/** The parameters of a path, for a pattern such as `/payments/:id`; undefined if the path does not match. */
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

/** A link to a page of the console. It is a real link, so it opens in a new tab and its address can be copied. */
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
