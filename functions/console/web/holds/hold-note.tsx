/** @module The banner of a payment during its hold, or after the hold ended without a capture. */

import { serviceNow } from '../api/local.ts';
import { may } from '../api/session.ts';
import type { Payment } from '../api/types.ts';
import { duration } from '../view/format.ts';
import { Money, Time } from '../view/parts.tsx';
import { endsSoon } from './ending-holds.ts';

const ENDS: Readonly<Record<NonNullable<Payment['cancellation_reason']>, string>> = {
  released: 'The hold was released. Nothing was captured.',
  expired: 'The hold ended before it was captured. Nothing was captured.',
  provider: 'The hold ended at the provider. Nothing was captured.',
};

interface HoldNoteProps {
  readonly payment: Payment;
}

export const HoldNote = ({ payment }: HoldNoteProps) => {
  const { status, capture_before: end, cancellation_reason: reason } = payment;
  if (reason) {
    return (
      <section class="note" aria-label="Hold">
        <p>{ENDS[reason]}</p>
      </section>
    );
  }
  if (status !== 'requires_capture') return null;
  return (
    <section class={end !== null && endsSoon(end) ? 'note note-bad' : 'note'} aria-label="Hold">
      <div>
        <strong>{end === null ? 'The amount is held' : endInWords(end)}</strong> <Next payment={payment} />
        <Times payment={payment} />
      </div>
    </section>
  );
};

const endInWords = (end: string): string => {
  const left = Date.parse(end) - serviceNow();
  return left > 0 ? `Hold ends in ${duration(left)}.` : 'The end of the hold has passed.';
};

/** What happens next, or the merchant's options. */
const Next = ({ payment }: HoldNoteProps) => {
  if (payment.capture_pending) {
    return <>The provider has not confirmed the capture yet. The service looks it up automatically.</>;
  }
  if (payment.release_pending) {
    return <>The provider has not confirmed the release yet. The service looks it up automatically.</>;
  }
  const { capturable_cents: cents, currency } = payment;
  return (
    <>
      <Money cents={cents} currency={currency} /> can be captured.
      {may('payments:capture') && ' Capture it when you ship, or release it.'}
    </>
  );
};

const Times = ({ payment: { capture_before: end, guaranteed_until: guaranteed } }: HoldNoteProps) => (
  <p class="quiet">
    {end !== null && (
      <>
        Ends <Time at={end} zoned={true} />
      </>
    )}
    {guaranteed !== null && (
      <>
        {' '}
        · the provider guarantees the capture until <Time at={guaranteed} zoned={true} />
      </>
    )}
  </p>
);
