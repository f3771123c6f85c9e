/** @module The page of one payment, with its details, its timeline, and the merchant's actions. */

import type { ComponentChildren } from 'preact';
import { answerOf, api } from '../api/client.ts';
import { readPayersOfPayment } from '../api/payers.ts';
import { providerName } from '../api/providers.ts';
import { may } from '../api/session.ts';
import type { Payment } from '../api/types.ts';
import { HoldNote } from '../holds/hold-note.tsx';
import { money } from '../view/format.ts';
import { Json, Status, Time } from '../view/parts.tsx';
import { RecordPage } from '../view/record-page.tsx';
import { Link } from '../view/route.tsx';
import { adviceFor, declineInWords } from './method-words.ts';
import { PaymentActions } from './payment-actions.tsx';
import { DISPUTES, PaymentChain, type PaymentFile, REFUNDS } from './payment-chain.tsx';
import { PaymentDetails, PaymentPrices, SettlementFacts } from './payment-facts.tsx';
import { payerInShort } from './payment-parts.tsx';
import { DisputeItem, RefundItem } from './payment-returns.tsx';
import { showPaymentChange } from './payment-timeline.tsx';
import { readTimeline, Timeline } from './timeline.tsx';

const readPayment = async (id: string): Promise<PaymentFile> => {
  const path = { id };
  const [payment, payers, refunds, disputes, timeline] = await Promise.all([
    answerOf(api.GET('/payments/{id}', { params: { path, query: { include: 'payment_method' } } })),
    readPayersOfPayment(id),
    answerOf(api.GET('/payments/{id}/refunds', { params: { path } })),
    answerOf(api.GET('/payments/{id}/disputes', { params: { path } })),
    readTimeline(
      async (query) => (await answerOf(api.GET('/payments/{id}/timeline', { params: { path, query } }))).data,
    ),
  ]);
  return {
    payment: { ...payment.data.data, ...payers },
    refunds: refunds.data,
    disputes: disputes.data,
    timeline,
  };
};

export const PaymentPage = ({ id }: { readonly id: string }) => (
  <RecordPage
    id={id}
    list={['/payments', 'Payments']}
    what="the payment"
    title={(file) => (file ? money(file.payment.amount_cents, file.payment.currency) : 'Payment')}
    tab="Payment"
    status={({ payment }) => <Status of={payment.status} />}
    marks={({ payment }) => <Marks payment={payment} />}
    about={({ payment }) => (
      <>
        {payerInShort(payment)} · <Time at={payment.created_at} zoned={true} />
      </>
    )}
    read={() => readPayment(id)}
    actions={({ payment, disputes }, follow) => (
      <PaymentActions payment={payment} disputes={disputes} onChanged={follow} />
    )}
  >
    {(file, follow) => <PaymentView file={file} onSent={follow} />}
  </RecordPage>
);

const Marks = ({ payment: { disputed, refund_status: refunded } }: { readonly payment: Payment }) => (
  <>
    {disputed && <span class="status status-bad">Disputed</span>}
    {refunded !== 'none' && <span class="status">{refunded === 'full' ? 'Refunded' : 'Partly refunded'}</span>}
  </>
);

const PaymentView = ({ file, onSent }: { readonly file: PaymentFile; readonly onSent: () => void }) => {
  const { payment, refunds, disputes, timeline } = file;
  const { settlement } = payment;
  return (
    <>
      <PaymentChain file={file} />
      <DeclineNote payment={payment} />
      <HoldNote payment={payment} />
      <div class="columns">
        <Card title="Details">
          <PaymentDetails payment={payment} />
        </Card>
        <div class="stack">
          <Card title="Prices">
            <PaymentPrices payment={payment} />
          </Card>
          {settlement && (
            <Card title="Settlement">
              <SettlementFacts settlement={settlement} />
            </Card>
          )}
          {refunds.length > 0 && (
            <Card title="Refunds" id={REFUNDS} all="/refunds">
              <ul class="plain-list">
                {refunds.map((refund) => (
                  <RefundItem key={refund.id} refund={refund} />
                ))}
              </ul>
            </Card>
          )}
          {disputes.length > 0 && (
            <Card title="Disputes" id={DISPUTES} all="/disputes">
              <ul class="plain-list">
                {disputes.map((dispute) => (
                  <DisputeItem key={dispute.id} dispute={dispute} />
                ))}
              </ul>
            </Card>
          )}
          {Object.keys(payment.metadata).length > 0 && (
            <Card title="Metadata">
              <Json value={payment.metadata} name="Metadata" />
            </Card>
          )}
        </div>
      </div>
      <Timeline entries={timeline} show={showPaymentChange(payment.currency)} onSent={onSent} />
    </>
  );
};

interface CardProps {
  readonly title: string;
  /** The element's id, for links within the page. */
  readonly id?: string;
  /** The page that lists such records for all payments. It needs the scope payments:read. */
  readonly all?: string;
  readonly children: ComponentChildren;
}

const Card = ({ title, id, all, children }: CardProps) => (
  <section class="card" id={id} tabIndex={id === undefined ? undefined : -1} aria-label={title}>
    <div class="card-head">
      <h2>{title}</h2>
      {all !== undefined && may('payments:read') && <Link to={all}>All {title.toLowerCase()}</Link>}
    </div>
    {children}
  </section>
);

/** The reason for the last decline, and the answer for the payer. */
const DeclineNote = ({ payment }: { readonly payment: Payment }) => {
  const { decline, provider_id: provider } = payment;
  if (!decline) return null;
  const { provider_code, network_code } = decline;
  const codes = [
    ...(provider_code === null ? [] : [`${providerName(provider)}: ${provider_code}`]),
    ...(network_code === null ? [] : [`card network: ${network_code}`]),
  ];
  return (
    <section class="note note-bad" aria-label="Decline">
      <div>
        <strong>{declineInWords(decline)}</strong> {adviceFor(decline)}
        {codes.length > 0 && <p class="quiet">{codes.join(' · ')}</p>}
      </div>
    </section>
  );
};
