/** @module The frame of every page, with the banner, the navigation, and the page itself. */

import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { clockOffsetMs } from '../api/local.ts';
import { signOutAddress } from '../api/oidc.ts';
import { endSession, session } from '../api/session.ts';
import { site } from '../api/site.ts';
import { duration, inWords } from './format.ts';
import { arrivals, go, Link, place } from './route.tsx';
import { browserZone, chooseZone, isLocalZone } from './zone.ts';

/** An entry of the navigation. */
export interface NavigationItem {
  readonly path: string;
  readonly name: string;
  /** What stands beside the name. */
  readonly badge?: ComponentChildren;
}

interface LayoutProps {
  readonly items: readonly NavigationItem[];
  /** The search field in the head. */
  readonly search: ComponentChildren;
  readonly children: ComponentChildren;
}

const isCurrent = (path: string): boolean => place.value.path === path || place.value.path.startsWith(`${path}/`);

export const Layout = ({ items, search, children }: LayoutProps) => {
  useFocusOnHeading();
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <Banner search={search} />
      <div class="frame">
        <Navigation items={items} />
        <main id="main" tabIndex={-1}>
          {children}
        </main>
      </div>
    </>
  );
};

/** Users of a keyboard or a screen reader start at the heading of the page that they come to. */
const useFocusOnHeading = (): void => {
  const arrival = arrivals.value;
  useEffect(() => {
    if (arrival > 0) document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
  }, [arrival]);
};

const Navigation = ({ items }: Pick<LayoutProps, 'items'>) => {
  const element = useRef<HTMLElement>(null);
  const { path: shown } = place.value;
  // On a narrow screen the links are one line that scrolls, and the link of the shown page must be visible.
  useEffect(() => {
    const current = shown === '' ? null : element.current?.querySelector<HTMLElement>('[aria-current]');
    if (current) element.current?.scrollTo({ left: current.offsetLeft - current.offsetWidth });
  }, [shown]);
  return (
    <nav aria-label="Pages" ref={element}>
      {items.map(({ path, name, badge }) => (
        <Link key={path} to={path} current={isCurrent(path)}>
          {name}
          {badge}
        </Link>
      ))}
    </nav>
  );
};

const Banner = ({ search }: Pick<LayoutProps, 'search'>) => (
  <header>
    {site.mode !== '' && <p class="mode">{site.mode}</p>}
    <span class="brand">Payments</span>
    <ClockNote />
    {search}
    <ZoneSelect />
    {session.value && (
      <span class="who">
        <span class="user" title={session.value.name}>
          {session.value.name}
        </span>
        <Role />
        <button type="button" class="plain" onClick={signOut}>
          Sign out
        </button>
      </span>
    )}
  </header>
);

const Role = () => {
  const { isAdmin = false, staffRole = null } = session.value ?? {};
  if (!isAdmin && staffRole === null) return null;
  return <span class="role">{isAdmin ? 'Platform admin' : inWords(staffRole ?? '')}</span>;
};

const ZoneSelect = () => (
  <label class="zone">
    <span class="quiet">Times in</span>
    <select
      value={isLocalZone.value ? 'local' : 'utc'}
      onChange={({ currentTarget }) => chooseZone(currentTarget.value === 'local')}
    >
      <option value="utc" selected={!isLocalZone.value}>
        UTC
      </option>
      <option value="local" selected={isLocalZone.value}>
        Local time, {browserZone}
      </option>
    </select>
  </label>
);

const signOut = (): void => {
  const atIssuer = signOutAddress();
  endSession();
  if (atIssuer === undefined) go('/');
  else location.assign(atIssuer);
};

/** Always visible, because a moved clock explains dates in the future. */
const ClockNote = () =>
  clockOffsetMs.value === 0 ? null : (
    <span class="clock" title="The clock of the local host was moved forward">
      Clock {clockOffsetMs.value > 0 ? '+' : '−'}
      {duration(clockOffsetMs.value)}
    </span>
  );
