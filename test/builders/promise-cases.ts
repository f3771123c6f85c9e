import { gzipSync } from 'node:zlib';
import type { History } from '../simulation/model/history.ts';
import { ADA, BEN } from '../simulation/world/people.ts';
import {
  chargeRow,
  exchangeOf,
  historyPayment,
  historyTime,
  historyWith,
  intentRow,
  MEMBER_OF_HISTORY,
  METHOD,
  methodItem,
  ORGANIZATION,
  PAYMENT,
  SUBSCRIPTION,
  subscriptionItem,
  versionItem,
} from './history.ts';

/** A history that violates an invariant, and a similar history that satisfies it. */
export interface Case {
  readonly broken: History;
  readonly sound: History;
}

const atSquare = (...statuses: readonly string[]): History =>
  historyWith({
    items: [
      historyPayment({ providerId: 'provider_c' }),
      ...statuses.map((status, index) => versionItem(index + 1, { status, cause: 'answer' })),
    ],
  });
/** Two attempts. The first has this status when the second begins. */
const claimedAgainWhen = (status: string): History =>
  historyWith({
    items: [
      historyPayment(),
      versionItem(1, { status: 'processing', cause: 'claim', attempt: 1 }),
      versionItem(2, { status, cause: 'answer', attempt: 1 }),
      versionItem(3, { status: 'processing', cause: 'claim', attempt: 2 }),
    ],
  });
const answered503 = (charges: readonly unknown[]): History =>
  historyWith({
    items: [historyPayment()],
    exchanges: [
      exchangeOf({
        ...{ at: 1, method: 'POST', path: `/payments/confirm/${PAYMENT}`, status: 503 },
        body: { code: 'PROVIDER_UNAVAILABLE' },
      }),
    ],
    ledger: { charges },
  });
/** A confirmation at second 100, during an outage of Stripe, with this response. */
const confirmedDuringOutage = (body: object): History =>
  historyWith({
    items: [historyPayment()],
    outage: { providerId: 'provider_a', from: Date.parse(historyTime(0)), until: Date.parse(historyTime(500)) },
    exchanges: [exchangeOf({ at: 100, method: 'POST', path: `/payments/confirm/${PAYMENT}`, status: 202, body })],
  });
const historyUntil = (status: string): History =>
  historyWith({
    items: [
      historyPayment({ version: 2, updatedAt: historyTime(2) }),
      versionItem(1, { status: 'processing' }),
      versionItem(2, { status }),
    ],
  });
const intentOver = (amount: number): History =>
  historyWith({
    items: [historyPayment({ providerIntentId: 'pi_1' })],
    ledger: { payment_intents: [intentRow({ amount, currency: 'USD' })] },
  });
/** Ben, with this role in the organization, creates a payment for the organization. */
const createdBy = (role: string): History =>
  historyWith({
    exchanges: [
      exchangeOf({
        method: 'POST',
        path: '/organizations',
        body: { data: { id: ORGANIZATION, owner_user_id: ADA.userId } },
      }),
      exchangeOf({
        ...{ at: 10, method: 'POST', path: `/organizations/${ORGANIZATION}/members`, sent: { email: BEN.email, role } },
        body: { data: { id: MEMBER_OF_HISTORY, user_id: BEN.userId } },
      }),
      exchangeOf({
        ...{ at: 20, person: BEN.name, method: 'POST', path: '/payments', sent: { organization_id: ORGANIZATION } },
        ...{ status: 201, body: { id: PAYMENT } },
      }),
    ],
  });
const synced = (status: number): History =>
  historyWith({
    items: [historyPayment({ providerPaymentId: 'pi_1' })],
    exchanges: [exchangeOf({ at: 5, method: 'POST', path: '/payments/sync/pi_1', status })],
  });
const refunds = (...sources: readonly string[]): History =>
  historyWith({
    items: sources.map((source, index) => ({
      ...{ pk: `RFD#ref_${index}`, sk: 'RFD', paymentId: PAYMENT, source },
      ...(source === 'api' ? { status: 'failed', failureCode: 'refund_exceeds' } : { status: 'succeeded' }),
    })),
  });
const defaultSet = (recordId: string): History =>
  historyWith({
    items: [methodItem(), { pk: 'OWNER#USER#user_ada', sk: 'DEFAULT#PM', recordId }],
    exchanges: [exchangeOf({ method: 'POST', path: `/payment-methods/${METHOD}/set-default` })],
  });
const erased = (userEmail: string | undefined): History =>
  historyWith({
    items: [historyPayment({ userEmail })],
    exchanges: [exchangeOf({ at: 500, path: '/admin/erasures', status: 202, sent: { user_id: 'user_ada' } })],
  });
/** A stored provider event, received before the erasure of Ada was requested at second 500. */
const eventOfErased = (name: string | null): History =>
  historyWith({
    items: [
      { pk: 'ERA#ers_1', sk: 'ERA', completedAt: historyTime(900) },
      { pk: 'GONE#pi_1', sk: 'GONE', sort: `${historyTime(600)}#pi_1` },
      {
        ...{ pk: 'EVT#provider_a#evt_1', sk: 'EVT', receivedAt: historyTime(100) },
        raw: gzipSync(JSON.stringify({ id: 'evt_1', data: { object: { id: 'pi_1', name } } })),
      },
    ],
    exchanges: [
      exchangeOf({
        ...{ at: 500, path: '/admin/erasures', status: 202 },
        ...{ sent: { user_id: ADA.userId }, body: { data: { id: 'ers_1' } } },
      }),
    ],
  });
