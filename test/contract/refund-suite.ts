import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { DisputeStatus, RefundStatus } from '../../shared/core/money-back.ts';
import type { Outcome } from '../../shared/core/outcome.ts';
import type { PaymentProvider } from '../../shared/providers/provider.ts';
import {
  type CreateRefund,
  type ProviderRefund,
  REFUND_EXCEEDS,
  type RefundedCharge,
  type RefundsPort,
} from '../../shared/providers/refund-port.ts';
import { openRig, type ProviderRig } from './provider-rig.ts';
import type { ProviderSubject } from './provider-suite.ts';

/**
 * The provider's test values for the contract of refunds and disputes. Every adapter with payments must pass this
 * contract.
 */
export interface RefundSubject {
  readonly subject: ProviderSubject;
  /** The status of a new refund at the provider. */
  readonly begins: 'pending' | 'succeeded';
  /** Part of the refund call's path, for fault injection. */
  readonly path: string;
  /** The provider's largest page of refunds, and its path. */
  readonly page: { readonly size: number; readonly path: string };
  readonly methods: {
    readonly settlesLater: string;
    readonly failsLater: string;
    readonly disputed: string;
  };
  /** Refundable amounts in currencies other than USD, in ISO 4217 minor units. */
  readonly currencies: readonly (readonly [currency: string, amountCents: number, refundedCents: number])[];
  /** A refund that the provider cannot express; undefined if it can express every refund of a chargeable amount. */
  readonly inexpressible?: { readonly currency: string; readonly paidCents: number; readonly refundCents: number };
  /** The final refund statuses of the provider. */
  readonly refundEnds: readonly RefundStatus[];
  /** Our statuses of disputes that correspond to a status of the provider. */
  readonly disputeStatuses: readonly DisputeStatus[];
}

const PAID = 10_000;

let rig: ProviderRig;
let provider: PaymentProvider;
let made = 0;

const port = (of: PaymentProvider = provider): RefundsPort => {
  if (!of.refunds) throw new Error('the adapter has no refunds');
  return of.refunds;
};

const doneValue = <T>(outcome: Outcome<T>): T => {
  if (outcome.kind === 'done') return outcome.value;
  throw new Error(`not done: ${JSON.stringify(outcome)}`);
};

interface Paid extends RefundedCharge {
  readonly ourId: string;
  readonly currency: string;
}

const pay = async (method: string, amountCents = PAID, currency = 'USD'): Promise<Paid> => {
  made += 1;
  const ourId = `pay_${String(made).padStart(24, '0')}`;
  const intent = doneValue(
    await provider.createIntent({
      idempotencyKey: `${ourId}:create`,
      paymentId: ourId,
      amountCents,
      currency,
      description: 'Two books',
      method,
      customerId: undefined,
      saveMethod: false,
      returnUrl: undefined,
    }),
  );
  const paid = doneValue(
    await provider.confirmIntent({
      offSession: undefined,
      idempotencyKey: `${ourId}:confirm:1`,
      intentId: intent.intentId,
      paymentId: ourId,
      amountCents,
      currency,
      method,
      customerId: undefined,
      returnUrl: undefined,
    }),
  );
  return { ourId, currency, intentId: paid.intentId, paymentId: paid.paymentId };
};

/** The input of a refund, with a new id and the key of that id. */
const refundOf = (payment: Paid, amountCents: number, more: Partial<CreateRefund> = {}): CreateRefund => {
  made += 1;
  const refundId = `ref_${String(made).padStart(24, '0')}`;
  return {
    idempotencyKey: `${refundId}:create`,
    refundId,
    payment: { intentId: payment.intentId, paymentId: payment.paymentId },
    amountCents,
    currency: payment.currency,
    reason: 'requested_by_customer',
    ...more,
  };
};

interface RefundRow {
  readonly id: string;
  readonly refund_id: string | null;
  readonly amount: number;
  readonly status: string;
}

interface LedgerRows {
  readonly charges: readonly { readonly status: string; readonly amount: number; readonly amount_refunded: number }[];
  readonly refunds: readonly RefundRow[];
  readonly disputes: readonly { readonly id: string; readonly amount: number; readonly status: string }[];
}
const ledger = ({ ourId }: Paid) => rig.control<LedgerRows>('GET', `/ledger?payment_id=${ourId}`);
const givenBack = async (payment: Paid): Promise<number> => (await ledger(payment)).charges[0]?.amount_refunded ?? 0;

