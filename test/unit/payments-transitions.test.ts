import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LOOKS_AFTER_MS, lookTime, RESEND_WITHIN_MS } from '../../shared/calls/call-times.ts';
import { DAY_MS, epochSeconds, HOUR_MS, iso, MINUTE_MS, SECOND_MS } from '../../shared/core/time.ts';
import {
  CAUSES,
  type Draft,
  type HistoryCause,
  PAYMENT_STATUSES,
  type PaymentStatus,
  type VisiblePayment,
} from '../../shared/payments/payment.ts';
import {
  claimRefusal,
  concernsProvider,
  decideApproval,
  decideEvent,
  decideRead,
} from '../../shared/payments/payment-decisions.ts';
import {
  isAhead,
  isSettled,
  mayPaymentChange,
  PAYMENT_TRANSITIONS,
  type PaymentCause,
  requireTransition,
} from '../../shared/payments/payment-states.ts';
import { draft, NOON, payment } from '../builders/payment.ts';

/** The promised order of events. The two states before the confirmation have no rank. */
const REPORTED = ['pending', 'processing', 'requires_capture', 'failed', 'canceled', 'succeeded'] as const;
const rankOf = (status: PaymentStatus): number => REPORTED.indexOf(status as (typeof REPORTED)[number]);
const UNSETTLED = PAYMENT_STATUSES.filter((status) => !isSettled(status));
const pairs = PAYMENT_STATUSES.flatMap((from) => PAYMENT_STATUSES.map((to) => [from, to] as const));

/** Only a read of the provider may end a hold as failed. */
const isOfRead = (from: PaymentStatus, to: PaymentStatus): boolean => from === 'requires_capture' && to === 'failed';
const isForward = (from: PaymentStatus, to: PaymentStatus): boolean => rankOf(to) > rankOf(from) && !isOfRead(from, to);
/** The transitions of a cause, as `from to`. */
const of = (cause: PaymentCause, rule?: (from: PaymentStatus, to: PaymentStatus) => boolean): readonly string[] =>
  pairs
    .filter(([from, to]) => (rule ? rule(from, to) : mayPaymentChange(from, to, cause)))
    .map(([from, to]) => `${from} ${to}`);

const reportedEvent = (status: PaymentStatus, createdAt = epochSeconds(NOON), attemptRef?: string) => ({
  status,
  createdAt,
  attemptRef,
});

describe('the states of a payment', () => {
  test.each(pairs)('count %s → %s as forward only in the promised order of events', (from, to) => {
    expect(isAhead(from, to)).toBe(rankOf(to) > rankOf(from));
  });

  test('change after a success only by a read, and after a cancellation only by a read or by a payment that succeeded', () => {
    expect(PAYMENT_STATUSES.filter(isSettled).toSorted()).toEqual(['canceled', 'succeeded']);
    expect(Object.keys(PAYMENT_TRANSITIONS.succeeded)).toEqual(['read']);
    expect(PAYMENT_TRANSITIONS.canceled).toMatchObject({ answer: ['succeeded'], invoice: ['succeeded'] });
    expect(Object.keys(PAYMENT_TRANSITIONS.canceled)).toHaveLength(3);
  });

  test('start before the confirmation or with the first claim, and never return to the creation', () => {
    expect(PAYMENT_TRANSITIONS.creating).toEqual({
      create: ['requires_payment_method', 'created'],
      claim: ['processing'],
    });
    expect(PAYMENT_STATUSES.flatMap((from) => Object.values(PAYMENT_TRANSITIONS[from]).flat())).not.toContain(
      'creating',
    );
  });

  test('change in any direction after a read of the provider, but only forward after its events', () => {
    expect(of('read')).toHaveLength(pairs.length);
    expect(of('event')).toEqual(of('event', (from, to) => isForward(from, to) && !isSettled(from)));
  });

  test('change in any direction after the response to the open attempt, and only forward after a late response', () => {
    const answers = (from: PaymentStatus, to: PaymentStatus): boolean =>
      from === 'processing' ? rankOf(to) >= 0 : isForward(from, to) && to !== 'processing';
    expect(of('answer')).toEqual(of('answer', answers));
  });

  test('change only forward after the provider’s own invoice, and never to held or canceled', () => {
    const byInvoice = (from: PaymentStatus, to: PaymentStatus): boolean =>
      isForward(from, to) && from !== 'requires_capture' && to !== 'requires_capture' && to !== 'canceled';
    expect(of('invoice')).toEqual(of('invoice', byInvoice));
  });

  test('allow a cancellation until they are final', () => {
    expect(of('cancel')).toEqual(of('cancel', (from, to) => to === 'canceled' && !isSettled(from)));
  });

  test('allow an attempt unless the payment is under way, held or final, and go back after a released attempt', () => {
    const begins = (from: PaymentStatus) => rankOf(from) < rankOf('processing') || from === 'failed';
    expect(of('approval')).toEqual(of('approval', (from, to) => to === 'processing' && begins(from)));
    expect(of('claim')).toEqual(of('approval').filter((one) => !one.startsWith('pending ')));
    expect(of('release')).toEqual(of('release', (from, to) => from === 'processing' && begins(to)));
  });

  test('change after a set or cleared method only between the two states before the confirmation', () => {
    expect(of('update')).toEqual(of('update', (from, to) => from !== to && rankOf(from) < 0 && rankOf(to) < 0));
  });
});

