/** @module The filter fields of a list. Their values are in the address bar, so users can share a view. */

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
  readonly none?: string | undefined;
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

/** The API's days are UTC days, so the label says UTC while times use another zone. */
export const DateFilter = ({ label, name }: FieldProps) => (
  <label class="field">
    <span>{isLocalZone.value ? `${label} (UTC)` : label}</span>
    <input type="date" value={chosen(name)} onChange={(event) => setQuery({ [name]: event.currentTarget.value })} />
  </label>
);

interface TextFilterProps extends FieldProps {
  readonly placeholder?: string | undefined;
  readonly inputMode?: 'decimal' | undefined;
  /** True if the field searches the list. */
  readonly isSearch?: boolean;
}

export const TextFilter = ({ label, name, isSearch = false, ...rest }: TextFilterProps) => (
  <label class={isSearch ? 'field search-field' : 'field'}>
    <span>{label}</span>
    <input
      {...rest}
      type={isSearch ? 'search' : 'text'}
      list={undefined}
      value={chosen(name)}
      onChange={(event) => setQuery({ [name]: event.currentTarget.value.trim() })}
    />
  </label>
);
