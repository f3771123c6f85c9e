/** @module A list's filters as data. The fields, the chips and the text for an empty result are generated from them. */

import { organizations } from '../api/organizations.ts';
import { providerName, providers } from '../api/providers.ts';
import { type Choice, DateFilter, SelectFilter, TextFilter } from '../view/filters.tsx';
import { inWords } from '../view/format.ts';
import { PRESET_NAMES, presetInAddress } from './date-presets.ts';
import { DateRange } from './date-range.tsx';
import { filterText } from './filter-values.ts';

interface Field {
  readonly label: string;
  /** The parameter in the address bar. */
  readonly name: string;
  /** True if the field is always visible. Users add other fields with "Add filter". */
  readonly isPinned?: boolean;
}

export type FilterField =
  | (Field & { readonly kind: 'choice'; readonly choices: readonly Choice[]; readonly none?: string })
  | (Field & { readonly kind: 'text'; readonly placeholder?: string; readonly inputMode?: 'decimal' })
  | (Field & { readonly kind: 'day' })
  /** A range of two days, both included. `until` is the parameter of the last day. */
  | (Field & { readonly kind: 'range'; readonly until: string });

export const choicesOf = (values: readonly string[]): readonly Choice[] =>
  values.map((value) => ({ value, text: inWords(value) }));

export const statusFilter = (values: readonly string[]): FilterField => ({
  kind: 'choice',
  label: 'Status',
  name: 'status',
  choices: choicesOf(values),
  none: 'Any status',
  isPinned: true,
});

/** The range of the creation time. */
export const CREATED_RANGE: readonly FilterField[] = [
  { kind: 'range', label: 'Date', name: 'from', until: 'to', isPinned: true },
];

export const providerFilter = (): FilterField => ({
  kind: 'choice',
  label: 'Provider',
  name: 'provider',
  choices: providers.value.map(({ provider_id: id }) => ({ value: id, text: providerName(id) })),
});

/**
 * The owner filter for callers without staff rights. An organization's records are a separate list.
 * @param none the label of the caller's own records
 */
export const ownersFilter = (none: string): readonly FilterField[] =>
  organizations.value.length === 0
    ? []
    : [
        {
          kind: 'choice',
          label: 'Organization',
          name: 'organization',
          none,
          choices: organizations.value.map(({ id, name }) => ({ value: id, text: name })),
          isPinned: true,
        },
      ];

/** The organization filter for staff and platform admins, who see all organizations. */
export const anyOwnerFilter = (): FilterField => ({
  kind: 'text',
  label: 'Organization',
  name: 'organization',
  placeholder: 'org_…',
});

export const userFilter = (): FilterField => ({ kind: 'text', label: 'User', name: 'user', placeholder: 'user_…' });

export const FilterInput = ({ field }: { readonly field: FilterField }) => {
  const { label, name } = field;
  switch (field.kind) {
    case 'choice':
      return <SelectFilter label={label} name={name} choices={field.choices} none={field.none} />;
    case 'text':
      return <TextFilter label={label} name={name} placeholder={field.placeholder} inputMode={field.inputMode} />;
    case 'day':
      return <DateFilter label={label} name={name} />;
    case 'range':
      return <DateRange label={label} from={name} to={field.until} />;
  }
};

/** The parameters of a filter in the address bar. */
export const parametersOf = (field: FilterField): readonly string[] =>
  field.kind === 'range' ? [field.name, field.until] : [field.name];

export const isSet = (field: FilterField): boolean =>
  parametersOf(field).some((name) => filterText(name) !== undefined);

/** A set filter with its value, as the text of a chip such as `Currency: EUR`. */
export const chipText = (field: FilterField): string => `${field.label}: ${valueInWords(field)}`;

/** A filter with its value in words, such as `status Succeeded`; undefined if the filter is not set. */
export const filterInWords = (field: FilterField): string | undefined => {
  if (!isSet(field)) return undefined;
  const value = valueInWords(field);
  return isCustom(field) ? value : `${field.label.toLowerCase()} ${value}`;
};

const isCustom = (field: FilterField): boolean =>
  field.kind === 'range' && presetInAddress(field.name, field.until) === 'custom';

const valueInWords = (field: FilterField): string => {
  const value = filterText(field.name) ?? '';
  if (field.kind === 'choice') return field.choices.find((choice) => choice.value === value)?.text ?? value;
  if (field.kind !== 'range') return value;
  const preset = presetInAddress(field.name, field.until);
  if (preset !== undefined && preset !== 'custom') return PRESET_NAMES[preset];
  const until = filterText(field.until);
  return [value === '' ? '' : `from ${value}`, until === undefined ? '' : `to ${until}`].join(' ').trim();
};