describe('the check of a stored change', () => {
  /** Other causes have the same name in the history and in the table. */
  const CAUSES_OF_TABLE: Partial<Record<HistoryCause, PaymentCause>> = {
    ...{ sync: 'read', reconciliation: 'read', restore: 'read', import: 'read', expiry: 'cancel' },
  };

  test.each(CAUSES)('refuses a change by %s unless the table has the transition', (cause) => {
    const known = CAUSES_OF_TABLE[cause] ?? (cause as PaymentCause);
    for (const [from, to] of pairs) {
      const store = () => requireTransition(payment({ status: from }), { status: to, cause });
      if (from === to || mayPaymentChange(from, to, known)) expect(store).not.toThrow();
      else expect(store).toThrow(`may not change from ${from} to ${to} by ${known}`);
    }
  });

  test('uses the cause that the caller names instead of the history’s cause', () => {
    const claim = { status: 'processing', cause: 'claim' } as const;
    expect(() => requireTransition(payment({ status: 'pending' }), claim)).toThrow('pending to processing by claim');
    expect(() => requireTransition(payment({ status: 'pending' }), claim, 'approval')).not.toThrow();
  });

  test('refuses a change without a cause', () => {
    expect(() => requireTransition(payment(), { status: 'failed' })).toThrow('by no cause');
  });
});

describe('a provider’s event', () => {
  const expected = (from: PaymentStatus, to: PaymentStatus) => {
    if (from === to) return { kind: 'same' };
    if (!isSettled(from)) {
      return isForward(from, to)
        ? { kind: 'apply', status: to }
        : { kind: 'ignore', reason: 'backward', reconcile: true };
    }
    if (['failed', 'canceled', 'succeeded'].includes(to)) {
      return { kind: 'read', reason: `${from} here, ${to} by the event` };
    }
    return { kind: 'ignore', reason: 'backward', reconcile: false };
  };

  test.each(PAYMENT_STATUSES.flatMap((from) => REPORTED.map((to) => [from, to] as const)))(
    'advances a payment, is ignored, or causes a read of the provider: %s here, %s reported',
    (from, to) => {
      expect(decideEvent(payment({ status: from }), reportedEvent(to))).toEqual(expected(from, to));
    },
  );

  test('never changes a settled payment by itself', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<PaymentStatus>('succeeded', 'canceled'),
        fc.constantFrom(...REPORTED),
        fc.integer({ min: -3 * DAY_MS, max: 3 * DAY_MS }),
        fc.option(fc.constantFrom('ch_1', 'ch_2'), { nil: undefined }),
        fc.option(fc.constantFrom('ch_1', 'ch_2'), { nil: undefined }),
        (...[status, reported, after, attemptRef, prior]) => {
          const settled = payment({ status, claimedAt: iso(NOON), priorAttemptRefs: prior && [prior] });
          const decision = decideEvent(settled, reportedEvent(reported, epochSeconds(NOON + after), attemptRef));
          expect(decision.kind).not.toBe('apply');
        },
      ),
    );
  });

  test('moves a payment only forward, for all reports in any order', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...PAYMENT_STATUSES),
        fc.constantFrom(...REPORTED),
        fc.option(fc.integer({ min: -10, max: 10 }), { nil: undefined }),
        (status, reported, claimedSeconds) => {
          const claimedAt = claimedSeconds === undefined ? undefined : iso(NOON + claimedSeconds * SECOND_MS);
          const decision = decideEvent(payment({ status, claimedAt }), reportedEvent(reported));
          if (decision.kind === 'apply') expect(isAhead(status, decision.status)).toBe(true);
        },
      ),
    );
  });
});

