/** @module The capture and the release of a held payment, for users with the scope payments:capture. */

import { useState } from 'preact/hooks';
import { majorUnits } from '../../../../shared/core/money.ts';
import { answerOf, api } from '../api/client.ts';
import { isOwnPayment } from '../api/organizations.ts';
import { may } from '../api/session.ts';
import type { Payment } from '../api/types.ts';
import { newKey, useAction } from '../view/action.ts';
import { Dialog, DialogActions } from '../view/dialog.tsx';
import { minorUnits, money } from '../view/format.ts';
import { Fact, Money, ProblemNote } from '../view/parts.tsx';

interface HoldProps {
  readonly payment: Payment;
  readonly onChanged: () => void;
}

interface HoldDialogProps extends HoldProps {
  readonly onClose: () => void;
}

/** While a capture or a release is under way, the API refuses both. */
const isOpen = ({ status, capture_pending, release_pending }: Payment): boolean =>
  status === 'requires_capture' && !capture_pending && !release_pending;

export const HoldActions = ({ payment, onChanged }: HoldProps) => {
  const [open, setOpen] = useState<'capture' | 'release'>();
  const close = (): void => setOpen(undefined);
  const isOffered = may('payments:capture') && !isOwnPayment(payment) && isOpen(payment);
  return (
    <>
      {isOffered && (
        <>
          <button type="button" onClick={() => setOpen('release')}>
            Release
          </button>
          <button type="button" class="primary" onClick={() => setOpen('capture')}>
            Capture
          </button>
        </>
      )}
      {open === 'capture' && <CaptureDialog payment={payment} onChanged={onChanged} onClose={close} />}
      {open === 'release' && <ReleaseDialog payment={payment} onChanged={onChanged} onClose={close} />}
    </>
  );
};

const CaptureDialog = ({ payment, onChanged, onClose }: HoldDialogProps) => {
  const { capturable_cents: capturable, currency } = payment;
  const [amount, setAmount] = useState(String(majorUnits(capturable, currency)));
  const [isWrong, setWrong] = useState(false);
  /** The amount to confirm. */
  const [asked, setAsked] = useState<number>();
  const submit = (event: Event): void => {
    event.preventDefault();
    const cents = minorUnits(amount, currency) ?? 0;
    const isRight = cents > 0 && cents <= capturable;
    setWrong(!isRight);
    if (isRight) setAsked(cents);
  };
  if (asked !== undefined) {
    const back = (): void => setAsked(undefined);
    return <CaptureQuestion cents={asked} payment={payment} onChanged={onChanged} onBack={back} onClose={onClose} />;
  }
  return (
    <Dialog title="Capture" onClose={onClose}>
      <form class="form" onSubmit={submit}>
        <p class="quiet">
          <Money cents={capturable} currency={currency} /> of this payment can be captured, once, in whole or in part.
        </p>
        <label class="field">
          <span>Amount</span>
          <input
            type="text"
            inputMode="decimal"
            autocomplete="off"
            value={amount}
            aria-invalid={isWrong}
            aria-describedby="capture-hint"
            onInput={(event) => setAmount(event.currentTarget.value)}
          />
          <small id="capture-hint" class="quiet">
            In {currency}, at most {majorUnits(capturable, currency)}
          </small>
        </label>
        {isWrong && (
          <p class="wrong" role="alert">
            Enter an amount between {majorUnits(1, currency)} and {majorUnits(capturable, currency)}.
          </p>
        )}
        <div class="dialog-actions">
          <button type="button" onClick={onClose}>
            Close
          </button>
          <button type="submit" class="primary">
            Continue
          </button>
        </div>
      </form>
    </Dialog>
  );
};

interface CaptureQuestionProps extends HoldDialogProps {
  readonly cents: number;
  readonly onBack: () => void;
}

const CaptureQuestion = ({ payment, cents, onChanged, onBack, onClose }: CaptureQuestionProps) => {
  const { id, capturable_cents: capturable, currency } = payment;
  const [key] = useState(newKey);
  const capture = useAction(async () => {
    const params = { path: { id }, header: { 'Idempotency-Key': key } };
    await answerOf(api.POST('/payments/{id}/capture', { params, body: { amount_cents: cents } }));
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

const ReleaseDialog = ({ payment, onChanged, onClose }: HoldDialogProps) => {
  const { id, capturable_cents: capturable, currency } = payment;
  const [key] = useState(newKey);
  const release = useAction(async () => {
    const params = { path: { id }, header: { 'Idempotency-Key': key } };
    await answerOf(api.POST('/payments/intents/{id}/cancel', { params, body: {} }));
    onChanged();
    onClose();
  });
  return (
    <Dialog title="Release this hold?" onClose={onClose}>
      <p>
        The payer gets back the use of <Money cents={capturable} currency={currency} />, and the payment is canceled. A
        released hold cannot be captured.
      </p>
      {release.problem && <ProblemNote problem={release.problem} />}
      <DialogActions
        back="Keep hold"
        onBack={onClose}
        act={['Release hold', 'Releasing…']}
        action={release}
        kind="danger"
      />
    </Dialog>
  );
};
