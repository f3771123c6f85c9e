/** @module The caller's commands for a subscription. A dialog confirms each command. */

import { useState } from 'preact/hooks';
import { answerOf, api } from '../api/client.ts';
import { may } from '../api/session.ts';
import type { Subscription } from '../api/types.ts';
import { useKeyedAction } from '../view/action.ts';
import { Dialog, DialogActions } from '../view/dialog.tsx';
import { dateInUtc } from '../view/format.ts';
import { Choice, ProblemNote } from '../view/parts.tsx';
import { usePayLink } from '../view/pay-link.tsx';
import { RecordActions } from '../view/record-actions.tsx';
import { PlanChangeDialog } from './plan-change-dialog.tsx';
import { type Command, commandsFor } from './subscription-rights.ts';

interface ActionsProps {
  readonly subscription: Subscription;
  readonly onChanged: () => void;
}

const NAMES: Readonly<Record<Command, string>> = {
  change: 'Change plan',
  price: 'Change price',
  cancel: 'Cancel',
  reactivate: 'Reactivate',
  pause: 'Pause',
  resume: 'Resume',
};

export const SubscriptionActions = ({ subscription, onChanged }: ActionsProps) => {
  const [open, setOpen] = useState<Command>();
  const payLink = usePayLink({ kind: 'subscriptions', id: subscription.id });
  const isPayable = may('links:write') && subscription.status === 'past_due';
  const commands = commandsFor(subscription).map((command) => ({ name: NAMES[command], run: () => setOpen(command) }));
  const close = (): void => setOpen(undefined);
  const props = { subscription, onChanged, onClose: close };
  return (
    <>
      <RecordActions actions={[...(isPayable ? [payLink.action] : []), ...commands]} />
      {payLink.note}
      {(open === 'change' || open === 'price') && <PlanChangeDialog {...props} />}
      {open === 'cancel' && <CancelDialog {...props} />}
      {open !== undefined && open !== 'change' && open !== 'price' && open !== 'cancel' && (
        <CommandDialog {...props} command={open} />
      )}
    </>
  );
};

interface DialogProps extends ActionsProps {
  readonly onClose: () => void;
}

type PlainCommand = Exclude<Command, 'change' | 'price' | 'cancel'>;

const give = (command: PlainCommand, id: string, key: string) => {
  const params = { path: { id }, header: { 'Idempotency-Key': key } };
  switch (command) {
    case 'reactivate':
      return answerOf(api.POST('/subscriptions/{id}/reactivate', { params, body: {} }));
    case 'pause':
      return answerOf(api.POST('/subscriptions/{id}/pause', { params, body: {} }));
    case 'resume':
      return answerOf(api.POST('/subscriptions/{id}/resume', { params, body: {} }));
  }
};

const CONSEQUENCES: Readonly<Record<PlainCommand, (subscription: Subscription) => string>> = {
  reactivate: ({ status }) =>
    status === 'canceled'
      ? 'The subscription begins again. If its paid period is over, its payment method is charged now.'
      : 'The subscription continues after its period, and the next charge is made as before.',
  pause: () => 'Nothing is charged until the subscription is resumed.',
  resume: () => 'The subscription continues. If its paid period is over, its payment method is charged now.',
};

const CommandDialog = ({
  subscription,
  command,
  onChanged,
  onClose,
}: DialogProps & { readonly command: PlainCommand }) => {
  const action = useKeyedAction(async (key) => {
    await give(command, subscription.id, key);
    onChanged();
    onClose();
  });
  return (
    <Dialog title={`${NAMES[command]} this subscription?`} onClose={onClose}>
      <p>{CONSEQUENCES[command](subscription)}</p>
      {action.problem && <ProblemNote problem={action.problem} />}
      <DialogActions
        back="Back"
        onBack={onClose}
        act={[`${NAMES[command]} subscription`, 'Sending…']}
        action={action}
      />
    </Dialog>
  );
};

const CancelDialog = ({ subscription, onChanged, onClose }: DialogProps) => {
  const { id, current_period_end: end, cancel_at_period_end: isEnding } = subscription;
  const canWait = !isEnding && (subscription.status === 'active' || subscription.status === 'trialing');
  const [isNow, setNow] = useState(!canWait);
  const cancel = useKeyedAction(
    async (key) => {
      const header = { 'Idempotency-Key': key };
      const body = { cancel_at_period_end: !isNow };
      await answerOf(api.POST('/subscriptions/{id}/cancel', { params: { path: { id }, header }, body }));
      onChanged();
      onClose();
    },
    isNow ? 'now' : 'at the end of the period',
  );
  return (
    <Dialog title="Cancel this subscription?" onClose={onClose}>
      {canWait ? (
        <fieldset class="choices">
          <legend class="unseen">When</legend>
          <Choice of="when" isChosen={!isNow} onChoose={() => setNow(false)}>
            At the end of its period, on {dateInUtc(end)} (UTC). Nothing more is charged.
          </Choice>
          <Choice of="when" isChosen={isNow} onChoose={() => setNow(true)}>
            Now. A linked membership ends immediately; nothing is refunded.
          </Choice>
        </fieldset>
      ) : (
        <p>The subscription ends now, and nothing more is charged. A linked membership ends immediately.</p>
      )}
      {cancel.problem && <ProblemNote problem={cancel.problem} />}
      <DialogActions
        back="Keep subscription"
        onBack={onClose}
        act={['Cancel subscription', 'Canceling…']}
        action={cancel}
        kind="danger"
      />
    </Dialog>
  );
};
