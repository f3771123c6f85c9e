/** @module The frame of every page, with the banner, the navigation, and the page itself. */

import type { ComponentChildren } from 'preact';
import { clockOffsetMs } from '../api/local.ts';
import { endSession, session } from '../api/session.ts';
import { duration } from './format.ts';
import { go, Link, place } from './route.tsx';

/** An entry of the navigation. */
export interface NavigationItem {
  readonly path: string;
  readonly name: string;
}

interface LayoutProps {
  readonly items: readonly NavigationItem[];
  readonly children: ComponentChildren;
}

const isCurrent = (path: string): boolean => place.value.path === path || place.value.path.startsWith(`${path}/`);

export const Layout = ({ items, children }: LayoutProps) => (
  <>
    <a class="skip" href="#main">
      Skip to content
    </a>
    <Banner />
    <div class="frame">
      <nav aria-label="Pages">
        {items.map(({ path, name }) => (
          <Link key={path} to={path} current={isCurrent(path)}>
            {name}
          </Link>
        ))}
      </nav>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </div>
  </>
);

const Banner = () => (
  <header>
    <span class="brand">Payments</span>
    <ClockNote />
    {session.value && (
      <span class="who">
        <span class="user">{session.value.name}</span>
        {session.value.isAdmin && <span class="role">Platform admin</span>}
        <button type="button" class="plain" onClick={signOut}>
          Sign out
        </button>
      </span>
    )}
  </header>
);

const signOut = (): void => {
  endSession();
  go('/');
};

/** Always visible, because a moved clock explains dates in the future. */
const ClockNote = () =>
  clockOffsetMs.value === 0 ? null : (
    <span class="clock" title="The local host's clock only goes forward; npm start -- --fresh starts over">
      Clock {clockOffsetMs.value > 0 ? '+' : '−'}
      {duration(clockOffsetMs.value)}
    </span>
  );
