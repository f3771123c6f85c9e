/** @module The filters of a list as data, from which its fields and the words of an empty result are made. */

import { organizations } from '../api/organizations.ts';
import { providerName, providers } from '../api/providers.ts';
import { type Choice, DateFilter, SelectFilter, TextFilter } from '../view/filters.tsx';
import { inWords } from '../view/format.ts';
import { filterText } from './filter-values.ts';

interface Field {
  readonly label: string;
  /** The parameter in the address bar. */
  readonly name: string;
}

export type FilterField =
  | (Field & { readonly kind: 'choice'; readonly choices: readonly Choice[]; readonly none?: string })
  | (Field & { readonly kind: 'text'; readonly placeholder?: string; readonly inputMode?: 'decimal' })
  | (Field & { readonly kind: 'day' });

export const choicesOf = (values: readonly string[]): readonly Choice[] =>
  values.map((value) => ({ value, text: inWords(value) }));

/** The range of the time of creation. */
export const CREATED_RANGE: readonly FilterField[] = [
  { kind: 'day', label: 'From', name: 'from' },
  { kind: 'day', label: 'To', name: 'to' },
];

export const providerFilter = (): FilterField => ({
  kind: 'choice',
  label: 'Provider',
  name: 'provider',
  choices: providers.value.map(({ provider_id: id }) => ({ value: id, text: providerName(id) })),
});

/**
 * For callers who see only their own records, because the records of an organization are a separate list.
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
        },
      ];

/** For staff and platform admins, who see the records of every organization. */
export const anyOwnerFilter = (): FilterField => ({
  kind: 'text',
  label: 'Organization',
  name: 'organization',
  placeholder: 'org_…',
});

export const userFilter = (): FilterField => ({ kind: 'text', label: 'User', name: 'user', placeholder: 'user_…' });

export const FilterInput = ({ field }: { readonly field: FilterField }) => {
  switch (field.kind) {
    case 'choice': {
      const { label, name, choices, none } = field;
      return <SelectFilter label={label} name={name} choices={choices} {...(none !== undefined && { none })} />;
    }
    case 'text': {
      const { kind: _, ...rest } = field;
      return <TextFilter {...rest} />;
    }
    case 'day':
      return <DateFilter label={field.label} name={field.name} />;
  }
};

/** The filter and its value in words, such as `status Succeeded`; undefined if the filter is not set. */
export const filterInWords = (field: FilterField): string | undefined => {
  const value = filterText(field.name);
  if (value === undefined) return undefined;
  const choice = field.kind === 'choice' ? field.choices.find((one) => one.value === value) : undefined;
  return `${field.label.toLowerCase()} ${choice?.text ?? value}`;
};
