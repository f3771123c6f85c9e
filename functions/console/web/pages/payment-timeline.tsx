/** @module The changes of a payment in words, for its timeline. */

import type { TimelineEntry } from '../api/types.ts';
import { inWords, money } from '../view/format.ts';
import type { ShownChange } from './timeline.tsx';

type Change = Extract<TimelineEntry, { kind: 'change' }>;

const CAUSES: Readonly<Record<NonNullable<Change['cause']>, string>> = {
  create: 'Payment created',
  update: 'Payment updated',
  claim: 'Attempt started',
  answer: 'The provider responded',
  event: 'Changed by an event of the provider',
  sync: 'Synced with the provider',
  reconciliation: 'Looked up at the provider',
  cancel: 'Payment canceled',
  expiry: 'Payment expired',
  release: 'Attempt undone, because it never reached the provider',
  refund: 'Refund',
  dispute: 'Dispute',
  erasure: 'Personal data erased',
  facts: 'Details of the payment read from the provider',
  capture: 'Capture or release undone, because it did not happen',
  capture_due: 'The hold ends soon',
  metadata: 'Metadata changed',
  import: 'Owed when the subscription was imported',
  restore: 'Brought back from the provider after a restore',
};

const titleOf = ({ cause, attempt, hold }: Change): string => {
  if (hold) return hold.call === 'capture' ? 'Capture started' : 'Release started';
  if (cause === 'claim') return `Attempt ${attempt} started`;
  return cause === null ? 'Payment changed' : CAUSES[cause];
};

export const showPaymentChange =
  (currency: string) =>
  (change: Change): ShownChange => {
    const { refund, dispute, hold, failure_code: failure, anomaly } = change;
    const shown = refund ?? dispute;
    return {
      title: titleOf(change),
      status: shown?.status ?? change.status,
      children: (
        <>
          {shown && (
            <p>
              {money(shown.amount_cents, currency)}
              {shown.reason && `, ${inWords(shown.reason).toLowerCase()}`} · <code>{shown.id}</code>
            </p>
          )}
          {typeof hold?.amount_cents === 'number' && <p>{money(hold.amount_cents, currency)}</p>}
          {failure && (
            <p>
              Declined: <code>{failure}</code>
            </p>
          )}
          {anomaly && <p class="wrong">Contradiction: {anomaly}</p>}
        </>
      ),
    };
  };
