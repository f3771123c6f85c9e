/** @module The release of a held payment, for users with the scope payments:capture. */

import { answerOf, api } from '../api/client.ts';
import { isOwnPayment } from '../api/organizations.ts';
import { may } from '../api/session.ts';
import type { Payment } from '../api/types.ts';
import { useKeyedAction } from '../view/action.ts';
import { Dialog, DialogActions } from '../view/dialog.tsx';
import { Money, ProblemNote } from '../view/parts.tsx';
import type { HoldDialogProps } from './capture-dialog.tsx';

/** True if the hold can be captured or released. The API refuses both while a capture or a release is under way. */
const isOpen = ({ status, capture_pending, release_pending }: Payment): boolean =>
  status === 'requires_capture' && !capture_pending && !release_pending;

export const mayCapture = (payment: Payment): boolean =>
  may('payments:capture') && !isOwnPayment(payment) && isOpen(payment);

export const ReleaseDialog = ({ payment, onChanged, onClose }: HoldDialogProps) => {
  const { id, capturable_cents: capturable, currency } = payment;
  const release = useKeyedAction(async (key) => {
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
