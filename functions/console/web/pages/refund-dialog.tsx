/**
 * @module The dialog that refunds all or part of a payment. Its three steps are the amount, the confirmation, and the
 * result.
 */

import { useState } from 'preact/hooks';
import { majorUnits, refundableDespiteDispute } from '../../../../shared/core/money.ts';
import { answerOf, api } from '../api/client.ts';
import { Problem } from '../api/problem.ts';
import { refundLimitIn } from '../api/session.ts';
import type { Dispute, Payment, Refund } from '../api/types.ts';
import { newKey, useAction } from '../view/action.ts';
import { Dialog, DialogActions, FormActions } from '../view/dialog.tsx';
import { dateInUtc, inWords, minorUnits, money } from '../view/format.ts';
import { asProblem } from '../view/load.ts';
import { Fact, Money, ProblemNote } from '../view/parts.tsx';
import {
  dropSentRefund,
  isOutcomeUnknown,
  isRepeatable,
  keepSentRefund,
  limitIn,
  REASONS,
  type Reason,
  type RefundDraft,
  sentRefund,
} from './refund-draft.ts';

const TOO_OLD =
  'This refund was first sent more than 23 hours ago, so it can no longer be sent again safely. Check the refunds of the payment before you refund again.';

interface RefundDialogProps {
  readonly payment: Payment;
  /** The payment's open dispute. A refund during a dispute can pay the payer twice. */
  readonly dispute: Dispute | undefined;
  /** Called after each definite response. */
  readonly onAnswered: () => void;
  readonly onClose: () => void;
}

export const RefundDialog = ({ payment, dispute, onAnswered, onClose }: RefundDialogProps) => {
  const { currency } = payment;
  /** The sent refund without a definite response. */
  const [unknown, setUnknown] = useState(() => sentRefund(payment.id));
  const [draft, setDraft] = useState<RefundDraft>(
    unknown ?? { amount: dispute ? '' : majorUnits(withinLimit(payment), currency), reason: '' },
  );
  const [despiteDispute, setDespiteDispute] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const [refund, setRefund] = useState<Refund>();
  const cents = minorUnits(draft.amount, currency) ?? 0;
  const sending = useAction(async () => {
    const sent = unknown ?? {
      ...draft,
      key: newKey(),
      despiteDispute: dispute !== undefined && despiteDispute,
      sentAt: Date.now(),
    };
    // Stored before it is sent, because the dialog may be closed before the response arrives.
    keepSentRefund(payment.id, sent);
    const end = (): void => {
      dropSentRefund(payment.id, sent);
      setUnknown(undefined);
      onAnswered();
    };
    if (!isRepeatable(sent, Date.now())) {
      end();
      throw new Problem(TOO_OLD, { status: 0 });
    }
    try {
      const made = await createRefund(payment.id, sent.key, {
        amount_cents: cents,
        ...(sent.reason !== '' && { reason: sent.reason }),
        ...(sent.despiteDispute && { despite_dispute: true }),
      });
      setRefund(made);
    } catch (reason) {
      if (isOutcomeUnknown(asProblem(reason), unknown !== undefined)) setUnknown(sent);
      else end();
      throw reason;
    }
    end();
  });
  if (refund) return <Outcome refund={refund} onClose={onClose} />;
  return (
    <Dialog title="Refund" onClose={onClose}>
      {unknown && (
        <p class="wrong" role="status">
          The outcome of this refund is unknown. Send it again to learn the outcome; the refund is made only once.
        </p>
      )}
      {dispute && <DisputeWarning dispute={dispute} />}
      {isAsking ? (
        <Question
          payment={payment}
          cents={cents}
          isSent={unknown !== undefined}
          despite={dispute && !unknown ? [despiteDispute, setDespiteDispute] : undefined}
          sending={sending}
          onBack={() => setAsking(false)}
        />
      ) : (
        <DraftForm
          payment={payment}
          draft={draft}
          isLocked={unknown !== undefined}
          onChange={setDraft}
          onContinue={() => setAsking(true)}
          onClose={onClose}
        />
      )}
    </Dialog>
  );
};

/** The maximum refund now under the user's limit for all refunds of the payment. */
const withinLimit = (payment: Payment): number => {
  const { captured_cents: captured, lost_cents: lost, currency } = payment;
  const [limit, left] = [refundLimitIn(currency) ?? captured, refundableDespiteDispute(payment)];
  return Math.max(0, Math.min(left, limit - (captured - lost - left)));
};

const createRefund = async (
  id: string,
  key: string,
  body: { readonly amount_cents: number; readonly reason?: Reason; readonly despite_dispute?: boolean },
): Promise<Refund> => {
  const call = api.POST('/payments/{id}/refunds', {
    params: { path: { id }, header: { 'Idempotency-Key': key } },
    body,
  });
  return (await answerOf(call)).data;
};

const DisputeWarning = ({ dispute }: { readonly dispute: Dispute }) => (
  <p class="wrong" role="alert">
    The payer disputes {money(dispute.amount_cents, dispute.currency)} of this payment. <code>{dispute.id}</code>{' '}
    {dispute.status === 'needs_response' ? 'waits for evidence' : 'is under review'}
    {dispute.evidence_due_by !== null && `, due by ${dateInUtc(dispute.evidence_due_by)} (UTC)`}. After a refund, the
    payer could get the money twice.
  </p>
);