/** Each fault, the outcome that the adapter must report, and whether the provider has refunded. */
const FAULTS = [
  ['timeout_before', 'timeout', false],
  ['timeout_after', 'timeout', true],
  ['reset', 'unreachable', false],
  ['error_500', 'error', false],
  ['malformed', 'error', true],
] as const;

const fail = (action: string, path: string, times = 1) => rig.control('POST', '/faults', { action, path, times });

/** The adapter for a call under a fault. Its timeout is short if the fault suppresses the response. */
const struck = (action: string): RefundsPort => port(action.startsWith('timeout') ? rig.impatient : provider);

export const testRefunds = (wanted: RefundSubject): void => {
  beforeEach(async () => {
    rig = await openRig(wanted.subject);
    ({ provider } = rig);
  });
  afterEach(() => rig.close());

  testCreation(wanted);
  testRefusals(wanted);
  testFaults(wanted);
  testCourses(wanted);
  testDisputes(wanted);
  testMoneyBackEvents(wanted);
  testHistories(wanted);
};

const testCreation = ({ subject, begins, currencies, page }: RefundSubject): void => {
  const method = subject.methods.succeeds;
  describe(`a refund at ${subject.name}`, () => {
    test('returns a part of a payment, then the remaining amount', async () => {
      const payment = await pay(method);
      const part = refundOf(payment, 2_501);
      const { reason, captureId, ...refund } = withoutSettlement(doneValue(await port().createRefund(part)));
      expect(['requested_by_customer', undefined]).toContain(reason);
      // Only PayPal has several captures per payment, and names the refunded capture.
      expect([payment.paymentId, undefined]).toContain(captureId);
      expect(refund).toEqual({
        refundId: expect.any(String),
        status: begins,
        amountCents: 2_501,
        currency: 'USD',
        ourRefundId: part.refundId,
        failureCode: undefined,
        createdAt: Math.floor(rig.clock.now() / 1_000),
      });
      expect(await givenBack(payment)).toBe(2_501);
      expect(doneValue(await port().createRefund(refundOf(payment, PAID - 2_501)))).toMatchObject({
        status: begins,
        amountCents: PAID - 2_501,
      });
      expect((await ledger(payment)).charges).toMatchObject([{ status: 'refunded', amount_refunded: PAID }]);
    });

    test.each(['duplicate', 'fraudulent', 'requested_by_customer', 'other', undefined] as const)(
      'is accepted with the reason %s',
      async (reason) => {
        const payment = await pay(method);
        const refund = doneValue(await port().createRefund(refundOf(payment, 100, { reason })));
        expect([reason, undefined]).toContain(refund.reason);
        expect(await givenBack(payment)).toBe(100);
      },
    );

    test('is made once under its key, even if the call is repeated', async () => {
      const payment = await pay(method);
      const input = refundOf(payment, 6_000);
      const first = doneValue(await port().createRefund(input));
      for (const _ of [1, 2]) expect(doneValue(await port().createRefund(input))).toEqual(first);
      expect(await givenBack(payment)).toBe(6_000);
    });

    test('is listed with our id, together with refunds made at the provider, oldest first', async () => {
      const payment = await pay(method);
      expect(doneValue(await port().listRefunds(payment))).toEqual([]);
      const first = doneValue(await port().createRefund(refundOf(payment, 100)));
      await rig.clock.advance(5_000);
      await rig.control('POST', `/payments/${payment.ourId}/refunds`, { amount: 200, status: 'succeeded' });
      await rig.clock.advance(5_000);
      const last = doneValue(await port().createRefund(refundOf(payment, 300)));
      const [one, two, three, ...more] = doneValue(await port().listRefunds(payment));
      expect(more).toEqual([]);
      expect(one).toEqual(first);
      expect(two).toMatchObject({ ourRefundId: undefined, amountCents: 200, status: 'succeeded', currency: 'USD' });
      expect(three).toEqual(last);
    });

    test('is not listed for another payment', async () => {
      const payment = await pay(method);
      await port().createRefund(refundOf(await pay(method), 100));
      expect(doneValue(await port().listRefunds(payment))).toEqual([]);
    });

    test.each(currencies)('counts %s in ISO minor units: %i paid, %i refunded', async (...amounts) => {
      const [currency, amountCents, refundedCents] = amounts;
      const payment = await pay(method, amountCents, currency);
      const refund = doneValue(await port().createRefund(refundOf(payment, refundedCents)));
      expect(refund).toMatchObject({ amountCents: refundedCents, currency, status: begins });
      expect(doneValue(await port().listRefunds(payment))).toEqual([refund]);
      expect(await givenBack(payment)).toBe(refundedCents);
    });

    test('is listed from every page of the provider’s list', async () => {
      const payment = await pay(method);
      const count = page.size + 3;
      for (let n = 0; n < count; n += 1) {
        await rig.control('POST', `/payments/${payment.ourId}/refunds`, { amount: 1, status: 'succeeded' });
      }
      const listed = doneValue(await port().listRefunds(payment));
      expect(new Set(listed.map(({ refundId }) => refundId)).size).toBe(count);
      const { refunds } = await ledger(payment);
      expect(listed.map(({ refundId }) => refundId)).toEqual(refunds.map(({ id }) => id));
    });
  });
};

