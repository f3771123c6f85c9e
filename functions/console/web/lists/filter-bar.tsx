/**
 * @module The filters of a list in one line, with search, pinned fields and "Add filter". Added filters are removable
 * chips. A phone shows them in a sheet. The address bar holds the values.
 */

import { useEffect, useRef, useState } from 'preact/hooks';
import { Dialog } from '../view/dialog.tsx';
import { TextFilter } from '../view/filters.tsx';
import { count } from '../view/format.ts';
import type { LoadedPages } from '../view/load.ts';
import { Menu } from '../view/menu.tsx';
import { isPhone } from '../view/room.ts';
import { setQuery } from '../view/route.tsx';
import { chipText, type FilterField, FilterInput, isSet, parametersOf } from './filter-fields.tsx';
import { filterText } from './filter-values.ts';

export interface Search {
  readonly label: string;
  readonly placeholder: string;
}

interface FilterBarProps {
  readonly search: Search | undefined;
  readonly filters: readonly FilterField[];
  /** The number of found records in words, such as `25 payments`; undefined while the list loads. */
  readonly found: string | undefined;
}

export const SEARCH = 'search';

const clear = (fields: readonly FilterField[]): void =>
  setQuery(Object.fromEntries([SEARCH, ...fields.flatMap(parametersOf)].map((name) => [name, ''])));

export const FilterBar = ({ search, filters, found }: FilterBarProps) => (
  <div class="filter-part">
    <div class="filter-bar">
      {search && <TextFilter name={SEARCH} isSearch={true} {...search} />}
      {isPhone() ? (
        <Sheet filters={filters} found={found} />
      ) : (
        filters.map((field) => field.isPinned && <FilterInput key={field.name} field={field} />)
      )}
      {!isPhone() && <AddedFilters filters={filters} />}
    </div>
    {isPhone() && <AddedFilters filters={filters} />}
  </div>
);

/** "Add filter" and the chips of the added filters. On a phone, the sheet has all filters in place of "Add filter". */
const AddedFilters = ({ filters }: Pick<FilterBarProps, 'filters'>) => {
  const frame = useRef<HTMLDivElement>(null);
  /** The parameter of the edited filter. */
  const [edited, setEdited] = useState<string>();
  const own = filters.filter(({ isPinned = false }) => isPhone() || !isPinned);
  const editor = own.find(({ name }) => name === edited);
  const isFiltered = filters.some(isSet) || filterText(SEARCH) !== undefined;
  const end = (byKey: boolean): void => {
    setEdited(undefined);
    if (byKey) frame.current?.querySelector<HTMLElement>('[aria-haspopup=menu]')?.focus();
  };
  const addable = isPhone() ? [] : own.filter((field) => !isSet(field) && field !== editor);
  return (
    <div class="added-filters" ref={frame}>
      {addable.length > 0 && (
        <Menu
          name="Add filter"
          items={addable.map(({ label, name }) => ({ name: label, run: () => setEdited(name) }))}
        />
      )}
      {own.map((field) => {
        if (field === editor) return <Editor key={field.name} field={field} onEnd={end} />;
        return isSet(field) && <Chip key={field.name} field={field} onChange={() => setEdited(field.name)} />;
      })}
      {isFiltered && (
        <button type="button" class="plain small" onClick={() => clear(filters)}>
          Clear filters
        </button>
      )}
    </div>
  );
};

interface ChipProps {
  readonly field: FilterField;
  readonly onChange: () => void;
}

const Chip = ({ field, onChange }: ChipProps) => (
  <span class="chip">
    {isPhone() ? (
      <span>{chipText(field)}</span>
    ) : (
      <button type="button" onClick={onChange}>
        {chipText(field)}
      </button>
    )}
    <button
      type="button"
      class="remove"
      aria-label={`Remove filter ${field.label}`}
      onClick={() => setQuery(Object.fromEntries(parametersOf(field).map((name) => [name, ''])))}
    />
  </span>
);

interface EditorProps {
  readonly field: FilterField;
  /** @param byKey true after Enter or Escape; the focus then returns to "Add filter" */
  readonly onEnd: (byKey: boolean) => void;
}

/** The field of the edited filter. If it has a value when it loses the focus, it becomes a chip. */
const Editor = ({ field, onEnd }: EditorProps) => {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    const { current } = form;
    const giveUp = ({ key }: KeyboardEvent): void => {
      if (key === 'Escape') onEnd(true);
    };
    const leave = (): void => onEnd(false);
    current?.addEventListener('keydown', giveUp);
    current?.addEventListener('focusout', leave);
    current?.querySelector<HTMLElement>('input, select')?.focus();
    return () => {
      current?.removeEventListener('keydown', giveUp);
      current?.removeEventListener('focusout', leave);
    };
  }, []);
  const enter = (event: Event): void => {
    event.preventDefault();
    onEnd(true);
  };
  return (
    <form ref={form} class="filter-editor" onSubmit={enter}>
      <FilterInput field={field} />
    </form>
  );
};

/** All filters of the list. Each applies as soon as it is set. */
const Sheet = ({ filters, found }: Pick<FilterBarProps, 'filters' | 'found'>) => {
  const [isOpen, setOpen] = useState(false);
  const set = filters.filter(isSet).length;
  return (
    <>
      <button type="button" class="filters-button" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        Filters{set > 0 && ` (${count(set)})`}
      </button>
      {isOpen && (
        <Dialog title="Filters" kind="sheet" onClose={() => setOpen(false)}>
          <div class="sheet-fields">
            {filters.map((field) => (
              <FilterInput key={field.name} field={field} />
            ))}
          </div>
          <div class="dialog-actions">
            {set > 0 && (
              <button type="button" class="plain" onClick={() => clear(filters)}>
                Clear filters
              </button>
            )}
            <button type="button" class="primary" onClick={() => setOpen(false)}>
              {found === undefined ? 'Show' : `Show ${found}`}
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
};

/**
 * The number of found records, such as `25 payments`, or `25+ payments` if there are more pages; undefined while the
 * list loads.
 */
export const foundInWords = (
  { rows, more, isLoading }: LoadedPages<unknown>,
  one: string,
  many = `${one}s`,
): string | undefined =>
  isLoading ? undefined : `${count(rows.length)}${more ? '+' : ''} ${rows.length === 1 ? one : many}`;