interface DraftFormProps {
  readonly payment: Payment;
  readonly draft: RefundDraft;
  readonly isLocked: boolean;
  readonly onChange: (draft: RefundDraft) => void;
  readonly onContinue: () => void;
  readonly onClose: () => void;
}

const DraftForm = ({ payment, draft, isLocked, onChange, onContinue, onClose }: DraftFormProps) => {
  const { currency } = payment;
  const refundable = refundableDespiteDispute(payment);
  const [isWrong, setWrong] = useState(false);
  const submit = (event: Event): void => {
    event.preventDefault();
    const cents = minorUnits(draft.amount, currency);
    // The amount of a sent refund is not checked, because that refund may already have reduced the refundable amount.
    const isRight = isLocked || (cents !== undefined && cents > 0 && cents <= refundable);
    setWrong(!isRight);
    if (isRight) onContinue();
  };
  return (
    <form class="form" onSubmit={submit}>
      <p class="quiet">
        <Money cents={refundable} currency={currency} /> of this payment can be refunded.
      </p>
      <Limit cents={refundLimitIn(currency)} currency={currency} />
      <label class="field">
        <span>Amount</span>
        <input
          type="text"
          inputMode="decimal"
          autocomplete="off"
          value={draft.amount}
          disabled={isLocked}
          aria-invalid={isWrong}
          aria-describedby="amount-hint"
          onInput={(event) => onChange({ ...draft, amount: event.currentTarget.value })}
        />
        <small id="amount-hint" class="quiet">
          In {currency}, at most {majorUnits(refundable, currency)}
        </small>
      </label>
      {isWrong && (
        <p class="wrong" role="alert">
          Enter an amount between {majorUnits(1, currency)} and {majorUnits(refundable, currency)}.
        </p>
      )}
      <label class="field">
        <span>Reason</span>
        <select
          value={draft.reason}
          disabled={isLocked}
          onChange={(event) => {
            const reason = REASONS.find((one) => one === event.currentTarget.value);
            onChange({ ...draft, reason: reason ?? '' });
          }}
        >
          <option value="">None</option>
          {REASONS.map((reason) => (
            <option key={reason} value={reason}>
              {inWords(reason)}
            </option>
          ))}
        </select>
      </label>
      <FormActions onClose={onClose} act={['Continue']} />
    </form>
  );
};

const Limit = ({ cents, currency }: { readonly cents: number | undefined; readonly currency: string }) =>
  cents === undefined ? null : (
    <p class="quiet">
      Support may refund up to <Money cents={cents} currency={currency} /> of one payment.
    </p>
  );

interface QuestionProps {
  readonly payment: Payment;
  readonly cents: number;
  /**
   * True if the refund was already sent. The refundable amount is then hidden, because the refund may have reduced it.
   */
  readonly isSent: boolean;
  /** The user's choice to refund despite an open dispute, and its setter; undefined without an open dispute. */
  readonly despite: readonly [boolean, (despite: boolean) => void] | undefined;
  readonly sending: ReturnType<typeof useAction>;
  readonly onBack: () => void;
}

const Question = ({ payment, cents, isSent, despite, sending, onBack }: QuestionProps) => {
  const { currency } = payment;
  const refundable = refundableDespiteDispute(payment);
  return (
    <div class="form">
      <p>The payer gets the money back. A refund cannot be undone.</p>
      <dl class="facts">
        <Fact name="Refund">
          <strong>
            <Money cents={cents} currency={currency} />
          </strong>
        </Fact>
        {!isSent && (
          <Fact name="Left to refund after this refund">
            <Money cents={refundable - cents} currency={currency} />
          </Fact>
        )}
        <Fact name="Payment">
          <code>{payment.id}</code>
        </Fact>
      </dl>
      {despite && (
        <label class="check">
          <input type="checkbox" checked={despite[0]} onChange={(event) => despite[1](event.currentTarget.checked)} />
          <span>Refund despite the dispute</span>
        </label>
      )}
      {sending.problem && <ProblemNote problem={sending.problem} />}
      <Limit cents={sending.problem && limitIn(sending.problem)} currency={currency} />
      <DialogActions
        back="Back"
        onBack={onBack}
        act={[`Refund ${money(cents, currency)}`, 'Refunding…']}
        action={sending}
        isIncomplete={despite?.[0] === false}
      />
    </div>
  );
};

const OUTCOMES: Readonly<Record<Refund['status'], string>> = {
  succeeded: 'The refund succeeded.',
  pending: 'The refund is pending. The provider has not confirmed it yet; the service looks it up until it has.',
  failed: 'The refund failed at the provider. No money was moved.',
  canceled: 'The refund was canceled at the provider. No money was moved.',
};

const Outcome = ({ refund, onClose }: { readonly refund: Refund; readonly onClose: () => void }) => (
  <Dialog title={`Refund of ${money(refund.amount_cents, refund.currency)}`} onClose={onClose}>
    <p role="status">{OUTCOMES[refund.status]}</p>
    <p class="quiet">
      <code>{refund.id}</code>
    </p>
    <div class="dialog-actions">
      <button type="button" class="primary" onClick={onClose}>
        Done
      </button>
    </div>
  </Dialog>
);