const testRefusals = ({ subject, inexpressible }: RefundSubject): void => {
  const method = subject.methods.succeeds;
  describe(`the limits of a refund at ${subject.name}`, () => {
    test('refuse more than the remaining amount, and nothing is refunded', async () => {
      const payment = await pay(method);
      await port().createRefund(refundOf(payment, 6_000));
      const refused = { kind: 'refused', reason: REFUND_EXCEEDS };
      expect(await port().createRefund(refundOf(payment, 4_001))).toMatchObject(refused);
      expect(await givenBack(payment)).toBe(6_000);
      await port().createRefund(refundOf(payment, 4_000));
      expect(await port().createRefund(refundOf(payment, 1))).toMatchObject(refused);
      expect(await givenBack(payment)).toBe(PAID);
    });

    test('count refunds made at the provider', async () => {
      const payment = await pay(method);
      await rig.control('POST', `/payments/${payment.ourId}/refunds`, { amount: 9_999, status: 'succeeded' });
      expect(await port().createRefund(refundOf(payment, 2))).toMatchObject({
        kind: 'refused',
        reason: REFUND_EXCEEDS,
      });
      expect(doneValue(await port().createRefund(refundOf(payment, 1)))).toMatchObject({ amountCents: 1 });
    });

    test('refuse a payment that the provider does not know, with the provider’s reason', async () => {
      const absent = { ...(await pay(method)), intentId: 'absent', paymentId: 'absent' };
      const outcome = await port().createRefund(refundOf(absent, 100));
      expect(outcome).toMatchObject({ kind: 'refused', reason: expect.stringMatching(/./) });
      expect(outcome).not.toMatchObject({ reason: REFUND_EXCEEDS });
    });

    test.each(inexpressible ? [inexpressible] : [])(
      'refuse an amount that the provider cannot express, without a call',
      async ({ currency, paidCents, refundCents }) => {
        const payment = await pay(method, paidCents, currency);
        const calls = rig.exchanges.length;
        expect(await port().createRefund(refundOf(payment, refundCents))).toEqual({
          kind: 'refused',
          reason: 'amount_not_expressible',
          parameter: 'amount',
        });
        expect(rig.exchanges).toHaveLength(calls);
      },
    );

    test('keep many concurrent refunds within the payment', async () => {
      const payment = await pay(method);
      const outcomes = await Promise.all(
        Array.from({ length: 12 }, () => port().createRefund(refundOf(payment, 1_500))),
      );
      const kinds = outcomes.map((outcome) => (outcome.kind === 'refused' ? outcome.reason : outcome.kind));
      expect(kinds.filter((kind) => kind === 'done')).toHaveLength(6);
      expect(kinds.filter((kind) => kind === REFUND_EXCEEDS)).toHaveLength(6);
      expect(await givenBack(payment)).toBe(9_000);
    });
  });
};

