/** @module The form for a new or changed discount code. */

import { useState } from 'preact/hooks';
import { useAction } from '../view/action.ts';
import { ProblemNote } from '../view/parts.tsx';
import { amountsIn } from './discount-amounts.ts';
import { type DiscountCode, putCode } from './discount-code.ts';

/** The fields as entered; an empty string means absent. */
interface DiscountDraft {
  readonly code: string;
  readonly name: string;
  /** `25` percent, or `5.00 USD`. */
  readonly cut: string;
  readonly duration: 'once' | 'repeating' | 'forever';
  readonly periods: string;
  readonly products: string;
  readonly most: string;
  readonly mostPerPayer: string;
  readonly isActive: boolean;
}

const NEW_CODE: DiscountDraft = {
  ...{ code: '', name: '', cut: '', duration: 'once', periods: '', products: '', most: '', mostPerPayer: '' },
  isActive: true,
};

const BASIS_POINTS_OF_PERCENT = 100;
const DURATIONS = ['once', 'repeating', 'forever'] as const;

const textOf = (value: unknown): string => (value === null || value === undefined ? '' : String(value));

const draftOf = ({ id, name, cut, isActive, record }: DiscountCode): DiscountDraft => ({
  code: id,
  name,
  cut: typeof record['percent_bp'] === 'number' ? String(record['percent_bp'] / BASIS_POINTS_OF_PERCENT) : cut,
  duration: DURATIONS.find((one) => one === record['duration']) ?? 'once',
  periods: textOf(record['duration_periods']),
  products: Array.isArray(record['product_ids']) ? record['product_ids'].join(', ') : '',
  most: textOf(record['max_redemptions']),
  mostPerPayer: textOf(record['max_per_payer']),
  isActive,
});

const numberIn = (text: string): number | null => (text.trim() === '' ? null : Number(text));

/** All fields of the code, because a write replaces the whole record. */
const bodyOf = (draft: DiscountDraft, before: Readonly<Record<string, unknown>> = {}) => {
  const amounts = amountsIn(draft.cut);
  return {
    ...Object.fromEntries(KEPT.map((name) => [name, before[name] ?? null])),
    name: draft.name,
    ...(amounts ? { amounts } : { percent_bp: Math.round(Number(draft.cut) * BASIS_POINTS_OF_PERCENT) }),
    duration: draft.duration,
    duration_periods: draft.duration === 'repeating' ? numberIn(draft.periods) : null,
    product_ids: draft.products.trim() === '' ? null : draft.products.split(/[\s,]+/).filter(Boolean),
    max_redemptions: numberIn(draft.most),
    max_per_payer: numberIn(draft.mostPerPayer),
    is_active: draft.isActive,
  };
};

/** Fields missing from the form. A write sends their stored values back. */
const KEPT = ['starts_at', 'ends_at', 'metadata'] as const;

interface DiscountFormProps {
  /** Undefined for a new code. */
  readonly of: DiscountCode | undefined;
  readonly onDone: (code: string) => void;
  readonly onClose?: () => void;
}

export const DiscountForm = ({ of: code, onDone, onClose }: DiscountFormProps) => {
  const [draft, setDraft] = useState(code ? draftOf(code) : NEW_CODE);
  const sending = useAction(async () => {
    await putCode(draft.code.trim(), bodyOf(draft, code?.record));
    onDone(draft.code.trim().toUpperCase());
  });
  const field = (label: string, name: FieldName, hint?: string) => (
    <TextField label={label} value={draft[name]} hint={hint} onInput={(text) => setDraft({ ...draft, [name]: text })} />
  );
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        sending.run();
      }}
    >
      {code === undefined &&
        field('Code', 'code', '3 to 40 letters, digits, - and _. Payers may enter it in upper or lower case.')}
      {field('Name', 'name')}
      {field('Discount', 'cut', 'A percentage such as 25, or amounts such as 5.00 USD, 4.50 EUR.')}
      <DurationField draft={draft} onChange={(duration) => setDraft({ ...draft, duration })} />
      {draft.duration === 'repeating' && field('Periods', 'periods')}
      {field('Products', 'products', 'IDs of products, separated by commas. If empty, every product.')}
      {field('Redemptions at most', 'most', 'If empty, no limit, and nothing is counted.')}
      {field('Per payer at most', 'mostPerPayer')}
      <label class="choice">
        <input
          type="checkbox"
          checked={draft.isActive}
          onChange={({ currentTarget }) => setDraft({ ...draft, isActive: currentTarget.checked })}
        />
        <span>Active</span>
      </label>
      {sending.problem && <ProblemNote problem={sending.problem} />}
      <div class="dialog-actions">
        {onClose && (
          <button type="button" onClick={onClose}>
            Close
          </button>
        )}
        <button type="submit" class="primary" disabled={sending.isBusy}>
          {sending.isBusy ? 'Saving…' : 'Save code'}
        </button>
      </div>
    </form>
  );
};

type FieldName = 'code' | 'name' | 'cut' | 'periods' | 'products' | 'most' | 'mostPerPayer';

interface TextFieldProps {
  readonly label: string;
  readonly value: string;
  readonly hint: string | undefined;
  readonly onInput: (text: string) => void;
}

const TextField = ({ label, value, hint, onInput }: TextFieldProps) => (
  <label class="field">
    <span>{label}</span>
    <input
      type="text"
      autocomplete="off"
      spellcheck={false}
      value={value}
      onInput={({ currentTarget }) => onInput(currentTarget.value)}
    />
    {hint !== undefined && <small class="quiet">{hint}</small>}
  </label>
);

interface DurationFieldProps {
  readonly draft: DiscountDraft;
  readonly onChange: (duration: DiscountDraft['duration']) => void;
}

const DurationField = ({ draft, onChange }: DurationFieldProps) => (
  <label class="field">
    <span>Duration</span>
    <select
      value={draft.duration}
      onChange={({ currentTarget }) => onChange(DURATIONS.find((one) => one === currentTarget.value) ?? 'once')}
    >
      <option value="once">Once</option>
      <option value="repeating">Several periods of a subscription</option>
      <option value="forever">Forever</option>
    </select>
  </label>
);
