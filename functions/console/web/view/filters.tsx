/**
 * @module Filters of a list. The values of these native fields are in the address bar, so that a view can be sent to a
 * colleague.
 */

import { useEffect, useRef, useState } from 'preact/hooks';
import { place, setQuery } from './route.tsx';

export interface Choice {
  readonly value: string;
  readonly text: string;
}

interface FieldProps {
  readonly label: string;
  /** The parameter in the address bar. */
  readonly name: string;
}

const chosen = (name: string): string => place.value.query.get(name) ?? '';

interface SelectFilterProps extends FieldProps {
  readonly choices: readonly Choice[];
  /** The label of the option without a filter. */
  readonly none?: string;
}

export const SelectFilter = ({ label, name, choices, none = 'Any' }: SelectFilterProps) => (
  <label class="field">
    <span>{label}</span>
    <select value={chosen(name)} onChange={(event) => setQuery({ [name]: event.currentTarget.value })}>
      <option value="">{none}</option>
      {choices.map(({ value, text }) => (
        <option key={value} value={value} selected={value === chosen(name)}>
          {text}
        </option>
      ))}
    </select>
  </label>
);

export const DateFilter = ({ label, name }: FieldProps) => (
  <label class="field">
    <span>{label}</span>
    <input type="date" value={chosen(name)} onChange={(event) => setQuery({ [name]: event.currentTarget.value })} />
  </label>
);

export const TextFilter = ({
  label,
  name,
  ...rest
}: FieldProps & { readonly placeholder?: string; readonly inputMode?: 'decimal' }) => (
  <label class="field">
    <span>{label}</span>
    <input
      {...rest}
      type="text"
      value={chosen(name)}
      onChange={(event) => setQuery({ [name]: event.currentTarget.value.trim() })}
    />
  </label>
);

/** The only search box of a page. `/` focuses it from anywhere. */
export const SearchBox = ({ label, name, placeholder }: FieldProps & { readonly placeholder: string }) => {
  const input = useRef<HTMLInputElement>(null);
  const inAddress = chosen(name);
  const [text, setText] = useState(inAddress);
  const lastAddress = useRef(inAddress);
  useEffect(() => {
    // Skips the first run, which may happen after the user has started to type.
    if (lastAddress.current === inAddress) return;
    lastAddress.current = inAddress;
    setText(inAddress);
  }, [inAddress]);
  useEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      const isTyping = event.target instanceof Element && event.target.matches('input, select, textarea');
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      input.current?.focus();
      input.current?.select();
    };
    document.addEventListener('keydown', focus);
    return () => document.removeEventListener('keydown', focus);
  }, []);
  return (
    <search>
      <form
        class="search"
        onSubmit={(event) => {
          event.preventDefault();
          setQuery({ [name]: text.trim() });
        }}
      >
        <label class="field">
          <span>{label}</span>
          <input
            ref={input}
            type="search"
            value={text}
            placeholder={placeholder}
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => setText(event.currentTarget.value)}
            onChange={(event) => setQuery({ [name]: event.currentTarget.value.trim() })}
          />
        </label>
        <button type="submit">Search</button>
      </form>
    </search>
  );
};

/** Shown while a filter is set. */
export const ClearFilters = ({ names }: { readonly names: readonly string[] }) => {
  const isFiltered = names.some((name) => chosen(name) !== '');
  if (!isFiltered) return null;
  return (
    <button type="button" class="plain" onClick={() => setQuery(Object.fromEntries(names.map((name) => [name, ''])))}>
      Clear filters
    </button>
  );
};