const testFaults = ({ subject, begins, path, page }: RefundSubject): void => {
  const method = subject.methods.succeeds;
  describe(`a failing refund call at ${subject.name}`, () => {
    test.each(FAULTS)(
      'has an unknown outcome on %s, is settled by a lookup, and the retry refunds once',
      async (...fault) => {
        const [action, reason, reached] = fault;
        const payment = await pay(method);
        const input = refundOf(payment, 2_500);
        await fail(action, path);
        expect(await struck(action).createRefund(input)).toEqual({ kind: 'unknown', reason });
        await rig.control('DELETE', '/faults');
        expect((await ledger(payment)).refunds.map((refund) => refund.status)).toEqual(reached ? [begins] : []);
        const found = doneValue(await port().listRefunds(payment));
        expect(found.map(({ ourRefundId }) => ourRefundId)).toEqual(reached ? [input.refundId] : []);
        expect(doneValue(await port().createRefund(input))).toMatchObject({ status: begins, amountCents: 2_500 });
        expect(await givenBack(payment)).toBe(2_500);
        expect((await ledger(payment)).refunds).toHaveLength(1);
      },
    );

    test('is retried once under its key after a rate limit', async () => {
      const payment = await pay(method);
      await fail('rate_limit', path);
      expect(doneValue(await port().createRefund(refundOf(payment, 2_500)))).toMatchObject({ status: begins });
      expect((await ledger(payment)).refunds).toHaveLength(1);
    });

    test('makes no refund after two rate limits', async () => {
      const payment = await pay(method);
      const input = refundOf(payment, 2_500);
      await fail('rate_limit', path, 2);
      expect(await port().createRefund(input)).toMatchObject({ kind: 'not_done', reason: 'rate_limited' });
      expect(await givenBack(payment)).toBe(0);
      expect(doneValue(await port().createRefund(input))).toMatchObject({ status: begins });
      expect(await givenBack(payment)).toBe(2_500);
    });

    test.each(FAULTS)('is found by a second lookup if the first lookup fails with %s', async (action, reason) => {
      const payment = await pay(method);
      await port().createRefund(refundOf(payment, 2_500));
      await fail(action, page.path);
      expect(await struck(action).listRefunds(payment)).toEqual({ kind: 'unknown', reason });
      await rig.control('DELETE', '/faults');
      expect(doneValue(await port().listRefunds(payment))).toHaveLength(1);
    });
  });
};

const MINUTES_MS = 120_000;

const testCourses = ({ subject, methods }: RefundSubject): void => {
  describe(`a refund that settles later at ${subject.name}`, () => {
    test('reduces the remaining amount while it is still pending', async () => {
      const payment = await pay(methods.settlesLater);
      const input = refundOf(payment, 9_000);
      expect(doneValue(await port().createRefund(input))).toMatchObject({ status: 'pending', failureCode: undefined });
      expect(await port().createRefund(refundOf(payment, 1_001))).toMatchObject({ reason: REFUND_EXCEEDS });
      await rig.clock.advance(MINUTES_MS);
      const [settled] = doneValue(await port().listRefunds(payment));
      expect(settled).toMatchObject({ status: 'succeeded', ourRefundId: input.refundId });
    });

    test('has a failure code if it fails, and frees its amount for another refund', async () => {
      const payment = await pay(methods.failsLater);
      await port().createRefund(refundOf(payment, 9_000));
      await rig.clock.advance(MINUTES_MS);
      const [failed] = doneValue(await port().listRefunds(payment));
      expect(failed).toMatchObject({ status: 'failed', amountCents: 9_000 });
      expect(await givenBack(payment)).toBe(0);
      expect(await port().createRefund(refundOf(payment, PAID))).toMatchObject({ kind: 'done' });
    });
  });
};

const dispute = async ({ ourId }: Paid, body: object = {}): Promise<string> =>
  (await rig.control<{ id: string }>('POST', `/payments/${ourId}/disputes`, body)).id;

const testDisputes = ({ subject, methods, disputeStatuses }: RefundSubject): void => {
  const method = subject.methods.succeeds;
  describe(`a dispute at ${subject.name}`, () => {
    test('is raised by its test method, and listed with the facts that the seller needs', async () => {
      const payment = await pay(methods.disputed);
      expect(doneValue(await port().listDisputes(payment))).toEqual([
        {
          disputeId: expect.any(String),
          captureId: subject.name === 'PayPal' ? payment.paymentId : undefined,
          status: 'needs_response',
          amountCents: PAID,
          currency: 'USD',
          reason: expect.stringMatching(/^[a-z_]+$/),
          evidenceDueBy: expect.toSatisfy((at) => at > rig.clock.now() / 1_000),
          createdAt: Math.floor(rig.clock.now() / 1_000),
          reportedAt: subject.name === 'Stripe' ? undefined : rig.clock.now(),
        },
      ]);
    });

    test.each(disputeStatuses)('is read with the status %s', async (status) => {
      const payment = await pay(method);
      const id = await dispute(payment);
      if (status !== 'needs_response') await rig.control('POST', `/disputes/${id}`, { status });
      expect(doneValue(await port().listDisputes(payment))).toMatchObject([{ disputeId: id, status }]);
    });

    test('is listed with its partial amount, oldest first, and for its payment only', async () => {
      const payment = await pay(method);
      expect(doneValue(await port().listDisputes(payment))).toEqual([]);
      await dispute(await pay(method));
      const first = await dispute(payment, { amount: 1_234, reason: 'product_not_received' });
      await rig.clock.advance(5_000);
      const second = await dispute(payment, { amount: 4_321 });
      expect(doneValue(await port().listDisputes(payment))).toMatchObject([
        { disputeId: first, amountCents: 1_234 },
        { disputeId: second, amountCents: 4_321 },
      ]);
    });

    test.each(FAULTS)('is read again if the list fails with %s', async (action, reason) => {
      const payment = await pay(methods.disputed);
      await fail(action, 'disputes');
      expect(await struck(action).listDisputes(payment)).toEqual({ kind: 'unknown', reason });
      await rig.control('DELETE', '/faults');
      expect(doneValue(await port().listDisputes(payment))).toHaveLength(1);
    });
  });
};