describe('an event that races with a claim', () => {
  const claimed = (fields: Partial<VisiblePayment> = {}) =>
    payment({ status: 'processing', claimedAt: iso(NOON + 900), attempt: 2, ...fields });
  const second = epochSeconds(NOON);

  test.each(REPORTED)(
    'is stale, with any status, if it was created before the second in which the claim was made: %s',
    (reported) => {
      expect(decideEvent(claimed(), reportedEvent(reported, second - 1))).toEqual({
        kind: 'ignore',
        reason: 'stale',
        reconcile: true,
      });
    },
  );

  test('is not stale if it was created in the same second as the claim, even if it precedes the claim', () => {
    expect(decideEvent(claimed(), reportedEvent('succeeded', second))).toEqual({ kind: 'apply', status: 'succeeded' });
  });

  test('does not trigger a lookup of a settled payment', () => {
    for (const status of ['succeeded', 'canceled'] as const) {
      expect(decideEvent(claimed({ status }), reportedEvent('failed', second - 1))).toMatchObject({
        reason: 'stale',
        reconcile: false,
      });
    }
  });

  test('is not stale before the first claim', () => {
    expect(decideEvent(payment(), reportedEvent('succeeded', 0))).toEqual({ kind: 'apply', status: 'succeeded' });
  });

  test('is stale if it reports the failure of an earlier attempt', () => {
    const payment = claimed({ priorAttemptRefs: ['ch_0', 'ch_1'] });
    for (const earlier of ['ch_0', 'ch_1']) {
      expect(decideEvent(payment, reportedEvent('failed', second + 1, earlier))).toMatchObject({ reason: 'stale' });
    }
    expect(decideEvent(payment, reportedEvent('failed', second + 1, 'ch_2'))).toEqual({
      kind: 'apply',
      status: 'failed',
    });
  });

  test('is not stale if it reports a failure without an attempt, and the claimed attempt is the first', () => {
    expect(decideEvent(claimed(), reportedEvent('failed', second + 1))).toEqual({ kind: 'apply', status: 'failed' });
  });

  test('is not stale if it reports a success of the previous attempt, because money moved', () => {
    const payment = claimed({ priorAttemptRefs: ['ch_1'] });
    expect(decideEvent(payment, reportedEvent('succeeded', second + 1, 'ch_1'))).toEqual({
      kind: 'apply',
      status: 'succeeded',
    });
  });
});

/** The final state of a payment. The read after an event finds the furthest reported status. */
const endOf = (start: PaymentStatus, events: readonly PaymentStatus[]): PaymentStatus => {
  const truth = events.reduce((one, other) => (isAhead(one, other) ? other : one), start);
  return events.reduce((status, reported) => {
    const decision = decideEvent(payment({ status }), reportedEvent(reported));
    if (decision.kind === 'apply') return decision.status;
    const isRead = decision.kind === 'read' || (decision.kind === 'ignore' && isOfRead(status, reported));
    return isRead && isAhead(status, truth) ? truth : status;
  }, start);
};

describe('any order and repetition of a provider’s events', () => {
  test('leads to the same state, with and without a final event', () => {
    const events = fc.uniqueArray(fc.constantFrom(...REPORTED), { minLength: 1 });
    const reported = events
      .chain((once) => fc.array(fc.constantFrom(...once), { maxLength: 6 }).map((again) => [...once, ...again]))
      .chain((all) => fc.shuffledSubarray(all, { minLength: all.length }));
    fc.assert(
      fc.property(fc.constantFrom(...UNSETTLED), reported, (start, order) => {
        const furthest = [start, ...order].reduce((one, other) => (rankOf(other) > rankOf(one) ? other : one));
        expect(endOf(start, order)).toBe(furthest);
      }),
    );
  });
});

