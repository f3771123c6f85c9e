/** @module The date range of a list, as a preset or two days. */

import { useState } from 'preact/hooks';
import { DateFilter } from '../view/filters.tsx';
import { setQuery } from '../view/route.tsx';
import { daysOf, PRESET_NAMES, PRESETS, presetInAddress } from './date-presets.ts';

interface DateRangeProps {
  readonly label: string;
  /** The names of the parameters in the address bar. */
  readonly from: string;
  readonly to: string;
}

const CUSTOM = 'custom';

export const DateRange = ({ label, from, to }: DateRangeProps) => {
  const inAddress = presetInAddress(from, to);
  const [isCustom, setCustom] = useState(inAddress === CUSTOM);
  const chosen = isCustom || inAddress === CUSTOM ? CUSTOM : (inAddress ?? '');
  const choose = (value: string): void => {
    setCustom(value === CUSTOM);
    const preset = PRESETS.find((known) => known === value);
    if (preset !== undefined) setQuery({ [from]: daysOf(preset).from, [to]: daysOf(preset).to });
    else if (value === '') setQuery({ [from]: '', [to]: '' });
  };
  const choices = [['', 'Any date'], ...PRESETS.map((preset) => [preset, PRESET_NAMES[preset]]), [CUSTOM, 'Custom']];
  return (
    <div class="range">
      <label class="field">
        <span>{label}</span>
        <select value={chosen} onChange={({ currentTarget }) => choose(currentTarget.value)}>
          {choices.map(([value, text]) => (
            <option key={value} value={value} selected={value === chosen}>
              {text}
            </option>
          ))}
        </select>
      </label>
      {chosen === CUSTOM && (
        <>
          <DateFilter label="From" name={from} />
          <DateFilter label="To" name={to} />
        </>
      )}
    </div>
  );
};
