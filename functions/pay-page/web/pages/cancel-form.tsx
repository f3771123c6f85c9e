import { useEffect, useRef } from 'preact/hooks';
import { Button, Field } from '../view/parts.tsx';
import { dateText, say } from '../words/words.ts';

const REASONS = ['too_expensive', 'missing_features', 'switched', 'unused', 'other'] as const;
const LONGEST_COMMENT = 500;

interface CancelFormProps {
  /** The end of the period; undefined for an immediate cancellation. */
  readonly endsAt: string | undefined;
  readonly isBusy: boolean;
  readonly onBack: () => void;
  readonly onCancel: (body: { readonly reason?: string; readonly comment?: string }) => void;
}

/** Asks for a reason and a comment before a cancellation. Both are optional. */
export const CancelForm = ({ endsAt, isBusy, onBack, onCancel }: CancelFormProps) => {
  const first = useRef<HTMLSelectElement>(null);
  useEffect(() => first.current?.focus(), []);
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        if (isBusy) return;
        const data = new FormData(event.currentTarget);
        const reason = String(data.get('reason') ?? '');
        const comment = String(data.get('comment') ?? '').trim();
        onCancel({ ...(reason !== '' && { reason }), ...(comment !== '' && { comment }) });
      }}
    >
      <p>{endsAt === undefined ? say('cancelNowText') : say('cancelText', { date: dateText(endsAt) })}</p>
      <Field id="reason" label={say('reason')} hint={say('optional')}>
        {({ id }) => (
          <select id={id} name="reason" ref={first}>
            <option value="">{say('noReason')}</option>
            {REASONS.map((reason) => (
              <option key={reason} value={reason}>
                {say(reason)}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field id="comment" label={say('comment')} hint={say('optional')}>
        {({ id }) => <textarea id={id} name="comment" rows={3} maxLength={LONGEST_COMMENT} />}
      </Field>
      <div class="buttons">
        <Button kind="danger" isBusy={isBusy} whileBusy={say('wait')}>
          {say('cancelSubscription')}
        </Button>
        <Button kind="plain" onClick={onBack}>
          {say('back')}
        </Button>
      </div>
    </form>
  );
};