describe('the provider’s status from a read', () => {
  test.each(pairs.filter(([from]) => from !== 'processing'))(
    'is stored even if it moves the payment backward: %s here, %s at the provider',
    (from, to) => {
      const final = (status: PaymentStatus) => ['failed', 'canceled', 'succeeded'].includes(status);
      // In the browser, the payer may first be declined and then pay with another card.
      const undone = final(from) && !final(to) && !(from === 'failed' && to === 'requires_capture');
      const swapped = isSettled(from) && final(to);
      const anomaly = undone || swapped ? `${from} here, ${to} at the provider` : undefined;
      for (const claimedAt of [undefined, iso(NOON)]) {
        expect(decideRead(payment({ status: from, claimedAt }), { status: to, attemptRef: undefined })).toEqual(
          from === to ? { kind: 'same' } : { kind: 'store', status: to, anomaly },
        );
      }
    },
  );

  test.each<[PaymentStatus, string]>([
    ['created', 'not reached'],
    ['requires_payment_method', 'not reached'],
    ['pending', 'store'],
    ['processing', 'same'],
    ['requires_capture', 'store'],
    ['failed', 'store'],
    ['canceled', 'store'],
    ['succeeded', 'store'],
  ])('with the status %s during our claim gives the decision: %s', (status, kind) => {
    const claimed = payment({ status: 'processing', claimedAt: iso(NOON), priorAttemptRefs: ['ch_1'] });
    expect(decideRead(claimed, { status, attemptRef: 'ch_2' }).kind).toBe(kind);
  });

  test('shows that the claimed attempt has not arrived if it reports the previous attempt’s failure', () => {
    const claimed = payment({ status: 'processing', claimedAt: iso(NOON), priorAttemptRefs: ['ch_1'] });
    expect(decideRead(claimed, { status: 'failed', attemptRef: 'ch_1' })).toEqual({ kind: 'not reached' });
  });

  test.each([
    [undefined, 'not reached'],
    [['ch_1'], 'store'],
  ])('for a failure without an attempt, after the attempts %s, gives the decision: %s', (priorAttemptRefs, kind) => {
    const claimed = payment({ status: 'processing', claimedAt: iso(NOON), priorAttemptRefs });
    expect(decideRead(claimed, { status: 'failed', attemptRef: undefined }).kind).toBe(kind);
  });

  test('is stored for a payment that the provider processes without a claim of ours', () => {
    expect(decideRead(payment({ status: 'processing' }), { status: 'created', attemptRef: undefined })).toEqual({
      kind: 'store',
      status: 'created',
      anomaly: undefined,
    });
  });

  test('is not an anomaly if a failed attempt was actually paid or canceled', () => {
    for (const status of ['succeeded', 'canceled'] as const) {
      expect(decideRead(payment({ status: 'failed' }), { status, attemptRef: 'ch_1' })).toEqual({
        kind: 'store',
        status,
        anomaly: undefined,
      });
    }
  });
});

describe('the claim for a confirmation', () => {
  test.each<[PaymentStatus, ReturnType<typeof claimRefusal>]>([
    ['requires_payment_method', undefined],
    ['created', undefined],
    ['failed', undefined],
    ['pending', 'in progress'],
    ['processing', 'in progress'],
    ['canceled', 'canceled'],
    ['succeeded', 'already succeeded'],
  ])('for a %s payment has the refusal: %s', (status, refusal) => {
    expect(claimRefusal(payment({ status }))).toBe(refusal);
  });

  test.each<[PaymentStatus, ReturnType<typeof claimRefusal>]>([
    ['created', 'in progress'],
    ['requires_payment_method', 'in progress'],
    ['failed', 'in progress'],
    ['canceled', 'canceled'],
    ['succeeded', 'already succeeded'],
  ])('for a %s payment with an open update has the refusal: %s', (status, refusal) => {
    expect(claimRefusal(payment({ status, draft: draft() }))).toBe(refusal);
  });
});

