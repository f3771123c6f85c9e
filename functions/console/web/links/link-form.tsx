/** @module The form for a new payment link with its own price. Links for products need the API. */

import { useState } from 'preact/hooks';
import { answerOf, api } from '../api/client.ts';
import { useKeyedAction } from '../view/action.ts';
import { FormActions } from '../view/dialog.tsx';
import { minorUnits } from '../view/format.ts';
import { ProblemNote } from '../view/parts.tsx';

interface Draft {
  readonly description: string;
  /** `25.00`, or `25.00 USD`. */
  readonly amount: string;
  readonly currency: string;
  readonly most: string;
}

const NEW_LINK: Draft = { description: '', amount: '', currency: 'USD', most: '' };

/** The entered price as the API's fields; undefined if the text is not an amount of the currency. */
const priceIn = ({ amount, currency }: Draft) => {
  const [, number = '', written = currency] = /^\s*([\d.,]+)\s*([a-z]{3})?\s*$/i.exec(amount) ?? [];
  const code = written.trim().toUpperCase();
  const cents = /^[A-Z]{3}$/.test(code) ? minorUnits(number, code) : undefined;
  return cents === undefined ? undefined : { total_cents: cents, currency: code };
};

export const LinkForm = ({ onDone }: { readonly onDone: () => void }) => {
  const [draft, setDraft] = useState(NEW_LINK);
  const [isWrong, setWrong] = useState(false);
  const { description, most } = draft;
  const sending = useKeyedAction(async (key) => {
    const price = priceIn(draft);
    if (!price) return setWrong(true);
    const body = {
      ...price,
      ...(description.trim() !== '' && { description: description.trim() }),
      ...(most.trim() !== '' && { max_payments: Number(most) }),
    };
    await answerOf(api.POST('/payment-links', { params: { header: { 'Idempotency-Key': key } }, body }));
    onDone();
  }, JSON.stringify(draft));
  const field = (label: string, name: keyof Draft, hint?: string) => (
    <label class="field">
      <span>{label}</span>
      <input
        type="text"
        autocomplete="off"
        value={draft[name]}
        onInput={({ currentTarget }) => {
          setWrong(false);
          setDraft({ ...draft, [name]: currentTarget.value });
        }}
      />
      {hint !== undefined && <small class="quiet">{hint}</small>}
    </label>
  );
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        sending.run();
      }}
    >
      {field('Description', 'description', 'The page shows it to the payer.')}
      {field('Amount', 'amount')}
      {isWrong && (
        <p class="wrong" role="alert">
          Enter an amount such as 25.00.
        </p>
      )}
      {field('Currency', 'currency')}
      {field('Payments at most', 'most', 'If empty, any number.')}
      {sending.problem && <ProblemNote problem={sending.problem} />}
      <FormActions onClose={onDone} act={['Save link', 'Saving…']} isBusy={sending.isBusy} />
    </form>
  );
};
