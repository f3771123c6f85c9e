/** @module The refunds and the disputes of a payment on its page. */

import type { Dispute, Refund, Settlement } from '../api/types.ts';
import { dateInUtc, inWords, money } from '../view/format.ts';
import { Money, Status, Time } from '../view/parts.tsx';
import { PersonInShort } from './actor.tsx';

const feeInWords = ({ fee_cents: fee, currency }: Settlement): string =>
  fee < 0 ? `fee given back: ${money(-fee, currency)}` : `fee: ${money(fee, currency)}`;

export const RefundItem = ({ refund }: { readonly refund: Refund }) => {
  const { settlement } = refund;
  return (
    <li>
      <div class="entry-head">
        <Money cents={refund.amount_cents} currency={refund.currency} />
        <Status of={refund.status} />
      </div>
      <p class="quiet">
        {refund.reason === null ? 'No reason given' : inWords(refund.reason)}
        {refund.source === 'provider' && ' · made at the provider'}
        {refund.failure_code !== null && ` · ${refund.failure_code}`}
        {settlement && ` · ${feeInWords(settlement)}`}
      </p>
      <p class="entry-by">
        <Time at={refund.created_at} exact={true} />
        {refund.created_by !== null && (
          <span>
            by <PersonInShort id={refund.created_by} />
          </span>
        )}
        <code>{refund.id}</code>
        {refund.provider_refund_id !== null && <code>{refund.provider_refund_id}</code>}
      </p>
    </li>
  );
};

export const DisputeItem = ({ dispute }: { readonly dispute: Dispute }) => (
  <li>
    <div class="entry-head">
      <Money cents={dispute.amount_cents} currency={dispute.currency} />
      <Status of={dispute.status} />
    </div>
    <p class="quiet">
      {dispute.reason === null ? 'No reason given' : inWords(dispute.reason)}
      {dispute.evidence_due_by !== null && ` · evidence is due by ${dateInUtc(dispute.evidence_due_by)} (UTC)`}
    </p>
    <p class="entry-by">
      <Time at={dispute.created_at} exact={true} />
      <code>{dispute.id}</code>
    </p>
  </li>
);
