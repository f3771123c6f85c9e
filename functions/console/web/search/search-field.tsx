/**
 * @module The search field in the head of every page. It finds records of every kind for staff and platform admins, and
 * their own payments for other users. `/` focuses it from anywhere.
 */

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { may } from '../api/session.ts';
import { go, place, withQuery } from '../view/route.tsx';

interface Target {
  readonly path: string;
  /** The parameter of the page that holds the searched text. */
  readonly name: string;
  readonly placeholder: string;
}

const target = (): Target =>
  may('payments:read')
    ? { path: '/search', name: 'q', placeholder: 'ID, e-mail, last four digits or reference' }
    : { path: '/payments', name: 'search', placeholder: 'ID of a payment' };

const isTyping = (focused: EventTarget | null): boolean =>
  focused instanceof Element && focused.matches('input, select, textarea');

const useSlashKey = (input: { readonly current: HTMLInputElement | null }): void => {
  useEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || isTyping(event.target)) return;
      if (document.querySelector('dialog[open]')) return;
      event.preventDefault();
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
  // Not after the paint, when the user may be typing already.
  useLayoutEffect(() => setText(inAddress), [inAddress]);
  useSlashKey(input);
  const search = (event: Event): void => {
    event.preventDefault();
    const wanted = text.trim();
    if (wanted !== '') go(withQuery(path, new URLSearchParams({ [name]: wanted })));
  };
  return (
    <search>
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
      </form>
    </search>
  );
};