const endsAt = (chargedAt: number): History =>
  historyWith({
    items: [historyPayment({ subscriptionId: SUBSCRIPTION })],
    exchanges: [
      exchangeOf({
        ...{ method: 'POST', path: `/subscriptions/${SUBSCRIPTION}/cancel` },
        body: { status: 'active', cancel_at_period_end: true, current_period_end: historyTime(1_000) },
      }),
    ],
    ledger: { charges: [chargeRow({ created_at: historyTime(chargedAt) })] },
  });
/** A payment with a second intent, created at second 50. @param claimedAt the time of the payment's claim */
const twoIntents = (claimedAt: string): History =>
  historyWith({
    items: [historyPayment(), { ...versionItem(2, { status: 'processing', cause: 'claim' }), at: claimedAt }],
    ledger: {
      payment_intents: [
        intentRow({ created_at: historyTime(0) }),
        intentRow({ id: 'pi_2', created_at: historyTime(50) }),
      ],
    },
  });
const month = (days: number): History =>
  historyWith({
    items: [
      subscriptionItem({
        ...{ billingOwner: 'service', period: 0 },
        ...{ currentPeriodStart: historyTime(0), currentPeriodEnd: historyTime(days * 86_400) },
      }),
    ],
  });

/** A payment that is confirmed 20 hours after its creation and expires this many hours after its confirmation. */
const expiredAfter = (hours: number): History =>
  historyWith({
    items: [
      historyPayment({ status: 'canceled' }),
      versionItem(1, { status: 'processing', cause: 'claim', at: historyTime(20 * HOUR_S) }),
      versionItem(2, { status: 'pending', cause: 'answer', at: historyTime(20 * HOUR_S) }),
      versionItem(3, { status: 'canceled', cause: 'expiry', at: historyTime((20 + hours) * HOUR_S) }),
    ],
  });
/** A Stripe event, received at this second and applied at second 10. */
const receivedAt = (seconds: number): History =>
  historyWith({
    items: [
      { pk: 'EVT#provider_a#evt_1', sk: 'EVT', receivedAt: historyTime(seconds) },
      {
        ...{ pk: 'LOG#log_1', sk: 'LOG', provider: 'provider_a', eventId: 'evt_1', createdAt: historyTime(10) },
        ...{ direction: 'inbound', status: 'success' },
      },
    ],
  });
/** Stripe refunds 4.00 of 10.00 USD at second 50. A sync at second 100 shows this refundable amount. */
const syncedWith = (refundable: number): History =>
  historyWith({
    items: [historyPayment()],
    ledger: {
      refunds: [{ id: 're_1', payment_id: PAYMENT, amount: 400, status: 'succeeded', created_at: historyTime(50) }],
    },
    exchanges: [
      exchangeOf({
        ...{ at: 100, method: 'POST', path: '/payments/sync/pi_1' },
        body: { id: PAYMENT, status: 'succeeded', total_cents: 1_000, refundable_cents: refundable },
      }),
    ],
  });
const HOUR_S = 3_600;

export const PROMISE_CASES: Readonly<Record<string, Case>> = {
  'Before its first attempt a payment has one intent at its provider': {
    broken: twoIntents(historyTime(100)),
    sound: twoIntents(historyTime(20)),
  },
  'No attempt begins while another attempt of the payment is open': {
    broken: claimedAgainWhen('processing'),
    sound: claimedAgainWhen('failed'),
  },
  'A payment that has succeeded stays succeeded': {
    broken: atSquare('processing', 'succeeded', 'failed'),
    sound: atSquare('processing', 'failed', 'processing', 'succeeded'),
  },
  'An attempt that has failed does not succeed later, unless its payer pays in the browser': {
    broken: atSquare('processing', 'failed', 'succeeded'),
    sound: atSquare('processing', 'failed', 'processing', 'succeeded'),
  },
  'A confirmation that returns 503 charges nothing later': {
    broken: answered503([chargeRow()]),
    sound: answered503([]),
  },
  'A confirmation that could not be sent to the provider leaves no attempt open': {
    broken: confirmedDuringOutage({ id: PAYMENT, status: 'processing' }),
    sound: confirmedDuringOutage({ id: PAYMENT, status: 'succeeded' }),
  },
  'At rest the newest entry in the history of a payment or subscription is the record itself': {
    broken: historyUntil('failed'),
    sound: historyUntil('succeeded'),
  },
  'The amount and currency to charge at the provider are those of the payment': {
    broken: intentOver(900),
    sound: intentOver(1_000),
  },
  'Only owners, admins and billing members change what an organization has': {
    broken: createdBy('member'),
    sound: createdBy('billing'),
  },
  'A payment that waits for its payer does not expire within a day after its confirmation': {
    broken: expiredAfter(12),
    sound: expiredAfter(24),
  },
  'An event of a provider is stored once, as it came first': { broken: receivedAt(60), sound: receivedAt(9) },
  'A sync that returns 200 shows the refunds that the provider made before it': {
    broken: syncedWith(1_000),
    sound: syncedWith(600),
  },
  'A payment is found by the id that its provider has given to it': { broken: synced(404), sound: synced(200) },
  'The service requests no refund above the remaining amount of the charge': {
    broken: refunds('api'),
    sound: refunds('api', 'provider'),
  },
  'The default that was set last is the default': { broken: defaultSet('pmt_other'), sound: defaultSet(METHOD) },
  'At rest an event of an erased record that a provider sent before the erasure does not name the person': {
    broken: eventOfErased(ADA.name),
    sound: eventOfErased(null),
  },
  'At rest no payment of an erased person names the person': {
    broken: erased('ada@shop.example.com'),
    sound: erased(undefined),
  },
  'A subscription that was canceled for the end of its period is not charged for the next one': {
    broken: endsAt(1_001),
    sound: endsAt(-10),
  },
  'A period that the service bills is as long as its interval': { broken: month(60), sound: month(31) },
};