/** Verifies all events received so far. @returns the events of refunds and disputes */
const moneyBackEvents = async () => {
  const sent = await rig.delivered();
  for (const { headers, body } of sent) {
    const request = { raw: Buffer.from(body), headers, now: rig.clock.now() };
    expect(await rig.receiver?.verifyWebhook(request)).toBe('valid');
  }
  return sent
    .map(({ body }) => provider.readEvent(JSON.parse(body)))
    .filter((event) => event !== undefined)
    .filter(({ object }) => object.chargedAs !== undefined);
};

/** The refund without its settlement, because Stripe's events do not contain the settlement. */
const withoutSettlement = (refund: ProviderRefund | undefined) => {
  if (!refund) throw new Error('no refund is listed');
  const { settlement: _, ...rest } = refund;
  return rest;
};

const testMoneyBackEvents = ({ subject, methods }: RefundSubject): void => {
  const method = subject.methods.succeeds;
  const nameOne = ({ intentId, paymentId }: Paid) =>
    expect.toSatisfy((ids: readonly string[]) => ids.some((id) => id === intentId || id === paymentId));

  describe(`the refund and dispute events of ${subject.name}`, () => {
    test('carry our refund with its id, and name the payment of the refund', async () => {
      const payment = await pay(method);
      const refund = doneValue(await port().createRefund(refundOf(payment, 2_500)));
      const events = await moneyBackEvents();
      for (const { object } of events) expect(object.chargedAs).toEqual(nameOne(payment));
      const carried = events.filter(({ type }) => type === 'refund.updated');
      expect(carried.at(-1)?.object.refund).toMatchObject(withoutSettlement(refund));
    });

    test('carry a refund made at the provider without our id', async () => {
      const payment = await pay(method);
      await rig.control('POST', `/payments/${payment.ourId}/refunds`, { amount: 700, status: 'succeeded' });
      const carried = (await moneyBackEvents()).filter(({ type }) => type === 'refund.updated');
      expect(carried.at(-1)?.object).toMatchObject({
        chargedAs: nameOne(payment),
        refund: { ourRefundId: undefined, amountCents: 700, currency: 'USD', status: 'succeeded' },
      });
    });

    test('carry the final status of a refund that succeeds or fails', async () => {
      const pending = await pay(methods.settlesLater);
      await port().createRefund(refundOf(pending, 2_500));
      await rig.clock.advance(MINUTES_MS);
      const settled = (await moneyBackEvents()).filter(({ type }) => type === 'refund.updated').at(-1);
      const [succeeded] = doneValue(await port().listRefunds(pending));
      expect(settled?.object.refund).toMatchObject(withoutSettlement(succeeded));
      const failing = await pay(methods.failsLater);
      await port().createRefund(refundOf(failing, 2_500));
      await rig.clock.advance(MINUTES_MS);
      const [failed] = doneValue(await port().listRefunds(failing));
      const last = (await moneyBackEvents()).filter(({ type }) => type === 'refund.updated').at(-1);
      expect(last?.object.refund).toEqual(failed);
    });

    test('carry a dispute from its first status to its last, as the list does', async () => {
      const payment = await pay(method);
      const id = await dispute(payment);
      const latest = async () =>
        (await moneyBackEvents()).filter(({ type }) => type === 'dispute.updated').at(-1)?.object;
      const listed = async () => doneValue(await port().listDisputes(payment))[0];
      expect(await latest()).toMatchObject({ chargedAs: nameOne(payment), dispute: { disputeId: id } });
      expect((await latest())?.dispute).toEqual(await listed());
      for (const status of ['under_review', 'lost']) {
        await rig.control('POST', `/disputes/${id}`, { status });
        expect((await latest())?.dispute).toMatchObject({ status });
        expect((await latest())?.dispute).toEqual(await listed());
      }
    });
  });
};

