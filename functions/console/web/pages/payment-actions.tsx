/** @module The actions on a payment, each for users with its scope. */

import { useState } from 'preact/hooks';
import { refundableDespiteDispute } from '../../../../shared/core/money.ts';
import { answerOf, api } from '../api/client.ts';
import { isOwnPayment } from '../api/organizations.ts';
import { may, refundLimitIn } from '../api/session.ts';
import type { Dispute, Payment, PaymentStatus } from '../api/types.ts';
import { HoldActions } from '../holds/hold-actions.tsx';
import { useKeyedAction } from '../view/action.ts';
import { Dialog, DialogActions } from '../view/dialog.tsx';
import { ProblemNote } from '../view/parts.tsx';
import { PayLinkButton } from '../view/pay-link-button.tsx';
import { RefundDialog } from './refund-dialog.tsx';

const CANCELABLE: readonly PaymentStatus[] = ['created', 'requires_payment_method', 'pending'];
const PAYABLE: readonly PaymentStatus[] = [...CANCELABLE, 'failed'];
const OPEN_DISPUTE: readonly Dispute['status'][] = ['needs_response', 'under_review'];

interface ActionsProps {
  readonly payment: Payment;
  readonly disputes: readonly Dispute[];
  readonly onChanged: () => void;
}

type Open = 'refund' | 'cancel' | undefined;

const mayRefund = (payment: Payment): boolean => {
  const { status, currency } = payment;
  const isOffered = may('refunds:write') && refundLimitIn(currency) !== 0 && !isOwnPayment(payment);
  return isOffered && status === 'succeeded' && refundableDespiteDispute(payment) > 0;
};

export const PaymentActions = ({ payment, disputes, onChanged }: ActionsProps) => {
  const [open, setOpen] = useState<Open>();
  const providerId = payment.provider_payment_id ?? payment.provider_intent_id;
  const close = (): void => setOpen(undefined);
  return (
    <>
      {may('payments:operate') && providerId !== null && (
        <SyncButton providerPaymentId={providerId} onSynced={onChanged} />
      )}
      {may('payments:operate') && CANCELABLE.includes(payment.status) && (
        <button type="button" onClick={() => setOpen('cancel')}>
          Cancel
        </button>
      )}
      {may('links:write') && PAYABLE.includes(payment.status) && <PayLinkButton kind="payments" id={payment.id} />}
      <HoldActions payment={payment} onChanged={onChanged} />
      {mayRefund(payment) && (
        <button type="button" class="primary" onClick={() => setOpen('refund')}>
          Refund
        </button>
      )}
      {open === 'refund' && (
        <RefundDialog
          payment={payment}
          dispute={disputes.find(({ status }) => OPEN_DISPUTE.includes(status))}
          onAnswered={onChanged}
          onClose={close}
        />
      )}
      {open === 'cancel' && <CancelDialog payment={payment} onCanceled={onChanged} onClose={close} />}
    </>
  );
};

interface SyncButtonProps {
  readonly providerPaymentId: string;
  readonly onSynced: () => void;
}

const SyncButton = ({ providerPaymentId, onSynced }: SyncButtonProps) => {
  const sync = useKeyedAction(async (key) => {
    const path = { provider_payment_id: providerPaymentId };
    const header = { 'Idempotency-Key': key };
    await answerOf(api.POST('/payments/sync/{provider_payment_id}', { params: { path, header }, body: {} }));
    onSynced();
  });
  return (
    <>
      <button type="button" disabled={sync.isBusy} onClick={sync.run} title="Read the payment at its provider">
        {sync.isBusy ? 'Syncing…' : 'Sync'}
      </button>
      {sync.problem && <ProblemNote problem={sync.problem} />}
    </>
  );
};

interface CancelDialogProps {
  readonly payment: Payment;
  readonly onCanceled: () => void;
  readonly onClose: () => void;
}

const CancelDialog = ({ payment, onCanceled, onClose }: CancelDialogProps) => {
  const cancel = useKeyedAction(async (key) => {
    const path = { id: payment.id };
    await answerOf(
      api.POST('/payments/intents/{id}/cancel', { params: { path, header: { 'Idempotency-Key': key } }, body: {} }),
    );
    onCanceled();
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
