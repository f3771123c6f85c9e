/** @module Invariants about captures and releases, such as who may make them and for which amount. */
import { actingPerson } from '../model/acting.ts';
import { isCarriedOut, SKEW_MS } from '../model/exchanges.ts';
import type {
  History,
  HistoryExchange,
  HistoryItem,
  HistoryJson,
  HistoryProviderCall,
  Oracle,
} from '../model/history.ts';
import { isHeldThere, wasHeld } from '../model/holds.ts';
import { isOfMerchant } from '../model/merchants.ts';
import { at, isVisible, recordsOf } from '../model/records.ts';
import { canonical } from './events.ts';

/** The ledger's rows of holds, including ended holds. */
const holdsThere = ({ ledger }: History): readonly HistoryJson[] =>
  ledger.charges.filter(({ authorized = 0, captured = 0, status }) => authorized + captured > 0 && status !== 'failed');

/** The rows by payment. A provider's invoice charge names no payment until the service has read its event. */
const holdsOf = (history: History): ReadonlyMap<string, readonly HistoryJson[]> =>
  Map.groupBy(
    holdsThere(history).filter(({ payment_id }) => typeof payment_id === 'string'),
    ({ payment_id }) => payment_id,
  );

const isCaptured = ({ captured = 0 }: HistoryJson): boolean => captured > 0;

export const capturedWithinHold: Oracle = {
  sentence: 'No capture takes more than is held, and what a capture leaves is released',
  atRestOnly: false,
  violations: (history) => {
    const there = holdsThere(history).flatMap((hold) => {
      const { id, authorized, captured, released } = hold;
      const isWrong = captured + released > authorized || (!isHeldThere(hold) && captured + released < authorized);
      return isWrong ? [`${id} holds ${authorized}, has taken ${captured} and has released ${released}`] : [];
    });
    const here = recordsOf(history).payments.flatMap(({ id, totalCents, authorizedCents }) =>
      totalCents > authorizedCents ? [`${id} is ${totalCents}, and ${authorizedCents} was held`] : [],
    );
    return [...there, ...here];
  },
};

const CAPTURE = /^\/payments\/([^/]+)\/capture$/;
const RELEASE = /^\/payments\/intents\/([^/]+)\/cancel$/;

interface Ended {
  readonly id: string;
  readonly number: number;
  /** 0 for a release. */
  readonly captured: number;
}

/** The responses that say how a hold has ended. */
const endsSaid = ({ exchanges }: History): readonly Ended[] =>
  exchanges.filter(isCarriedOut).flatMap(({ number, path, body }) => {
    const id = (CAPTURE.exec(path) ?? RELEASE.exec(path))?.[1];
    if (id === undefined || body?.capture_method !== 'manual') return [];
    if (body.status !== 'succeeded' && body.status !== 'canceled') return [];
    return [{ id, number, captured: body.status === 'succeeded' ? body.captured_cents : 0 }];
  });

export const endedOnce: Oracle = {
  sentence: 'A hold is captured once or released, and every response says the same',
  atRestOnly: false,
  violations: (history) => {
    const twice = [...holdsOf(history)].flatMap(([id, holds]) => {
      const taken = holds.filter(isCaptured);
      return taken.length > 1 ? [`${id} was captured by ${taken.map((one) => one.id).join(', ')}`] : [];
    });
    const said = [...Map.groupBy(endsSaid(history), ({ id }) => id)].flatMap(([id, ends]) => {
      const amounts = new Set(ends.map(({ captured }) => captured));
      const answers = ends.map(({ number, captured }) => `${captured} by answer ${number}`).join(', ');
      return amounts.size > 1 ? [`${id} was captured with ${answers}`] : [];
    });
    return [...twice, ...said];
  },
};

/** The requested amounts of captures. A request without prices captures the whole hold. */
const askedOf = ({ exchanges }: History, id: string, authorized: number): ReadonlySet<number> =>
  new Set(
    exchanges
      .filter(({ path }) => path === `/payments/${id}/capture`)
      .map(({ sent }) => sent?.total_cents ?? sent?.amount_cents ?? authorized),
  );