const amounts = fc.integer({ min: 1, max: PAID });
const which = fc.nat({ max: 3 });

/** One step in the history of a paid payment. A step refused by the provider changes nothing. */
const stepsOf = ({ refundEnds, disputeStatuses }: RefundSubject) =>
  fc.oneof(
    fc.record({ kind: fc.constant('ours' as const), amount: amounts }),
    fc.record({
      kind: fc.constant('theirs' as const),
      amount: amounts,
      status: fc.constantFrom('pending', 'succeeded'),
    }),
    fc.record({
      kind: fc.constant('refund' as const),
      which,
      status: fc.constantFrom(...refundEnds),
    }),
    fc.record({ kind: fc.constant('dispute' as const), amount: amounts }),
    fc.record({
      kind: fc.constant('move' as const),
      which,
      status: fc.constantFrom(...disputeStatuses),
    }),
  );
type Step = ReturnType<typeof stepsOf> extends fc.Arbitrary<infer T> ? T : never;

/** Calls a control route, and accepts a 409. */
const attempt = (path: string, body: object): Promise<unknown> =>
  rig.control('POST', path, body).catch((error: Error) => expect(error.message).toMatch(/: 409 /));

const take = async (payment: Paid, next: Step): Promise<unknown> => {
  const { refunds, disputes } = await ledger(payment);
  switch (next.kind) {
    case 'ours': {
      const outcome = await port().createRefund(refundOf(payment, next.amount));
      return expect(['done', 'refused']).toContain(outcome.kind);
    }
    case 'theirs':
      return attempt(`/payments/${payment.ourId}/refunds`, { amount: next.amount, status: next.status });
    case 'refund':
      return attempt(`/refunds/${refunds[next.which]?.id ?? refunds[0]?.id}`, { status: next.status });
    case 'dispute':
      return attempt(`/payments/${payment.ourId}/disputes`, { amount: next.amount });
    case 'move':
      return attempt(`/disputes/${disputes[next.which]?.id ?? disputes[0]?.id}`, { status: next.status });
  }
};

/** True if the payment has a refund or dispute for the step. */
const isPossible = async (payment: Paid, { kind }: Step): Promise<boolean> => {
  const { refunds, disputes } = await ledger(payment);
  if (kind === 'refund') return refunds.length > 0;
  return kind !== 'move' || disputes.length > 0;
};

const HISTORIES = 40;

const testHistories = (wanted: RefundSubject): void => {
  const { subject } = wanted;
  test(`the lists at ${subject.name} equal the ledger after any history and never exceed the payment`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(stepsOf(wanted), { maxLength: 10 }), async (history) => {
        const payment = await pay(subject.methods.succeeds);
        for (const next of history) {
          await rig.clock.advance(5_000);
          if (await isPossible(payment, next)) await take(payment, next);
        }
        const { charges, refunds, disputes } = await ledger(payment);
        expect(
          doneValue(await port().listRefunds(payment)).map((refund) => ({
            id: refund.refundId,
            refund_id: refund.ourRefundId ?? null,
            amount: refund.amountCents,
            status: refund.status,
          })),
        ).toEqual(refunds.map(({ id, refund_id, amount, status }) => ({ id, refund_id, amount, status })));
        expect(
          doneValue(await port().listDisputes(payment)).map((listed) => ({
            id: listed.disputeId,
            amount: listed.amountCents,
            status: listed.status,
          })),
        ).toEqual(disputes.map(({ id, amount, status }) => ({ id, amount, status })));
        const counted = refunds.filter(({ status }) => status === 'pending' || status === 'succeeded');
        const sum = counted.reduce((total, { amount }) => total + amount, 0);
        expect(charges).toMatchObject([{ amount: PAID, amount_refunded: sum }]);
        expect(sum).toBeLessThanOrEqual(PAID);
      }),
      { numRuns: HISTORIES },
    );
  });
};
