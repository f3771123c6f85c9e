/** @module The overview's range, currency and owner, from the address bar. */

import { organizations } from '../api/organizations.ts';
import { may } from '../api/session.ts';
import { SelectFilter } from '../view/filters.tsx';
import { place, setQuery } from '../view/route.tsx';
import { lastDays, type Range, USUAL_DAYS } from './range.ts';

const QUICK_RANGES = [7, USUAL_DAYS, 90] as const;

export const Choices = ({ range, currencies }: { readonly range: Range; readonly currencies: readonly string[] }) => {
  const chosen = currencyShown(currencies);
  return (
    <div class="filters">
      <DayField label="From" day={range.from} name="from" />
      <DayField label="To" day={range.to} name="to" />
      <fieldset class="quick">
        <legend class="unseen">Range</legend>
        {QUICK_RANGES.map((days) => {
          const { from, to } = lastDays(days);
          const isChosen = from === range.from && to === range.to;
          return (
            <button key={days} type="button" aria-pressed={isChosen} onClick={() => setQuery({ from, to })}>
              {days} days
            </button>
          );
        })}
      </fieldset>
      <label class="field">
        <span>Currency</span>
        <select
          value={chosen}
          disabled={currencies.length === 0}
          onChange={(event) => setQuery({ currency: event.currentTarget.value })}
        >
          {currencies.map((currency) => (
            <option key={currency} value={currency} selected={currency === chosen}>
              {currency}
            </option>
          ))}
        </select>
      </label>
      {organizations.value.length > 0 && (
        <SelectFilter
          label="Payments of"
          name="organization"
          none={may('payments:read') ? 'Everyone' : 'Myself'}
          choices={organizations.value.map(({ id, name }) => ({ value: id, text: name }))}
        />
      )}
    </div>
  );
};

interface DayFieldProps {
  readonly label: string;
  readonly day: string;
  readonly name: string;
}

const DayField = ({ label, day, name }: DayFieldProps) => (
  <label class="field">
    <span>{label}</span>
    <input type="date" value={day} onChange={(event) => setQuery({ [name]: event.currentTarget.value })} />
  </label>
);

/** The currency from the address bar, else the most frequent currency. */
export const currencyShown = (currencies: readonly string[]): string => {
  const asked = place.value.query.get('currency') ?? '';
  return currencies.includes(asked) ? asked : (currencies[0] ?? '');
};
