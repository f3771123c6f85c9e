/** @module The facts of a payment: the method, the provider's codes for a decline, and the provider's fee. */
import { describe, expect, test } from 'vitest';
import type { MethodDetails, PaymentFacts, Settlement } from '../../shared/core/payment-facts.ts';
import { DAY_MS, HOUR_MS, iso, MINUTE_MS } from '../../shared/core/time.ts';
import { useNone } from '../../shared/payment-methods/usable-method.ts';
import type { VisiblePayment } from '../../shared/payments/payment.ts';
import { paymentEvents } from '../../shared/payments/payment-events.ts';
import { advancePayment, blankPayment, claimAttempt, releaseAttempt } from '../../shared/payments/payment-versions.ts';
import { afterFactLook, reportedFacts, withFacts, withFactsRead } from '../../shared/payments/recorded-facts.ts';
import { NOON, payment } from '../builders/payment.ts';

const LATER = NOON + MINUTE_MS;
const VISA: MethodDetails = {
  type: 'card',
  cardBrand: 'visa',
  lastFour: '4242',
  expiryMonth: '12',
  expiryYear: '2030',
  funding: 'credit',
  country: 'US',
  bankName: 'Bank',
  fingerprint: 'fp_0123456789abcdef01234567',
};
const FEE: Settlement = { feeCents: 103, netCents: 2_397, currency: 'USD' };
const DECLINE = { providerCode: 'generic_decline', networkCode: '05' };

const processing = (fields: Partial<VisiblePayment> = {}): VisiblePayment =>
  payment({ status: 'processing', attempt: 1, claimedAt: iso(NOON), version: 2, ...fields });
const ended = (to: 'succeeded' | 'failed', facts: PaymentFacts, was = processing()): VisiblePayment =>
  advancePayment(was, { to, now: NOON, cause: 'answer' }, reportedFacts(to, facts));
const paid = (facts: PaymentFacts = {}): VisiblePayment => ended('succeeded', facts);
const report = (facts: PaymentFacts, attemptRef?: string) => ({ facts, attemptRef });

describe('the facts of an outcome', () => {
  test('are recorded with the outcome, but a decline never with a success and a fee never with a failure', () => {
    const facts = { details: VISA, decline: DECLINE, settlement: FEE };
    expect(paid(facts)).toMatchObject({ details: VISA, decline: undefined, settlement: FEE });
    expect(ended('failed', facts)).toMatchObject({ details: VISA, decline: DECLINE, settlement: undefined });
  });

  test.each(['created', 'pending', 'processing', 'canceled'] as const)('are not recorded for %s', (status) => {
    expect(reportedFacts(status, { details: VISA, decline: DECLINE, settlement: FEE })).toEqual({});
  });

  test('replace the facts of an earlier attempt, even if the provider reports none for the later attempt', () => {
    const failed = ended('failed', { details: VISA, decline: DECLINE });
    const again = claimAttempt(failed, { method: useNone(undefined) }, LATER);
    expect(again).toMatchObject({ details: VISA, decline: undefined, factsAt: undefined });
    const card = { type: 'card', cardBrand: 'amex' } as const;
    expect(ended('succeeded', { details: card }, again).details).toEqual(card);
    expect(ended('succeeded', {}, again).details).toBeUndefined();
  });

  test('are restored if the provider certainly did nothing', () => {
    const failed = ended('failed', { decline: DECLINE });
    const again = claimAttempt(failed, { method: useNone(undefined) }, LATER);
    const { decline, factsAt, details } = releaseAttempt(again, failed, LATER);
    expect({ decline, factsAt, details }).toEqual({ decline: DECLINE, factsAt: failed.factsAt, details: undefined });
  });

  test('are dropped when the provider reports that the payment did not succeed', () => {
    const undone = advancePayment(paid({ settlement: FEE }), { to: 'processing', now: LATER, cause: 'sync' });
    expect(undone).toMatchObject({ settlement: undefined, factsAt: undefined });
  });
});

