/**
 * @module Filters of a list. The values of these native fields are in the address bar, so that a view can be sent to a
 * colleague.
 */

import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { place, setQuery } from './route.tsx';
import { isLocalZone } from './zone.ts';

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

/** The days of the API are UTC days, so the label says so while times are in another zone. */
export const DateFilter = ({ label, name }: FieldProps) => (
  <label class="field">
    <span>{isLocalZone.value ? `${label} (UTC)` : label}</span>
    <input type="date" value={chosen(name)} onChange={(event) => setQuery({ [name]: event.currentTarget.value })} />
  </label>
);

interface TextFilterProps extends FieldProps {
  readonly placeholder?: string;
  readonly inputMode?: 'decimal';
  /** True if the field takes the width of two, for a longer text. */
  readonly isWide?: boolean;
}

export const TextFilter = ({ label, name, isWide = false, ...rest }: TextFilterProps) => (
  <label class={isWide ? 'field wide-field' : 'field'}>
    <span>{label}</span>
    <input
      {...rest}
      type="text"
      value={chosen(name)}
      onChange={(event) => setQuery({ [name]: event.currentTarget.value.trim() })}
    />
  </label>
);

interface FiltersProps {
  /** The parameters of the filters in the address bar. */
  readonly names: readonly string[];
  readonly children: ComponentChildren;
}

/** The filters of a list. On a narrow screen they fold into one button, which says how many are set. */
export const Filters = ({ names, children }: FiltersProps) => {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const set = names.filter((name) => chosen(name) !== '').length;
  return (
    <div class="filter-part">
      <button
        type="button"
        class="filters-button"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        Filters{set > 0 && ` (${set})`}
      </button>
      <div id={id} class={isOpen ? 'filters open' : 'filters'}>
        {children}
        <ClearFilters names={names} />
      </div>
    </div>
  );
};

/** Shown while a filter is set. */
const ClearFilters = ({ names }: { readonly names: readonly string[] }) => {
  const isFiltered = names.some((name) => chosen(name) !== '');
  if (!isFiltered) return null;
  return (
    <button type="button" class="plain" onClick={() => setQuery(Object.fromEntries(names.map((name) => [name, ''])))}>
      Clear filters
    </button>
  );
};
