/** @module Invariants about the attempts of a payment, as its versions show them. */
import { actingPerson } from '../model/acting.ts';
import { paidByPayers, triedByPayers } from '../model/acts.ts';
import { SKEW_MS, UNDER_WAY_MS } from '../model/exchanges.ts';
import type { History, HistoryExchange, HistoryItem, Oracle } from '../model/history.ts';
import { at, isChargeTaken, recordsOf } from '../model/records.ts';

/** PayPal keeps the idempotency key of an order for six hours. Other providers keep keys longer. */
const KEY_KEPT_MS = 6 * 3_600_000;

/** A spent intent is replaced for the next attempt. */
export const oneIntent: Oracle = {
  sentence: 'Before its first attempt a payment has one intent at its provider',
  atRestOnly: true,
  violations: (history) => {
    const { versionsOf } = recordsOf(history);
    const byPayment = Map.groupBy(
      history.ledger.payment_intents.filter(({ payment_id }) => payment_id),
      ({ payment_id }) => String(payment_id),
    );
    return [...byPayment].flatMap(([id, all]) => {
      const claim = versionsOf(id).find(({ cause }) => cause === 'claim');
      const end = claim === undefined ? history.now : at(claim['at']) - SKEW_MS;
      // After its idempotency key has expired, a provider creates another intent, which is never charged. Such intents
      // do not count.
      const keptUntil = Math.min(...all.map(({ created_at }) => at(created_at))) + KEY_KEPT_MS;
      const first = all.filter(({ created_at }) => at(created_at) < Math.min(end, keptUntil));
      return first.length > 1 ? [`${id} has the intents ${first.map((one) => one.id).join(', ')}`] : [];
    });
  },
};

interface Step {
  readonly id: string;
  readonly payment: HistoryItem;
  readonly was: HistoryItem;
  readonly next: HistoryItem;
}

/** Each change of a payment's status. */
const stepsOf = (history: History): readonly Step[] => {
  const { payments, versionsOf } = recordsOf(history);
  return payments.flatMap((payment) => {
    const versions = versionsOf(payment['id']);
    return versions.slice(1).flatMap((next, index) => {
      const was = versions[index];
      return was && was['status'] !== next['status'] ? [{ id: payment['id'], payment, was, next }] : [];
    });
  });
};

/**
 * A direct debit is pending for days and may still take the money, so its payer may not retry. An approved order is
 * also pending, because the service captures the order as its next attempt.
 */
const isOpen = (version: HistoryItem | undefined, next: HistoryItem): boolean =>
  version?.['status'] === 'processing' ||
  (version?.['status'] === 'pending' && ['user', 'guest'].includes(actingPerson(next['actor'])?.type ?? ''));

/** An attempt with an unknown outcome may have taken the money, so another attempt could charge twice. */
export const oneAttemptAtOnce: Oracle = {
  sentence: 'No attempt begins while another attempt of the payment is open',
  atRestOnly: false,
  violations: (history) => {
    const { payments, versionsOf } = recordsOf(history);
    return payments.flatMap(({ id, providerInvoiceId }) => {
      // The provider makes and counts the attempts for its own invoices.
      const versions = providerInvoiceId === undefined ? versionsOf(id) : [];
      return versions
        .filter(
          (version, index) =>
            isOpen(versions[index - 1], version) && version['attempt'] > versions[index - 1]?.['attempt'],
        )
        .map((claim) => `attempt ${claim['attempt']} of ${id} began while another was open`);
    });
  },
};

export const successStays: Oracle = {
  sentence: 'A payment that has succeeded stays succeeded',
  atRestOnly: false,
  violations: (history) =>
    stepsOf(history)
      .filter(({ was }) => was['status'] === 'succeeded')
      .map(({ id, next }) => `${id} became ${next['status']} by ${next['cause']}`),
};

export const failureStays: Oracle = {
  sentence: 'An attempt that has failed does not succeed later, unless its payer pays in the browser',
  atRestOnly: false,
  violations: (history) => {
    const byPayers = triedByPayers(history);
    const charges = new Map(history.ledger.charges.filter(isChargeTaken).map((one) => [one.payment_id, one]));
    // True if the payer may have paid in the browser. A failure event may come late, or belong to an attempt in the
    // browser.
    const isByPayer = ({ id }: Step): boolean => {
      const chargedAt = at(charges.get(id)?.created_at ?? '');
      return (byPayers.get(id) ?? []).some((paidAt) => paidAt > chargedAt - UNDER_WAY_MS);
    };
    return (
      stepsOf(history)
        .filter(({ was, next }) => was['status'] === 'failed' && next['status'] === 'succeeded')
        // Excludes the provider's invoices, because setting another method pays them immediately.
        .filter((step) => step.payment['providerInvoiceId'] === undefined && !isByPayer(step))
        .map(({ id, next }) => `${id} failed, and succeeded by ${next['cause']} without another attempt`)
    );
  },
};

