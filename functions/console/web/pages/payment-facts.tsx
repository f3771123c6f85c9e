/** @module A payment's details, prices and settlement on its page. */

import { dashboardLink, providerName } from '../api/providers.ts';
import { may } from '../api/session.ts';
import type { Payment, Settlement } from '../api/types.ts';
import { dateInUtc } from '../view/format.ts';
import { Fact, Money, Time } from '../view/parts.tsx';
import { Link, withQuery } from '../view/route.tsx';
import { methodInWords } from './method-words.ts';
import { CustomerLink, Method, OwningOrganization, Payer } from './payment-parts.tsx';

export const PaymentDetails = ({ payment }: { readonly payment: Payment }) => (
  <dl class="facts">
    <Fact name="Created">
      <Time at={payment.created_at} exact={true} />
    </Fact>
    {payment.completed_at !== null && (
      <Fact name="Completed">
        <Time at={payment.completed_at} exact={true} />
      </Fact>
    )}
    <Fact name="Payer">
      <Payer record={payment} />
      <PaymentsOfPayer payment={payment} />
    </Fact>
    <MethodFacts payment={payment} />
    <Fact name="Provider">{providerName(payment.provider_id)}</Fact>
    <ProviderId payment={payment} />
    <TextFacts payment={payment} />
  </dl>
);

/** A link to the payer's other payments, for example to find a duplicate charge. */
const PaymentsOfPayer = ({ payment: { user_id: user, guest_email: guest } }: { readonly payment: Payment }) => {
  if (!may('payments:read') || (user === null && guest === null)) return null;
  const filter = user === null ? ['search', guest ?? ''] : ['user', user];
  return (
    <span class="second-line">
      <Link to={withQuery('/payments', new URLSearchParams([filter]))}>All payments of this payer</Link>
    </span>
  );
};

/** The last attempt's method and expiry in one line, with a link to payments with the same card. */
const MethodFacts = ({ payment }: { readonly payment: Payment }) => {
  const { payment_method_details: details } = payment;
  return (
    <>
      <Fact name="Method">
        {details ? <span class="method">{methodInWords(details)}</span> : <Method payment={payment} />}
      </Fact>
      {details?.expiry_year && (
        <Fact name="Expires">
          {details.expiry_month}/{details.expiry_year}
        </Fact>
      )}
      {details?.fingerprint && may('payments:read') && (
        <Fact name="Same card">
          <Link to={withQuery('/payments', new URLSearchParams({ fingerprint: details.fingerprint }))}>
            All payments with this card
          </Link>
        </Fact>
      )}
    </>
  );
};

const CHARGED_FOR = {
  subscription_create: 'The first period',
  subscription_cycle: 'A renewal',
  subscription_change: 'A change of the plan',
  subscription_resume: 'The period after a pause',
} as const;

/** Fields that are shown only if they are set. */
const TextFacts = ({ payment }: { readonly payment: Payment }) => {
  const facts: readonly (readonly [string, unknown])[] = [
    ['Description', payment.description],
    ['Concept', payment.concept],
    ['Reference', payment.reference_code],
    ['Category', payment.category],
    ['Tags', payment.tags],
    ['Project', payment.project_id],
    ['Product', payment.product_id],
    ['Charged for', payment.billing_reason && CHARGED_FOR[payment.billing_reason]],
  ];
  const { subscription_id: subscription, customer_id: customer, organization_id: organization } = payment;
  return (
    <>
      {facts.map(([name, value]) =>
        typeof value === 'string' && value !== '' ? (
          <Fact key={name} name={name}>
            {value}
          </Fact>
        ) : null,
      )}
      {organization !== undefined && (
        <Fact name="Organization">
          <OwningOrganization record={payment} />
        </Fact>
      )}
      {customer !== null && (
        <Fact name="Customer">
          <CustomerLink id={customer} />
        </Fact>
      )}
      {typeof subscription === 'string' && (
        <Fact name="Subscription">
          <Link to={`/subscriptions/${subscription}`}>{subscription}</Link>
        </Fact>
      )}
    </>
  );
};

const ProviderId = ({ payment }: { readonly payment: Payment }) => {
  const id = payment.provider_payment_id ?? payment.provider_intent_id;
  if (id === null) return null;
  const link = dashboardLink(payment.provider_id, id);
  return (
    <Fact name="Provider’s ID">
      {link === undefined ? (
        <code>{id}</code>
      ) : (
        <a href={link} target="_blank" rel="noreferrer" title={`Open at ${providerName(payment.provider_id)}`}>
          <code>{id}</code>
        </a>
      )}
    </Fact>
  );
};

const heldPrices = (payment: Payment) =>
  [
    ['Authorized', payment.authorized_cents ?? 0],
    ['Captured', payment.captured_cents],
  ] as const;

export const PaymentPrices = ({ payment }: { readonly payment: Payment }) => {
  const { currency } = payment;
  const prices: readonly (readonly [string, number])[] = [
    ['Subtotal', payment.subtotal_cents],
    ['Tax', payment.tax_cents],
    ['Discount', 0 - payment.discount_cents],
    ...(payment.discount === null
      ? []
      : ([[`of it code ${payment.discount.code}`, 0 - payment.discount.cents]] as const)),
    ['Total', payment.total_cents],
    ...(payment.authorized_cents === null ? [] : heldPrices(payment)),
    ['Refunded', payment.refunded_cents],
    ...(payment.disputed_cents === 0 ? [] : ([['Disputed', payment.disputed_cents]] as const)),
    ...(payment.lost_cents === 0 ? [] : ([['Lost in disputes', payment.lost_cents]] as const)),
    ['Can be refunded', payment.refundable_cents],
  ];
  return (
    <dl class="facts prices">
      {prices.map(([name, cents]) => (
        <Fact key={name} name={name}>
          <Money cents={cents} currency={currency} />
        </Fact>
      ))}
    </dl>
  );
};

export const SettlementFacts = ({ settlement }: { readonly settlement: Settlement }) => {
  const { fee_cents, net_cents, currency, exchange_rate, available_on } = settlement;
  return (
    <dl class="facts prices">
      <Fact name="Provider’s fee">
        <Money cents={fee_cents} currency={currency} />
      </Fact>
      <Fact name="Net">
        <Money cents={net_cents} currency={currency} />
      </Fact>
      {exchange_rate !== null && <Fact name="Exchange rate">{exchange_rate}</Fact>}
      {available_on !== null && <Fact name="Paid out from">{dateInUtc(available_on)}</Fact>}
    </dl>
  );
};