describe('a payer’s approval at the provider', () => {
  const second = epochSeconds(NOON);
  const at = (status: PaymentStatus, fields: Partial<VisiblePayment> = {}) => payment({ status, ...fields });
  const claimedAt = iso(NOON + 900);

  test.each<[PaymentStatus, ReturnType<typeof decideApproval>]>([
    ['requires_payment_method', { kind: 'claim' }],
    ['created', { kind: 'claim' }],
    ['pending', { kind: 'claim' }],
    ['failed', { kind: 'claim' }],
    ['processing', { kind: 'ignore', reason: 'is processing', reconcile: true }],
    ['canceled', { kind: 'ignore', reason: 'is canceled', reconcile: false }],
    ['succeeded', { kind: 'ignore', reason: 'is succeeded', reconcile: false }],
  ])('leads, for a %s payment, to the decision %j', (status, decision) => {
    expect(decideApproval(at(status), second)).toEqual(decision);
    expect(decision.kind === 'claim').toBe(mayPaymentChange(status, 'processing', 'approval'));
  });

  test('waits for an open update', () => {
    expect(decideApproval(at('created', { draft: draft() }), second)).toEqual({ kind: 'busy' });
  });

  test.each<[PaymentStatus, number, ReturnType<typeof decideApproval>]>([
    ['pending', second - 1, { kind: 'ignore', reason: 'stale', reconcile: true }],
    ['pending', second, { kind: 'claim' }],
    ['failed', second, { kind: 'ignore', reason: 'stale', reconcile: false }],
    ['failed', second + 1, { kind: 'claim' }],
  ])(
    'applies only to its own attempt: a %s payment, approved at second %i, gives %j',
    (status, approvedAt, decision) => {
      expect(decideApproval(at(status, { claimedAt }), approvedAt)).toEqual(decision);
    },
  );
});

describe('an update of a payment', () => {
  const held: Draft = {
    ...draft({ subtotalCents: 2_500, totalCents: 2_500 }),
    ...{ methodRef: 'pm_1', paymentMethodId: 'pmt_1', providerCustomerId: 'cus_1', customerId: 'cust_1' },
    ...{ description: 'Tea', returnUrl: 'https://a.example/', setupFutureUsage: 'off_session', concept: 'A' },
  };

  test.each<Partial<Draft>>([
    { totalCents: 2_501 },
    { currency: 'EUR' },
    { methodRef: 'pm_2' },
    { paymentMethodId: 'pmt_2' },
    { description: 'Coffee' },
    { returnUrl: 'https://b.example/' },
    { setupFutureUsage: undefined },
    { providerCustomerId: 'cus_2' },
  ])('is sent to the provider if it changes a field that the provider stores: %j', (changed) => {
    expect(concernsProvider(payment(held), { ...held, ...changed })).toBe(true);
  });

  test.each<Partial<Draft>>([
    {},
    { subtotalCents: 2_600, discountCents: 100 },
    { customerId: 'cust_2' },
    { concept: 'B', referenceCode: 'R', category: 'C', tags: 'x', metadata: { a: 1 } },
    { projectId: 'prj_1', productId: 'prd_1', billingAddressId: 'addr_1' },
  ])('is stored without a call if it changes no field that the provider stores: %j', (changed) => {
    expect(concernsProvider(payment(held), { ...held, ...changed })).toBe(false);
  });
});

describe('a payment with an unknown outcome', () => {
  test.each([
    [0, MINUTE_MS],
    [1, 5 * MINUTE_MS],
    [2, 30 * MINUTE_MS],
    [3, 2 * HOUR_MS],
    [4, 12 * HOUR_MS],
    [5, DAY_MS],
    [6, 2 * DAY_MS],
    [7, 3 * DAY_MS],
    [30, 26 * DAY_MS],
  ])('has lookup number %i at %i ms after its claim', (step, after) => {
    expect(lookTime(NOON, step)).toBe(NOON + after);
  });

  test('is looked up at strictly increasing times', () => {
    fc.assert(fc.property(fc.nat(1_000), (step) => lookTime(NOON, step) < lookTime(NOON, step + 1)));
  });

  test('is retried under the same key at the first three lookups, within half an hour', () => {
    expect(RESEND_WITHIN_MS).toBe(30 * MINUTE_MS);
    expect(LOOKS_AFTER_MS.filter((after) => after <= RESEND_WITHIN_MS)).toHaveLength(3);
  });
});