describe('facts that arrive later', () => {
  test('make a version with the cause facts, and no event', () => {
    const was = paid({ details: VISA });
    const next = withFacts(was, report({ settlement: FEE }), LATER);
    expect(next).toMatchObject({ cause: 'facts', version: was.version + 1, settlement: FEE, details: VISA });
    expect(next?.updatedAt).toBe(iso(LATER));
    expect(next && paymentEvents(was, next)).toEqual([]);
  });

  test('make no version if they are known, absent, or about another kind of outcome', () => {
    const was = paid({ details: VISA, settlement: FEE });
    for (const facts of [{}, { details: VISA }, { details: { type: 'card' as const } }, { decline: DECLINE }]) {
      expect(withFacts(was, report(facts), LATER)).toBeUndefined();
    }
    expect(withFacts(was, { attemptRef: undefined }, LATER)).toBeUndefined();
  });

  test('add to the known facts, and never remove any', () => {
    const { fingerprint: _, ...known } = VISA;
    const next = withFacts(paid({ details: known }), report({ details: { type: 'card', fingerprint: 'fp_1' } }), LATER);
    expect(next?.details).toEqual({ ...known, fingerprint: 'fp_1' });
    const explicit = { ...VISA, bankName: undefined, country: 'GB' };
    expect(withFacts(paid({ details: VISA }), report({ details: explicit }), LATER)?.details).toEqual({
      ...VISA,
      country: 'GB',
    });
  });

  test.each<[string, string | undefined, string[]]>([
    ['the attempt that failed', 'ch_1', []],
    ['an attempt without an id', undefined, []],
    ['the last attempt, whose id is new', 'ch_2', ['ch_1']],
  ])('are added to a failed payment if they are of %s', (_, attemptRef, priorAttemptRefs) => {
    const failed: VisiblePayment = { ...ended('failed', {}), attemptRef: 'ch_1', priorAttemptRefs };
    expect(withFacts(failed, report({ details: VISA }, attemptRef), LATER)?.details).toEqual(VISA);
  });

  test('are not added to a failed payment if they are of another attempt', () => {
    const failed: VisiblePayment = { ...ended('failed', {}), attemptRef: 'ch_1' };
    expect(withFacts(failed, report({ details: VISA }, 'ch_2'), LATER)).toBeUndefined();
  });
});

describe('a second decline after a failed authentication without a charge', () => {
  const first: VisiblePayment = {
    ...ended('failed', { details: VISA, decline: DECLINE }),
    ...{ attemptRef: 'ch_1', failureCode: 'insufficient_funds' },
  };
  const second: PaymentFacts = {
    details: { type: 'card', cardBrand: 'mastercard', lastFour: '3178', threeDSecure: { result: 'failed' } },
    decline: { providerCode: 'payment_intent_authentication_failure' },
  };
  const said = { facts: second, attemptRef: undefined, failureCode: 'authentication_required' } as const;

  test('is not added to the first decline', () => {
    expect(withFacts(first, said, LATER)).toBeUndefined();
    expect(withFacts({ ...first, attemptRef: undefined }, said, LATER)).toBeUndefined();
  });

  test('replaces the first decline after a read, and later reports of the first decline change nothing', () => {
    const next = withFactsRead(first, said, LATER);
    expect(next).toMatchObject({ cause: 'facts', failureCode: 'authentication_required', priorAttemptRefs: ['ch_1'] });
    expect([next?.details, next?.decline]).toEqual([second.details, second.decline]);
    expect(next && withFactsRead(next, said, LATER)).toBeUndefined();
    expect(next && withFactsRead(next, report({ details: VISA, decline: DECLINE }, 'ch_1'), LATER)).toBeUndefined();
  });

  test('does not replace the first decline if the provider reports no facts about it', () => {
    expect(withFactsRead(first, { attemptRef: 'ch_2', failureCode: 'lost_card' }, LATER)).toBeUndefined();
  });
});

