/** @module The frame of every page, with banner, navigation and content. */

import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { clockOffsetMs } from '../api/local.ts';
import { signOutAddress } from '../api/oidc.ts';
import { endSession, session } from '../api/session.ts';
import { site } from '../api/site.ts';
import { duration, inWords } from './format.ts';
import { CloseIcon, MenuIcon } from './icons.tsx';
import { isPhone } from './room.ts';
import { arrivals, go, Link, place } from './route.tsx';
import { browserZone, chooseZone, isLocalZone } from './zone.ts';

/** An entry of the navigation. */
export interface NavigationItem {
  readonly path: string;
  readonly name: string;
  /** The content next to the name. */
  readonly badge?: ComponentChildren;
}

interface LayoutProps {
  readonly items: readonly NavigationItem[];
  /** The search field at the top. */
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
      <header>
        {site.mode !== '' && <p class="mode">{site.mode}</p>}
        {isPhone() ? <PhoneBar items={items} search={search} /> : <DeskBar search={search} />}
      </header>
      <div class="frame">
        {!isPhone() && <Navigation items={items} />}
        <main id="main" tabIndex={-1}>
          {children}
        </main>
      </div>
    </>
  );
};

/** Moves the focus to the heading of a new page, for keyboard and screen reader users. */
const useFocusOnHeading = (): void => {
  const arrival = arrivals.value;
  // Runs before the paint, so that the next key press finds the focus on the heading.
  useLayoutEffect(() => {
    if (arrival > 0) document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
  }, [arrival]);
};

const Navigation = ({ items }: Pick<LayoutProps, 'items'>) => (
  <nav aria-label="Pages">
    {items.map(({ path, name, badge }) => (
      <Link key={path} to={path} current={isCurrent(path)}>
        {name}
        {badge}
      </Link>
    ))}
  </nav>
);

const DeskBar = ({ search }: Pick<LayoutProps, 'search'>) => (
  <>
    <span class="brand">Payments</span>
    <ClockNote />
    {search}
    <ZoneSelect />
    <Who />
  </>
);

/** One line with the menu, the title and the search. */
const PhoneBar = ({ items, search }: Pick<LayoutProps, 'items' | 'search'>) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class="icon-button" aria-label="Menu" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <MenuIcon />
      </button>
      <span class="brand">Payments</span>
      <ClockNote />
      <span class="quiet zone-name">{isLocalZone.value ? browserZone : 'UTC'}</span>
      {search}
      {isOpen && <Drawer items={items} onClose={() => setOpen(false)} />}
    </>
  );
};

interface DrawerProps extends Pick<LayoutProps, 'items'> {
  readonly onClose: () => void;
}

const Drawer = ({ items, onClose }: DrawerProps) => {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => element.current?.showModal(), []);
  // Closes the menu before the link opens its page, because a page behind an open dialog cannot take the focus.
  const closeBeforeChoice = ({ target }: MouseEvent): void => {
    // A click on the backdrop has the dialog as its target.
    if (target instanceof Element && (target === element.current || target.closest('a'))) element.current?.close();
  };
  return (
    <dialog ref={element} class="drawer" aria-label="Menu" onClose={onClose} onClickCapture={closeBeforeChoice}>
      <div class="drawer-content">
        <button type="button" class="icon-button" aria-label="Close menu" onClick={() => element.current?.close()}>
          <CloseIcon />
        </button>
        <Navigation items={items} />
        <ZoneSelect />
        <Who />
      </div>
    </dialog>
  );
};

const Who = () =>
  session.value === undefined ? null : (
    <span class="who">
      <span class="user" title={session.value.name}>
        {session.value.name}
      </span>
      <Role />
      <button type="button" class="plain" onClick={signOut}>
        Sign out
      </button>
    </span>
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

/** Shown on every page while the clock is moved, because the moved clock explains dates in the future. */
const ClockNote = () =>
  clockOffsetMs.value === 0 ? null : (
    <span class="clock" title="The clock of the local host was moved forward">
      Clock {clockOffsetMs.value > 0 ? '+' : '−'}
      {duration(clockOffsetMs.value)}
    </span>
  );
