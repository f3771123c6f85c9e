/** @module The actions on a payment, each for users with its scope. */

import { useState } from 'preact/hooks';
import { refundableDespiteDispute } from '../../../../shared/core/money.ts';
import { answerOf, api } from '../api/client.ts';
import { isOwnPayment } from '../api/organizations.ts';
import { may, refundLimitIn } from '../api/session.ts';
import type { Dispute, Payment, PaymentStatus } from '../api/types.ts';
import { CaptureDialog, type HoldDialogProps } from '../holds/capture-dialog.tsx';
import { mayCapture, ReleaseDialog } from '../holds/release-dialog.tsx';
import { type Action, useKeyedAction } from '../view/action.ts';
import { Dialog, DialogActions } from '../view/dialog.tsx';
import { ProblemNote } from '../view/parts.tsx';
import { usePayLink } from '../view/pay-link.tsx';
import { type RecordAction, RecordActions } from '../view/record-actions.tsx';
import { RefundDialog } from './refund-dialog.tsx';

const CANCELABLE: readonly PaymentStatus[] = ['created', 'requires_payment_method', 'pending'];
const PAYABLE: readonly PaymentStatus[] = [...CANCELABLE, 'failed'];
const OPEN_DISPUTE: readonly Dispute['status'][] = ['needs_response', 'under_review'];

interface ActionsProps {
  readonly payment: Payment;
  readonly disputes: readonly Dispute[];
  readonly onChanged: () => void;
}

type Open = 'refund' | 'cancel' | 'capture' | 'release' | undefined;

const mayRefund = (payment: Payment): boolean => {
  const { status, currency } = payment;
  const isOffered = may('refunds:write') && refundLimitIn(currency) !== 0 && !isOwnPayment(payment);
  return isOffered && status === 'succeeded' && refundableDespiteDispute(payment) > 0;
};

export const PaymentActions = ({ payment, disputes, onChanged }: ActionsProps) => {
  const [open, setOpen] = useState<Open>();
  const sync = useSync(payment, onChanged);
  const payLink = usePayLink({ kind: 'payments', id: payment.id });
  const isPayable = may('links:write') && PAYABLE.includes(payment.status);
  const actions = [...(isPayable ? [payLink.action] : []), ...actionsOn(payment, setOpen, sync)];
  const props = { payment, onChanged, onClose: () => setOpen(undefined) };
  return (
    <>
      <RecordActions actions={actions} />
      {payLink.note}
      {sync.problem && <ProblemNote problem={sync.problem} />}
      {open === 'refund' && (
        <RefundDialog
          payment={payment}
          dispute={disputes.find(({ status }) => OPEN_DISPUTE.includes(status))}
          onAnswered={onChanged}
          onClose={props.onClose}
        />
      )}
      {open === 'capture' && <CaptureDialog {...props} />}
      {open === 'release' && <ReleaseDialog {...props} />}
      {open === 'cancel' && <CancelDialog {...props} />}
    </>
  );
};

const actionsOn = (payment: Payment, setOpen: (open: Open) => void, sync: Action): readonly RecordAction[] => {
  const mayOperate = may('payments:operate');
  return [
    ...(mayCapture(payment) ? [{ name: 'Capture', isMain: true, run: () => setOpen('capture') }] : []),
    ...(mayRefund(payment) ? [{ name: 'Refund', isMain: true, run: () => setOpen('refund') }] : []),
    ...(mayCapture(payment) ? [{ name: 'Release', run: () => setOpen('release') }] : []),
    ...(mayOperate && CANCELABLE.includes(payment.status) ? [{ name: 'Cancel', run: () => setOpen('cancel') }] : []),
    ...(mayOperate && providerIdOf(payment) !== null ? [syncAction(sync)] : []),
  ];
};

const syncAction = ({ isBusy, run }: Action): RecordAction => ({
  name: 'Sync',
  whileBusy: 'Syncing…',
  hint: 'Read the payment at its provider',
  isBusy,
  run,
});

const providerIdOf = ({ provider_payment_id: payment, provider_intent_id: intent }: Payment): string | null =>
  payment ?? intent;

const useSync = (payment: Payment, onSynced: () => void): Action =>
  useKeyedAction(async (key) => {
    const path = { provider_payment_id: providerIdOf(payment) ?? '' };
    const header = { 'Idempotency-Key': key };
    await answerOf(api.POST('/payments/sync/{provider_payment_id}', { params: { path, header }, body: {} }));
    onSynced();
  });

const CancelDialog = ({ payment, onChanged, onClose }: HoldDialogProps) => {
  const cancel = useKeyedAction(async (key) => {
    const path = { id: payment.id };
    await answerOf(
      api.POST('/payments/intents/{id}/cancel', { params: { path, header: { 'Idempotency-Key': key } }, body: {} }),
    );
    onChanged();
    onClose();
  });
  return (
    <Dialog title="Cancel this payment?" onClose={onClose}>
      <p>The payer can no longer pay it. A canceled payment cannot be continued.</p>
      {cancel.problem && <ProblemNote problem={cancel.problem} />}
      <DialogActions
        back="Keep payment"
        onBack={onClose}
        act={['Cancel payment', 'Canceling…']}
        action={cancel}
        kind="danger"
      />
    </Dialog>
  );
};