const DAY_MS = 86_400_000;

/** True for a capture claimed by an event or due work after the payer's approval. It is no confirmation. */
const isApproval = ({ actor }: HistoryItem): boolean =>
  ['provider', 'system'].includes(actingPerson(actor)?.type ?? '');

/** A payer has a day for the provider's authentication step, counted from the confirmation. */
export const payersHaveADay: Oracle = {
  sentence: 'A payment that waits for its payer does not expire within a day after its confirmation',
  atRestOnly: false,
  violations: (history) => {
    const { versionsOf } = recordsOf(history);
    return stepsOf(history).flatMap(({ id, was, next }) => {
      if (was['status'] !== 'pending' || next['cause'] !== 'expiry') return [];
      const claims = versionsOf(id).filter(
        (one) => one['cause'] === 'claim' && !isApproval(one) && one['sk'] < next['sk'],
      );
      // A claim may be repeated for the same attempt. Its day counts from the first claim.
      const claim = claims.find(({ attempt }) => attempt === claims.at(-1)?.['attempt']);
      const isEarly = claim !== undefined && at(next['at']) < at(claim['at']) + DAY_MS - 2 * SKEW_MS;
      return isEarly ? [`${id} was confirmed at ${claim['at']} and expired at ${next['at']}`] : [];
    });
  },
};

const isConfirm = ({ path }: HistoryExchange, id: string): boolean => path === `/payments/confirm/${id}`;

/** The statuses of a refusal without any effect. */
const REFUSALS: ReadonlySet<number> = new Set([401, 403, 404]);

const isNotDone = ({ status, body }: HistoryExchange): boolean =>
  status === 503 && body?.code === 'PROVIDER_UNAVAILABLE';

export const notDoneLeavesNothing: Oracle = {
  sentence: 'A confirmation that returns 503 charges nothing later',
  atRestOnly: false,
  violations: (history) => {
    const { payment } = recordsOf(history);
    const byPayers = paidByPayers(history);
    const charges = history.ledger.charges.filter(isChargeTaken);
    return history.exchanges.flatMap((exchange) => {
      const id = /^\/payments\/confirm\/([^/]+)$/.exec(exchange.path)?.[1] ?? '';
      if (!isNotDone(exchange)) return [];
      // Other charges may come from another confirmation, a payment or approval in the browser, or a subscription.
      const isOnly = history.exchanges
        .filter((one) => isConfirm(one, id) && !REFUSALS.has(one.status))
        .every(isNotDone);
      if (!isOnly || payment(id)?.['subscriptionId'] !== undefined || byPayers.has(id)) return [];
      const late = charges.find((one) => one.payment_id === id && at(one.created_at) > exchange.sentAt - UNDER_WAY_MS);
      return late ? [`${late.id} charged ${id}, answer ${exchange.number} was 503`] : [];
    });
  },
};

/** A refused connection proves that nothing was sent, so the claim is released and the payer may retry. */
export const unsentIsReleased: Oracle = {
  sentence: 'A confirmation that could not be sent to the provider leaves no attempt open',
  atRestOnly: false,
  violations: ({ exchanges, outage, ...history }) => {
    const { payment } = recordsOf(history);
    return exchanges.flatMap((exchange) => {
      const id = /^\/payments\/confirm\/([^/]+)$/.exec(exchange.path)?.[1] ?? '';
      if (exchange.body?.status !== 'processing' || outage?.providerId !== payment(id)?.['providerId']) return [];
      const { sentAt, answeredAt, number } = exchange;
      const isOnly = !exchanges.some(
        (one) =>
          one !== exchange && isConfirm(one, id) && one.answeredAt > sentAt - UNDER_WAY_MS && one.sentAt < answeredAt,
      );
      return isOnly && outage && sentAt > outage.from && answeredAt < outage.until
        ? [`${id} is processing by answer ${number}`]
        : [];
    });
  },
};
