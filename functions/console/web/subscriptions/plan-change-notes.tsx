/** @module Pending and scheduled plan changes, with a button to withdraw them. */

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { answerOf, api } from '../api/client.ts';
import type { Subscription } from '../api/types.ts';
import { useAction } from '../view/action.ts';
import { Dialog, DialogActions } from '../view/dialog.tsx';
import { dateInUtc } from '../view/format.ts';
import { Money, ProblemNote, Time } from '../view/parts.tsx';
import { Link } from '../view/route.tsx';
import { planOf } from './subscription-parts.tsx';
import { mayWithdraw } from './subscription-rights.ts';

interface NotesProps {
  readonly subscription: Subscription;
  readonly onChanged: () => void;
}

export const PlanChangeNotes = (props: NotesProps) => {
  const { pending_change: pending, scheduled_change: scheduled, currency } = props.subscription;
  return (
    <>
      {pending && (
        <Note {...props} title={PENDING[pending.status]}>
          {pending.status === 'awaiting_payment' ? <Awaited pending={pending} currency={currency} /> : <Unknown />}{' '}
          {pending.payment && <Link to={`/payments/${pending.payment.id}`}>Show the payment</Link>}
        </Note>
      )}
      {scheduled && (
        <Note {...props} title={`The plan changes on ${dateInUtc(scheduled.effective_at)} (UTC)`}>
          {scheduled.product_id !== null && `${scheduled.product_id}: `}
          {planOf({ ...scheduled, currency })}
        </Note>
      )}
    </>
  );
};

type Pending = NonNullable<Subscription['pending_change']>;

const PENDING: Readonly<Record<Pending['status'], string>> = {
  awaiting_payment: 'The payer must confirm the change of plan',
  processing: 'The change of plan is processing',
};

const Awaited = ({ pending, currency }: { readonly pending: Pending; readonly currency: string }) => (
  <>
    The payer must authenticate the payment of <Money cents={pending.due_now_cents} currency={currency} />. Until then
    the current plan stays.
    {pending.expires_at !== null && (
      <>
        {' '}
        If it stays unpaid, the change ends on <Time at={pending.expires_at} zoned={true} />.
      </>
    )}
  </>
);

const Unknown = () => <>The provider has not confirmed it yet. The service looks it up until it has.</>;

interface NoteProps extends NotesProps {
  readonly title: string;
  readonly children: ComponentChildren;
}

const Note = ({ subscription, onChanged, title, children }: NoteProps) => {
  const [isAsking, setAsking] = useState(false);
  return (
    <section class="note note-wait" aria-label="Change of plan">
      <div>
        <strong>{title}</strong>
        <p>{children}</p>
      </div>
      {mayWithdraw(subscription) && (
        <button type="button" onClick={() => setAsking(true)}>
          Withdraw
        </button>
      )}
      {isAsking && (
        <WithdrawDialog subscription={subscription} onChanged={onChanged} onClose={() => setAsking(false)} />
      )}
    </section>
  );
};

interface WithdrawDialogProps extends NotesProps {
  readonly onClose: () => void;
}

const WithdrawDialog = ({ subscription, onChanged, onClose }: WithdrawDialogProps) => {
  const { id, pending_change: pending } = subscription;
  const withdraw = useAction(async () => {
    await answerOf(api.DELETE('/subscriptions/{id}/change', { params: { path: { id } } }));
    onClose();
    onChanged();
  });
  return (
    <Dialog title="Withdraw this change?" onClose={onClose}>
      <p>The subscription keeps its current plan.{pending && ' The open payment is canceled.'}</p>
      {withdraw.problem && <ProblemNote problem={withdraw.problem} />}
      <DialogActions
        back="Keep change"
        onBack={onClose}
        act={['Withdraw change', 'Withdrawing…']}
        action={withdraw}
        kind="danger"
      />
    </Dialog>
  );
};
