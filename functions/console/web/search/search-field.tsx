/**
 * @module The search field at the top of every page. Staff and platform admins find records of every kind, and other
 * users find their own payments. `/` focuses it from anywhere.
 */

import { signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { may } from '../api/session.ts';
import { CloseIcon, SearchIcon } from '../view/icons.tsx';
import { isPhone } from '../view/room.ts';
import { go, place, withQuery } from '../view/route.tsx';

interface Target {
  readonly path: string;
  /** The page parameter with the search text. */
  readonly name: string;
  readonly placeholder: string;
}

const target = (): Target =>
  may('payments:read')
    ? { path: '/search', name: 'q', placeholder: 'Name, e-mail, ID, last four digits or reference' }
    : { path: '/payments', name: 'search', placeholder: 'ID of a payment' };

const isTyping = (focused: EventTarget | null): boolean =>
  focused instanceof Element && focused.matches('input, select, textarea');

/** True after `/` or the button of a phone has opened the field. A phone otherwise shows only the button. */
const isOpened = signal(false);

const isShown = (): boolean => !isPhone() || isOpened.value;

/** `/` opens the field and focuses it from anywhere. */
const useSlashKey = (input: { readonly current: HTMLInputElement | null }): void => {
  useEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || isTyping(event.target)) return;
      if (document.querySelector('dialog[open]')) return;
      event.preventDefault();
      isOpened.value = true;
      input.current?.focus();
      input.current?.select();
    };
    document.addEventListener('keydown', focus);
    return () => document.removeEventListener('keydown', focus);
  }, [input]);
};

export const SearchField = () => {
  const input = useRef<HTMLInputElement>(null);
  const { path, name, placeholder } = target();
  const inAddress = place.value.path === path ? (place.value.query.get(name) ?? '') : '';
  const [text, setText] = useState(inAddress);
  // Runs before the paint, because the user may start to type after the paint.
  useLayoutEffect(() => setText(inAddress), [inAddress]);
  useSlashKey(input);
  useLayoutEffect(() => {
    if (isOpened.value) input.current?.focus();
  }, [isOpened.value]);
  const search = (event: Event): void => {
    event.preventDefault();
    const wanted = text.trim();
    isOpened.value = false;
    if (wanted !== '') go(withQuery(path, new URLSearchParams({ [name]: wanted })));
  };
  return (
    <search class={isShown() ? 'shown' : ''}>
      {isShown() ? (
        <form class="head-search" onSubmit={search}>
          <label>
            <span class="unseen">Search</span>
            <input
              ref={input}
              type="search"
              value={text}
              placeholder={placeholder}
              autocomplete="off"
              spellcheck={false}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </label>
          <button type="submit">Search</button>
          {isPhone() && (
            <button
              type="button"
              class="icon-button"
              aria-label="Close search"
              onClick={() => {
                isOpened.value = false;
              }}
            >
              <CloseIcon />
            </button>
          )}
        </form>
      ) : (
        <button
          type="button"
          class="icon-button"
          aria-label="Open search"
          onClick={() => {
            isOpened.value = true;
          }}
        >
          <SearchIcon />
        </button>
      )}
    </search>
  );
};