export const takesWhatIsAsked: Oracle = {
  sentence: 'A capture takes an amount that the merchant has asked for',
  atRestOnly: false,
  violations: (history) =>
    recordsOf(history).payments.flatMap(({ id, captureMethod }) => {
      const taken = captureMethod === 'manual' ? (holdsOf(history).get(id) ?? []).filter(isCaptured) : [];
      return taken
        .filter(({ captured, authorized }) => !askedOf(history, id, authorized).has(captured))
        .map(({ captured }) => `${captured} of ${id} was taken, and no request has asked for it`);
    }),
};

export const releasedTakesNothing: Oracle = {
  sentence: 'A released hold takes nothing',
  atRestOnly: false,
  violations: (history) => {
    const holds = holdsOf(history);
    const takes = (id: string): boolean => (holds.get(id) ?? []).some(isCaptured);
    const said = endsSaid(history)
      .filter(({ id, captured }) => captured === 0 && takes(id))
      .map(({ id, number }) => `answer ${number} released ${id}, which was captured`);
    const stored = recordsOf(history)
      .payments.filter((payment) => payment['status'] === 'canceled' && wasHeld(payment) && takes(payment['id']))
      .map(({ id, holdEnd }) => `${id} is canceled, ${holdEnd}, and was captured`);
    return [...said, ...stored];
  },
};

export const capturesAgree: Oracle = {
  sentence: 'At rest the total of a captured payment is what its provider has captured of what it held',
  atRestOnly: true,
  violations: (history) => {
    const holds = holdsOf(history);
    return recordsOf(history)
      .payments.filter(({ status, captureMethod }) => status === 'succeeded' && captureMethod === 'manual')
      .flatMap(({ id, totalCents, taxCents = 0, discountCents = 0, authorizedCents }) => {
        const taken = (holds.get(id) ?? []).filter(isCaptured);
        const there = taken.map(({ captured, authorized }) => `${captured} of ${authorized}`).join(' and ');
        const here = `${totalCents} of ${authorizedCents}`;
        // The table omits the subtotal, which follows from the other parts.
        const subtotalCents = totalCents - taxCents + discountCents;
        return here === there && subtotalCents >= 0 ? [] : [`${id} took ${here}, its provider ${there || 'nothing'}`];
      });
  },
};

export const holdsAgree: Oracle = {
  sentence: 'At rest an amount is held if and only if its payment waits for the capture',
  atRestOnly: true,
  violations: (history) => {
    const held = new Map(
      holdsThere(history)
        .filter(isHeldThere)
        .map((hold) => [String(hold.payment_id), hold.id]),
    );
    return recordsOf(history)
      .payments.filter(isVisible)
      .flatMap(({ id, status }) =>
        held.has(id) === (status === 'requires_capture')
          ? []
          : [`${id} is ${status}, and ${held.get(id) ?? 'nothing'} is held`],
      );
  },
};

/**
 * The maximum time in which the service finds the end of a hold. Lookups come after minutes, then daily, and an outage
 * may last a day.
 */
const LOOKED_AT_MS = 3 * 86_400_000;

export const holdsEnd: Oracle = {
  sentence: 'A hold ends: no payment waits for its capture long after the end of the hold',
  atRestOnly: false,
  violations: (history) =>
    recordsOf(history).payments.flatMap(({ id, status, captureBefore }) => {
      const isOver = status === 'requires_capture' && at(captureBefore ?? '') < history.now - LOOKED_AT_MS;
      return isOver ? [`${id} waits for its capture, and its hold has ended at ${captureBefore}`] : [];
    }),
};

/** The minimum length of a hold with a reminder. The reminder is due a day before the end, plus time for retries. */
const REMINDED_MS = 12 * 3_600_000;

