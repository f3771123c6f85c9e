/** @module A payment's related records in one line, from customer and method to refunds, disputes and events. */

import type { ComponentChildren } from 'preact';
import { mayOpen } from '../api/session.ts';
import type { Dispute, Payment, Refund, TimelineEntry } from '../api/types.ts';
import { count, money } from '../view/format.ts';
import { Link } from '../view/route.tsx';
import { Method, payerInShort } from './payment-parts.tsx';
import { TIMELINE } from './timeline.tsx';

/** A payment with the records that belong to it. */
export interface PaymentFile {
  readonly payment: Payment;
  readonly refunds: readonly Refund[];
  readonly disputes: readonly Dispute[];
  readonly timeline: readonly TimelineEntry[];
}

/** The ids of the parts of the page. */
export const REFUNDS = 'refunds';
export const DISPUTES = 'disputes';

const counted = (number: number, one: string): string => `${count(number)} ${one}${number === 1 ? '' : 's'}`;

export const PaymentChain = ({ file: { payment, refunds, disputes, timeline } }: { readonly file: PaymentFile }) => {
  const { customer_id: customer, subscription_id: subscription } = payment;
  const events = timeline.filter(({ kind }) => kind !== 'change').length;
  const links: readonly ComponentChildren[] = [
    customer !== null && mayOpen('customers:read') ? (
      <Link to={`/customers/${customer}`}>{payerInShort(payment)}</Link>
    ) : (
      payerInShort(payment)
    ),
    typeof subscription === 'string' && <Link to={`/subscriptions/${subscription}`}>Subscription</Link>,
    <Method payment={payment} />,
    <strong aria-current="true">{money(payment.amount_cents, payment.currency)}</strong>,
    refunds.length > 0 && <InPage to={REFUNDS}>{counted(refunds.length, 'refund')}</InPage>,
    disputes.length > 0 && <InPage to={DISPUTES}>{counted(disputes.length, 'dispute')}</InPage>,
    events > 0 && <InPage to={TIMELINE}>{counted(events, 'event')}</InPage>,
  ];
  return (
    <ol class="chain" aria-label="Chain">
      {links.map((link, index) => link && <li key={index}>{link}</li>)}
    </ol>
  );
};

/** A link that moves the focus to a part of the page. */
const InPage = ({ to, children }: { readonly to: string; readonly children: ComponentChildren }) => (
  <a
    href={`#${to}`}
    onClick={(event) => {
      event.preventDefault();
      const part = document.getElementById(to);
      part?.scrollIntoView();
      part?.focus({ preventScroll: true });
    }}
  >
    {children}
  </a>
);
