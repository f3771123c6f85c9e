/**
 * @module The dialog that captures all or part of a held payment. If the amount is below the payment's tax, the form
 * also requests subtotal, tax and discount.
 */

import { useState } from 'preact/hooks';
import { majorUnits } from '../../../../shared/core/money.ts';
import { answerOf, api } from '../api/client.ts';
import type { Payment } from '../api/types.ts';
import { useKeyedAction } from '../view/action.ts';
import { Dialog, DialogActions, FormActions } from '../view/dialog.tsx';
import { minorUnits, money } from '../view/format.ts';
import { Fact, Money, ProblemNote } from '../view/parts.tsx';

interface HoldProps {
  readonly payment: Payment;
  readonly onChanged: () => void;
}

export interface HoldDialogProps extends HoldProps {
  readonly onClose: () => void;
}

/**
 * The amounts to capture, in minor units. If only the total is sent, the API keeps tax and discount and derives the
 * subtotal.
 */
interface Captured {
  readonly total_cents: number;
  readonly subtotal_cents?: number;
  readonly tax_cents?: number;
  readonly discount_cents?: number;
}

const SPLIT = [
  ['subtotal_cents', 'Subtotal'],
  ['tax_cents', 'Tax'],
  ['discount_cents', 'Discount'],
] as const;
type SplitField = (typeof SPLIT)[number][0];
type SplitTexts = Readonly<Record<SplitField, string>>;

/** True if the amount is below the payment's tax, so the API requires subtotal, tax and discount. */
const needsSplit = (cents: number | undefined, { tax_cents: tax, discount_cents: discount }: Payment): boolean =>
  cents !== undefined && cents > 0 && cents - tax + discount < 0;

export const CaptureDialog = (props: HoldDialogProps) => {
  const { payment, onClose } = props;
  const [amount, setAmount] = useState(String(majorUnits(payment.capturable_cents, payment.currency)));
  const [split, setSplit] = useState<SplitTexts>({ subtotal_cents: '', tax_cents: '0', discount_cents: '0' });
  /** The amounts to confirm. */
  const [asked, setAsked] = useState<Captured>();
  if (asked !== undefined) {
    return <CaptureQuestion {...props} captured={asked} onBack={() => setAsked(undefined)} />;
  }
  const form = { payment, amount, split, onAmount: setAmount, onSplit: setSplit };
  return (
    <Dialog title="Capture" onClose={onClose}>
      <CaptureForm {...form} onAsked={setAsked} onClose={onClose} />
    </Dialog>
  );
};

interface CaptureFormProps {
  readonly payment: Payment;
  readonly amount: string;
  readonly split: SplitTexts;
  readonly onAmount: (text: string) => void;
  readonly onSplit: (texts: SplitTexts) => void;
  readonly onAsked: (captured: Captured) => void;
  readonly onClose: () => void;
}

const CaptureForm = (props: CaptureFormProps) => {
  const { payment, amount, split, onAmount, onSplit, onAsked, onClose } = props;
  const { capturable_cents: capturable, currency } = payment;
  const [wrong, setWrong] = useState('');
  const cents = minorUnits(amount, currency);
  const isSplit = needsSplit(cents, payment);
  const submit = (event: Event): void => {
    event.preventDefault();
    const read = readForm(props, isSplit);
    setWrong(typeof read === 'string' ? read : '');
    if (typeof read !== 'string') onAsked(read);
  };
  return (
    <form class="form" onSubmit={submit}>
      <p class="quiet">
        <Money cents={capturable} currency={currency} /> of this payment can be captured, once, in whole or in part.
      </p>
      <AmountField name="Amount" value={amount} isWrong={wrong !== ''} onInput={onAmount} hint="capture-hint" />
      <small id="capture-hint" class="quiet">
        In {currency}, at most {majorUnits(capturable, currency)}
      </small>
      {isSplit && (
        <fieldset class="form">
          <legend class="quiet">
            The amount is less than the tax of the payment, <Money cents={payment.tax_cents} currency={currency} />.
            Enter its subtotal, tax and discount.
          </legend>
          {SPLIT.map(([field, name]) => (
            <AmountField
              key={field}
              name={name}
              value={split[field]}
              isWrong={wrong !== ''}
              onInput={(text) => onSplit({ ...split, [field]: text })}
            />
          ))}
        </fieldset>
      )}
      {wrong !== '' && (
        <p class="wrong" role="alert">
          {wrong}
        </p>
      )}
      <FormActions onClose={onClose} act={['Continue']} />
    </form>
  );
};

/** @returns the amounts to capture, or the problem with the form as a sentence */
const readForm = ({ payment, amount, split }: CaptureFormProps, isSplit: boolean): Captured | string => {
  const { capturable_cents: capturable, currency } = payment;
  const total = minorUnits(amount, currency) ?? 0;
  if (total <= 0 || total > capturable)
    return `Enter an amount between ${majorUnits(1, currency)} and ${majorUnits(capturable, currency)}.`;
  if (!isSplit) return { total_cents: total };
  const [subtotal, tax, discount] = SPLIT.map(([field]) => minorUnits(split[field], currency));
  if (subtotal === undefined || tax === undefined || discount === undefined || subtotal + tax - discount !== total)
    return `Subtotal plus tax, less discount, must be ${majorUnits(total, currency)}.`;
  return { total_cents: total, subtotal_cents: subtotal, tax_cents: tax, discount_cents: discount };
};

interface AmountFieldProps {
  readonly name: string;
  readonly value: string;
  readonly isWrong: boolean;
  /** The id of the text that explains the field. */
  readonly hint?: string;
  readonly onInput: (text: string) => void;
}

const AmountField = ({ name, value, isWrong, hint, onInput }: AmountFieldProps) => (
  <label class="field">
    <span>{name}</span>
    <input
      type="text"
      inputMode="decimal"
      autocomplete="off"
      value={value}
      aria-invalid={isWrong}
      {...(hint && { 'aria-describedby': hint })}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  </label>
);

interface CaptureQuestionProps extends HoldDialogProps {
  readonly captured: Captured;
  readonly onBack: () => void;
}

const CaptureQuestion = ({ payment, captured, onChanged, onBack, onClose }: CaptureQuestionProps) => {
  const { id, capturable_cents: capturable, currency } = payment;
  const { total_cents: cents } = captured;
  const capture = useKeyedAction(async (key) => {
    const params = { path: { id }, header: { 'Idempotency-Key': key } };
    await answerOf(api.POST('/payments/{id}/capture', { params, body: captured }));
    onChanged();
    onClose();
  });
  return (
    <Dialog title={`Capture ${money(cents, currency)}?`} onClose={onClose}>
      <p>The payer is charged this amount. A payment is captured only once, and the rest is released.</p>
      <dl class="facts">
        <Fact name="Capture">
          <strong>
            <Money cents={cents} currency={currency} />
          </strong>
        </Fact>
        <Fact name="Release">
          <Money cents={capturable - cents} currency={currency} />
        </Fact>
      </dl>
      {capture.problem && <ProblemNote problem={capture.problem} />}
      <DialogActions
        back="Back"
        onBack={onBack}
        act={[`Capture ${money(cents, currency)}`, 'Capturing…']}
        action={capture}
      />
    </Dialog>
  );
};