export const remindedOnce: Oracle = {
  sentence: 'At rest the merchant has been reminded once of each hold that has ended by the clock',
  atRestOnly: true,
  violations: (history) => {
    const { payments, versionsOf } = recordsOf(history);
    const reminders = new Set(
      canonical(history).flatMap(({ detail }) => (String(detail.id).endsWith(':payment.capture_due') ? detail.id : [])),
    );
    const sent = Map.groupBy(reminders, (id) => String(id).split(':')[0] ?? '');
    return payments.filter(wasHeld).flatMap(({ id, holdEnd, captureBefore }) => {
      const held = versionsOf(id).find(({ status }) => status === 'requires_capture');
      const isInTime = held !== undefined && at(held['at']) < at(captureBefore ?? '') - REMINDED_MS;
      const count = sent.get(id)?.length ?? 0;
      const isMissing = count === 0 && holdEnd === 'expired' && isInTime;
      return count > 1 || isMissing ? [`${id}, held until ${captureBefore}, has ${count} reminders`] : [];
    });
  },
};

/** True if the response reveals nothing about the hold. Any other refusal would reveal the hold to a payer. */
const isNotCaptured = ({ status, body }: HistoryExchange): boolean =>
  [0, 401, 403, 404, 429].includes(status) || status >= 500 || body?.code === 'IDEMPOTENCY_IN_PROGRESS';

export const merchantEndsHolds: Oracle = {
  sentence: 'Only the merchant captures or releases a hold, never a payer',
  atRestOnly: false,
  violations: (history) => {
    const { payments, versionsOf } = recordsOf(history);
    const merchants = history.people.filter(isOfMerchant);
    const isPayer = (item: HistoryItem): boolean => {
      const { type, id } = actingPerson(item['actor']) ?? {};
      return (type === 'user' || type === 'guest') && !merchants.some(({ userId }) => userId === id);
    };
    const claimed = payments.flatMap(({ id }) =>
      versionsOf(id)
        .filter((version) => version['holdCall'] !== undefined && isPayer(version))
        .map(({ holdCall, actor }) => `the ${holdCall.kind} of ${id} was claimed by ${actor.type} ${actor.id}`),
    );
    const names = new Set(merchants.map(({ name }) => name));
    const captured = history.exchanges
      .filter((one) => CAPTURE.test(one.path) && !names.has(one.person) && !isNotCaptured(one))
      .map(({ number, person, path, status }) => `answer ${number}: ${person} did POST ${path}: ${status}`);
    return [...claimed, ...captured];
  },
};

/** The calls that name the payment, or its hold, at its provider. */
const callsOf = ({ providerCalls, ledger }: History, payment: HistoryItem): readonly HistoryProviderCall[] => {
  const holds = ledger.charges.filter(({ payment_id }) => payment_id === payment['id']);
  const names = new Set([payment['providerIntentId'], payment['providerPaymentId'], ...holds.map(({ id }) => id)]);
  return providerCalls.filter(({ path }) => path.split('/').some((part) => names.has(decodeURIComponent(part))));
};

const isRead = ({ method, status, isAnswered }: HistoryProviderCall): boolean =>
  method === 'GET' && status === 200 && isAnswered;

/** The last parts of the paths that capture or release a hold. */
const ENDS_HOLD = /\/(?:capture|complete|void|cancel)$/;

/** True if the call may have ended the hold. A provider that responds with 429 has done nothing. */
const mayHaveActed = ({ path, status }: HistoryProviderCall): boolean => ENDS_HOLD.test(path) && status !== 429;

/** A refusal proves nothing, because an earlier send or the provider's dashboard may have captured the hold. */
export const readBeforeDropped: Oracle = {
  sentence: 'No claim of a capture or a release is dropped without a read of the hold, if its call has arrived',
  atRestOnly: false,
  violations: (history) => {
    const { payments, versionsOf } = recordsOf(history);
    return payments.filter(wasHeld).flatMap((payment) => {
      const steps = versionsOf(payment['id']).filter(({ cause }) => cause === 'capture');
      return steps.flatMap((dropped, index) => {
        const claim = steps[index - 1]?.['holdCall'];
        if (claim === undefined || dropped['holdCall'] !== undefined) return [];
        const [from, to] = [at(claim.claimedAt) - SKEW_MS, at(dropped['at']) + SKEW_MS];
        const meanwhile = callsOf(history, payment).filter((call) => call.at >= from && call.at <= to);
        if (!meanwhile.some(mayHaveActed) || meanwhile.some(isRead)) return [];
        return [`the ${claim.kind} of ${payment['id']} was dropped at ${dropped['at']}, and nothing was read`];
      });
    });
  },
};