describe('the reads for facts', () => {
  test.each<[string, VisiblePayment, boolean]>([
    ['succeeded without the method', paid({ settlement: FEE }), true],
    ['succeeded without the settlement', paid({ details: VISA }), true],
    ['succeeded with both', paid({ details: VISA, settlement: FEE }), false],
    ['failed without the method', ended('failed', { decline: DECLINE }), true],
    ['failed with the method', ended('failed', { details: VISA }), false],
    ['was canceled', advancePayment(processing(), { to: 'canceled', now: NOON, cause: 'event' }), false],
  ])(
    'begin a minute after the outcome only if a fact is missing: the payment %s',
    (_, { factsAt, factLooks }, isDue) => {
      expect([factsAt, factLooks]).toEqual([isDue ? iso(NOON + MINUTE_MS) : undefined, undefined]);
    },
  );

  test('are made after a minute, an hour and a day, and then end', () => {
    const first = paid();
    const second = afterFactLook(first);
    const third = afterFactLook(second);
    expect([second, third].map(({ factsAt }) => factsAt)).toEqual([iso(NOON + HOUR_MS), iso(NOON + DAY_MS)]);
    expect(afterFactLook(third)).toEqual({ factsAt: undefined, factLooks: undefined });
  });

  test('continue while facts are missing, and end with the last fact', () => {
    const some = withFacts({ ...paid(), factLooks: 1 }, report({ details: VISA }), LATER);
    expect(some).toMatchObject({ factsAt: iso(NOON + MINUTE_MS), factLooks: 1 });
    const all = some && withFacts(some, report({ settlement: FEE }), LATER);
    expect([all?.factsAt, all?.factLooks]).toEqual([undefined, undefined]);
  });

  test('are not made again for a payment whose reads have ended', () => {
    const over = { ...paid(), factsAt: undefined };
    expect(withFacts(over, report({ details: VISA }), LATER)?.factsAt).toBeUndefined();
  });
});

describe('an erasure', () => {
  const kept = { type: 'card', cardBrand: 'visa', funding: 'credit', country: 'US' } as const;

  test('blanks the digits, expiry, bank and fingerprint, and keeps brand, kind, country and fee', () => {
    const blanked = blankPayment(paid({ details: VISA, settlement: FEE }), LATER);
    expect([blanked.details, blanked.settlement]).toEqual([kept, FEE]);
  });

  test('ends the reads, and a later report does not restore the blanked fields', () => {
    const blanked = blankPayment(paid(), LATER);
    expect(blanked.factsAt).toBeUndefined();
    expect(withFacts(blanked, report({ details: VISA }), LATER)?.details).toEqual(kept);
    const failed = blankPayment(ended('failed', {}), LATER);
    expect(advancePayment(failed, { to: 'succeeded', now: LATER, cause: 'event' }, { details: VISA }).details).toEqual(
      kept,
    );
  });

  test('keeps the method of an organization, unless a member paid with an own method', () => {
    const ofOrganization = { ...paid({ details: VISA }), organizationId: 'org_1', userEmail: 'ada@example.com' };
    expect(blankPayment(ofOrganization, LATER).details).toEqual(VISA);
    const lent = blankPayment({ ...ofOrganization, lenderCustomerId: 'cus_1', userEmail: undefined }, LATER);
    expect(lent).toMatchObject({ details: kept, methodErased: true });
    expect(withFacts(lent, report({ details: VISA }), LATER)).toBeUndefined();
    expect(blankPayment(lent, LATER)).toBe(lent);
  });
});

describe('the event of an outcome', () => {
  const dataOf = (next: VisiblePayment): unknown => paymentEvents(processing(), next).map(({ detail }) => detail);

  test('shows the method without its expiry date and without the fee', () => {
    const [event] = paymentEvents(processing(), paid({ details: VISA, settlement: FEE }));
    expect(event).toMatchObject({
      type: 'payment.succeeded',
      detail: { payload: { data: { payment_method_details: { type: 'card', last_four: '4242', country: 'US' } } } },
    });
    expect(JSON.stringify(event)).not.toMatch(/expiry|2030|fee|2397/);
  });

  test('shows null for a still unknown method', () => {
    expect(dataOf(ended('failed', {}))).toMatchObject([{ payload: { data: { payment_method_details: null } } }]);
  });
});
