import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { MethodKind } from '../../shared/core/fact-words.ts';
import type { Outcome } from '../../shared/core/outcome.ts';
import { DAY_MS, HOUR_MS, iso } from '../../shared/core/time.ts';
import type { CaptureHold, HoldsPort } from '../../shared/providers/hold-port.ts';
import type { KnownPayment, ProviderPayment } from '../../shared/providers/payment-port.ts';
import type { PaymentProvider } from '../../shared/providers/provider.ts';
import { REFUND_EXCEEDS } from '../../shared/providers/refund-port.ts';
import { openRig, type ProviderRig } from './provider-rig.ts';
import type { ProviderSubject } from './provider-suite.ts';

/** An API call of the provider, for fault injection. */
interface FaultedCall {
  readonly method: 'POST' | 'PUT';
  /** A part of the path. */
  readonly path: string;
}

/** The provider's test values for the contract of holds. Every adapter with delayed capture must pass this contract. */
export interface HoldsSubject {
  readonly subject: ProviderSubject;
  /** The provider's hold period in days. */
  readonly days: number;
  /** The number of days with a guaranteed capture at the provider, if any. */
  readonly guaranteedDays?: number;
  readonly methods: { readonly captureDeclined: string; readonly endsInAnHour: string };
  /** Methods of payment, and whether each supports a hold. */
  readonly takes: readonly (readonly [id: string, kind: MethodKind | undefined, expected: boolean])[];
  /** The provider's calls for a hold and for a release. */
  readonly calls: { readonly hold: FaultedCall; readonly release: FaultedCall };
  /** The provider's calls for a full and a partial capture, in order. The last call takes the money. */
  readonly captures: { readonly all: readonly FaultedCall[]; readonly part: readonly FaultedCall[] };
}

const HELD = 2_500;
const PART = 1_000;

let rig: ProviderRig;
let provider: PaymentProvider;
let payments = 0;

const port = (of: PaymentProvider = provider): HoldsPort => {
  if (!of.holds) throw new Error('the adapter has no holds');
  return of.holds;
};

const doneValue = <T>(outcome: Outcome<T>): T => {
  if (outcome.kind === 'done') return outcome.value;
  throw new Error(`not done: ${JSON.stringify(outcome)}`);
};

interface Manual {
  readonly ourId: string;
  readonly intentId: string;
  readonly method: string;
}

const create = async (method: string): Promise<Manual> => {
  payments += 1;
  const ourId = `pay_${String(payments).padStart(24, '0')}`;
  const { intentId } = doneValue(
    await provider.createIntent({
      idempotencyKey: `${ourId}:create`,
      paymentId: ourId,
      amountCents: HELD,
      currency: 'USD',
      description: 'Two books',
      method,
      customerId: undefined,
      saveMethod: false,
      returnUrl: undefined,
      captureMethod: 'manual',
    }),
  );
  return { ourId, intentId, method };
};

interface Attempt {
  readonly through?: PaymentProvider;
  readonly number?: number;
  readonly captureMethod?: 'manual' | undefined;
}

const confirm = ({ ourId, intentId, method }: Manual, attempt: Attempt = {}) =>
  (attempt.through ?? provider).confirmIntent({
    offSession: undefined,
    idempotencyKey: `${ourId}:confirm:${attempt.number ?? 1}`,
    intentId,
    paymentId: ourId,
    amountCents: HELD,
    currency: 'USD',
    method,
    customerId: undefined,
    returnUrl: undefined,
    captureMethod: 'captureMethod' in attempt ? attempt.captureMethod : 'manual',
  });

interface Held extends Manual {
  readonly report: ProviderPayment;
}

const hold = async (method: string): Promise<Held> => {
  const manual = await create(method);
  return { ...manual, report: doneValue(await confirm(manual)) };
};

const knownOf = ({ intentId, method }: Manual, report?: ProviderPayment): KnownPayment => ({
  intentId,
  method,
  attemptRef: report?.attemptRef,
  status: report ? 'requires_capture' : 'processing',
  captureMethod: 'manual',
});

/** Reads the payment as the service does, with the known attempt. */
const read = async (held: Held): Promise<ProviderPayment> =>
  doneValue(await provider.findPayment(knownOf(held, held.report)));

const captureOf = (held: Held, amountCents: number, key = '0'): CaptureHold => ({
  ...knownOf(held, held.report),
  idempotencyKey: `${held.ourId}:capture:${key}`,
  paymentId: held.ourId,
  providerPaymentId: held.report.paymentId,
  authorizedCents: HELD,
  amountCents,
  currency: 'USD',
});
const capture = (held: Held, amountCents = HELD, key = '0') => port().capture(captureOf(held, amountCents, key));

const releaseOf = (held: Held, key = '0') => ({
  ...knownOf(held, held.report),
  idempotencyKey: `${held.ourId}:release:${key}`,
  providerPaymentId: held.report.paymentId,
});
const release = (held: Held, key = '0') => port().release(releaseOf(held, key));

interface Sums {
  readonly authorized: number;
  readonly captured: number;
  readonly released: number;
}

/** The payment's holds in the provider's ledger. */
const holdsOf = async ({ ourId }: Manual): Promise<readonly Sums[]> => {
  const { charges } = await rig.control<{ charges: readonly Sums[] }>('GET', `/ledger?payment_id=${ourId}`);
  const sums = charges.map(({ authorized, captured, released }) => ({ authorized, captured, released }));
  return sums.filter(({ authorized }) => authorized > 0);
};

const sums = (captured: number, released: number): readonly Sums[] => [{ authorized: HELD, captured, released }];

/** Each fault, the adapter's required outcome, and whether the provider executed the call. */
const FAULTS = [
  ['timeout_before', 'timeout', false],
  ['timeout_after', 'timeout', true],
  ['reset', 'unreachable', false],
  ['error_500', 'error', false],
  ['malformed', 'error', true],
] as const;

const fail = (action: string, call: FaultedCall) => rig.control('POST', '/faults', { ...call, action, times: 1 });

/** The adapter for a call under a fault. Its timeout is short if the fault suppresses the response. */
const struck = (action: string): PaymentProvider => (action.startsWith('timeout') ? rig.impatient : provider);

export const testHolds = (wanted: HoldsSubject): void => {
  beforeEach(async () => {
    rig = await openRig(wanted.subject);
    ({ provider } = rig);
  });
  afterEach(() => rig.close());

  testHolding(wanted);
  testCaptures(wanted);
  testEnds(wanted);
  testLostResponses(wanted);
  testHoldEvents(wanted);
};

const testHolding = ({ subject, days, guaranteedDays, takes, methods }: HoldsSubject): void => {
  const { name } = subject;
  const { succeeds, declines } = subject.methods;
  describe(`a hold at ${name}`, () => {
    test('reserves the amount until the capture deadline and takes no money', async () => {
      const held = await hold(succeeds);
      expect(held.report).toMatchObject({ status: 'requires_capture', amountCents: HELD, currency: 'USD' });
      expect(held.report.intentId).toBe(held.intentId);
      const { captureBefore, guaranteedUntil, ...amounts } = held.report.hold ?? {};
      expect(amounts).toMatchObject({ authorizedCents: HELD, capturableCents: HELD });
      expect(captureBefore).toBe(iso(rig.clock.now() + days * DAY_MS));
      expect(guaranteedUntil).toBe(guaranteedDays && iso(rig.clock.now() + guaranteedDays * DAY_MS));
      expect(await read(held)).toMatchObject({ status: 'requires_capture', hold: held.report.hold });
      expect(await holdsOf(held)).toEqual(sums(0, 0));
    });

    test('is created once under its idempotency key', async () => {
      const held = await hold(succeeds);
      expect(doneValue(await confirm(held))).toMatchObject({ status: 'requires_capture' });
      expect(await holdsOf(held)).toEqual(sums(0, 0));
    });

    test('is not created by a declined method, and another method can then hold the amount', async () => {
      const [declined = ''] = Object.keys(declines);
      const manual = await create(declined);
      expect(await confirm(manual)).toMatchObject({ kind: 'declined' });
      expect(await holdsOf(manual)).toEqual([]);
      const again = { ...manual, method: succeeds };
      expect(doneValue(await confirm(again, { number: 2 }))).toMatchObject({ status: 'requires_capture' });
      expect(await holdsOf(manual)).toEqual(sums(0, 0));
    });

    test('is not created if an update switched the payment to automatic capture', async () => {
      const manual = await create(succeeds);
      const update = (captureMethod: 'manual' | 'automatic', key: number) =>
        provider.updateIntent({
          idempotencyKey: `${manual.ourId}:update:${key}`,
          intentId: manual.intentId,
          amountCents: HELD,
          currency: 'USD',
          description: 'Two books',
          method: undefined,
          customerId: undefined,
          saveMethod: false,
          returnUrl: undefined,
          captureMethod,
        });
      for (const [key, captureMethod] of (['automatic', 'manual', 'automatic'] as const).entries()) {
        doneValue(await update(captureMethod, key));
      }
      const paid = doneValue(await confirm(manual, { captureMethod: undefined }));
      expect(paid).toMatchObject({ status: 'succeeded', amountCents: HELD });
      expect(paid.hold).toBeUndefined();
    });

    test.each(takes)('with method %s (%s) is supported: %s', (id, kind, expected) => {
      expect(port().takes({ id, kind })).toBe(expected);
    });

    test('expires after an hour with the test method for early expiry', async () => {
      const held = await hold(methods.endsInAnHour);
      expect(held.report.hold?.captureBefore).toBe(iso(rig.clock.now() + HOUR_MS));
      await rig.clock.advance(HOUR_MS);
      expect(await read(held)).toMatchObject({ status: 'canceled' });
    });
  });
};

const testCaptures = ({ subject, methods }: HoldsSubject): void => {
  const { name } = subject;
  const { succeeds } = subject.methods;
  describe(`a capture at ${name}`, () => {
    test.each([
      ['all', HELD],
      ['a part and releases the rest', PART],
    ])('takes %s', async (_, amountCents) => {
      const held = await hold(succeeds);
      const captured = doneValue(await capture(held, amountCents));
      const expected = { status: 'succeeded', amountCents, currency: 'USD', intentId: held.intentId };
      expect(captured).toMatchObject(expected);
      const hasEnded = { authorizedCents: HELD, capturableCents: 0 };
      const found = await read(held);
      expect(found).toMatchObject({ ...expected, paymentId: captured.paymentId, hold: hasEnded });
      expect(await holdsOf(held)).toEqual(sums(amountCents, HELD - amountCents));
    });

    test.each([HELD, PART])('of %i takes money once, even if repeated under another key', async (amountCents) => {
      const held = await hold(succeeds);
      doneValue(await capture(held, amountCents));
      expect(doneValue(await capture(held, amountCents))).toMatchObject({ status: 'succeeded', amountCents });
      await capture(held, amountCents, '1');
      expect((await capture(held, PART - 1, '2')).kind).toBe('refused');
      expect(await holdsOf(held)).toEqual(sums(amountCents, HELD - amountCents));
    });

    test('above the held amount is refused and leaves the hold unchanged', async () => {
      const held = await hold(succeeds);
      expect((await capture(held, HELD + 1)).kind).toBe('refused');
      expect(await read(held)).toMatchObject({ status: 'requires_capture', hold: { capturableCents: HELD } });
      expect(await holdsOf(held)).toEqual(sums(0, 0));
    });

    test('takes no money if the bank declines it, and the payment stays held', async () => {
      const held = await hold(methods.captureDeclined);
      expect(await capture(held)).toMatchObject({ kind: 'declined', code: 'do_not_honor' });
      expect(await read(held)).toMatchObject({ status: 'requires_capture', hold: { capturableCents: HELD } });
      expect(await holdsOf(held)).toEqual(sums(0, 0));
    });

    test('limits refunds to the captured part', async () => {
      const held = await hold(succeeds);
      const { intentId, paymentId } = doneValue(await capture(held, PART));
      const refund = (amountCents: number) =>
        provider.refunds?.createRefund({
          idempotencyKey: `${held.ourId}:refund:${amountCents}`,
          refundId: `ref_${String(amountCents).padStart(24, '0')}`,
          payment: { intentId, paymentId },
          amountCents,
          currency: 'USD',
          reason: undefined,
        });
      expect(await refund(PART + 1)).toMatchObject({ kind: 'refused', reason: REFUND_EXCEEDS });
      expect(await refund(PART)).toMatchObject({ kind: 'done', value: { amountCents: PART } });
      expect(await holdsOf(held)).toEqual(sums(PART, HELD - PART));
    });
  });
};

const testEnds = ({ subject, days }: HoldsSubject): void => {
  const { name } = subject;
  const { succeeds } = subject.methods;
  describe(`the end of a hold at ${name}`, () => {
    const hasEnded = (held: Held) => ({
      status: 'canceled',
      hold: { authorizedCents: HELD, capturableCents: 0, endedAt: iso(rig.clock.now()) },
      intentId: held.intentId,
    });

    test('follows a release, and later captures are refused', async () => {
      const held = await hold(succeeds);
      expect(doneValue(await release(held))).toMatchObject(hasEnded(held));
      expect(await read(held)).toMatchObject(hasEnded(held));
      expect(['done', 'refused']).toContain((await release(held)).kind);
      for (const amountCents of [HELD, PART]) {
        expect((await capture(held, amountCents, `${amountCents}`)).kind).toBe('refused');
      }
      expect(await holdsOf(held)).toEqual(sums(0, HELD));
    });

    test('follows a capture, and later releases are refused', async () => {
      const held = await hold(succeeds);
      doneValue(await capture(held, PART));
      expect((await release(held)).kind).toBe('refused');
      expect(await read(held)).toMatchObject({ status: 'succeeded', amountCents: PART });
      expect(await holdsOf(held)).toEqual(sums(PART, HELD - PART));
    });

    test('follows the capture deadline, and later captures and releases are refused', async () => {
      const held = await hold(succeeds);
      await rig.clock.advance(days * DAY_MS - 1_000);
      expect(await read(held)).toMatchObject({ status: 'requires_capture' });
      await rig.clock.advance(1_000);
      expect(await read(held)).toMatchObject(hasEnded(held));
      expect((await capture(held)).kind).toBe('refused');
      expect((await release(held)).kind).toBe('refused');
      expect(await holdsOf(held)).toEqual(sums(0, HELD));
    });

    test('follows a manual release at the provider', async () => {
      const held = await hold(succeeds);
      await rig.control('POST', `/payments/${held.ourId}/release`);
      expect(await read(held)).toMatchObject(hasEnded(held));
      expect(await holdsOf(held)).toEqual(sums(0, HELD));
    });

    test('happens once under concurrent captures and releases', async () => {
      const held = await hold(succeeds);
      const outcomes = await Promise.all(
        [HELD, PART, PART + 1, PART + 2].flatMap((amountCents, n) => [
          capture(held, amountCents, `${n}`),
          release(held, `${n}`),
        ]),
      );
      await release(held, 'last');
      const taken = outcomes.flatMap((outcome) =>
        outcome.kind === 'done' && outcome.value.status === 'succeeded' ? [outcome.value.amountCents] : [],
      );
      const [one, ...others] = await holdsOf(held);
      expect(others).toEqual([]);
      expect(one).toMatchObject({ authorized: HELD, released: HELD - (one?.captured ?? 0) });
      expect(new Set(taken).size).toBeLessThanOrEqual(1);
      expect(one?.captured).toBe(taken[0] ?? 0);
    });
  });
};

const testLostResponses = ({ subject, calls, captures }: HoldsSubject): void => {
  const { name } = subject;
  const { succeeds } = subject.methods;
  const captureFaults = (['all', 'part'] as const).flatMap((taken) =>
    captures[taken].flatMap((call, index) =>
      FAULTS.map(([action, reason, reached]) => {
        const isLast = index === captures[taken].length - 1;
        return { taken, call, action, reason, takes: isLast && reached, label: `${call.method} ${call.path}` };
      }),
    ),
  );

  describe(`a call with an unknown outcome at ${name}`, () => {
    test.each(FAULTS)('to confirm (%s) is settled by a lookup, and the retry holds once', async (...fault) => {
      const [action, reason, reached] = fault;
      const manual = await create(succeeds);
      await fail(action, calls.hold);
      expect(await confirm(manual, { through: struck(action) })).toEqual({ kind: 'unknown', reason });
      await rig.control('DELETE', '/faults');
      const found = doneValue(await provider.findPayment(knownOf(manual)));
      expect(found.status === 'requires_capture').toBe(reached);
      expect(await holdsOf(manual)).toEqual(reached ? sums(0, 0) : []);
      const held = { ...manual, report: doneValue(await confirm(manual)) };
      expect(held.report).toMatchObject({ status: 'requires_capture', hold: { capturableCents: HELD } });
      doneValue(await capture(held));
      expect(await holdsOf(held)).toEqual(sums(HELD, 0));
    });

    test.each(captureFaults)(
      'to capture $taken ($label, $action) is settled by a lookup, and the retry captures once',
      async ({ taken, call, action, reason, takes }) => {
        const amountCents = taken === 'all' ? HELD : PART;
        const held = await hold(succeeds);
        await fail(action, call);
        const lost = port(struck(action)).capture(captureOf(held, amountCents));
        expect(await lost).toEqual({ kind: 'unknown', reason });
        await rig.control('DELETE', '/faults');
        const found = await read(held);
        expect(found.status).toBe(takes ? 'succeeded' : 'requires_capture');
        expect(found.hold?.authorizedCents).toBe(HELD);
        expect(doneValue(await capture(held, amountCents))).toMatchObject({ status: 'succeeded', amountCents });
        expect(await holdsOf(held)).toEqual(sums(amountCents, HELD - amountCents));
      },
    );

    test.each(FAULTS)('to release (%s) is settled by a lookup, and the retry releases once', async (...fault) => {
      const [action, reason, reached] = fault;
      const held = await hold(succeeds);
      await fail(action, calls.release);
      expect(await port(struck(action)).release(releaseOf(held))).toEqual({ kind: 'unknown', reason });
      await rig.control('DELETE', '/faults');
      expect((await read(held)).status).toBe(reached ? 'canceled' : 'requires_capture');
      if (!reached) doneValue(await release(held));
      expect(await read(held)).toMatchObject({ status: 'canceled' });
      expect(await holdsOf(held)).toEqual(sums(0, HELD));
    });
  });
};

/** Verifies all events received so far. @returns the events of the payment */
const eventsOf = async ({ ourId, intentId }: Manual, paymentId: string) => {
  const sent = await rig.delivered();
  for (const { headers, body, at } of sent) {
    const request = { raw: Buffer.from(body), headers, now: at };
    expect(await rig.receiver?.verifyWebhook(request)).toBe('valid');
  }
  const ids = [ourId, intentId, paymentId];
  return sent
    .map(({ body }) => provider.readEvent(JSON.parse(body)))
    .filter((event) => event !== undefined)
    .filter(({ object: { id, intentId: of, ourPaymentId } }) =>
      [id, of, ourPaymentId].some((named) => named !== undefined && ids.includes(named)),
    );
};

const testHoldEvents = ({ subject, days }: HoldsSubject): void => {
  const { name } = subject;
  const { succeeds } = subject.methods;
  const EVENTS = ['payment_intent.amount_capturable_updated', 'payment_intent.succeeded', 'payment_intent.canceled'];
  const typesOf = (events: Awaited<ReturnType<typeof eventsOf>>) =>
    events.flatMap(({ type }) => (type !== undefined && EVENTS.includes(type) ? [type] : []));

  describe(`the events of a hold at ${name}`, () => {
    test('report the held amount under an id already known to the service', async () => {
      const held = await hold(succeeds);
      const events = await eventsOf(held, held.report.paymentId);
      expect(typesOf(events)).toEqual(['payment_intent.amount_capturable_updated']);
      const [event] = events.filter(({ type }) => type === 'payment_intent.amount_capturable_updated');
      const { captureBefore, ...amounts } = event?.object.hold ?? {};
      expect(event?.object).toMatchObject({ amountCents: HELD, currency: 'USD' });
      expect(amounts).toMatchObject({ authorizedCents: HELD, capturableCents: HELD });
      // Some events do not contain the end of the hold.
      expect([held.report.hold?.captureBefore, undefined]).toContain(captureBefore);
      expect([event?.object.id, event?.object.intentId]).toContain(held.intentId);
      expect(event?.object.attemptRef).toBe(held.report.attemptRef);
    });

    test.each([HELD, PART])('report the capture of %i', async (amountCents) => {
      const held = await hold(succeeds);
      await rig.clock.advance(HOUR_MS);
      const { paymentId } = doneValue(await capture(held, amountCents));
      const events = await eventsOf(held, paymentId);
      expect(typesOf(events)).not.toContain('payment_intent.canceled');
      const last = events.filter(({ type }) => type === 'payment_intent.succeeded').at(-1);
      expect(last?.object).toMatchObject({ amountCents, currency: 'USD' });
    });

    test.each(['by a release', 'by hand at the provider', 'by the clock'])('report the hold’s end %s', async (how) => {
      const held = await hold(succeeds);
      await rig.clock.advance(HOUR_MS);
      if (how === 'by a release') doneValue(await release(held));
      else if (how === 'by the clock') await rig.clock.advance(days * DAY_MS - HOUR_MS);
      else await rig.control('POST', `/payments/${held.ourId}/release`);
      const endedAt = iso(rig.clock.now());
      const events = await eventsOf(held, held.report.paymentId);
      expect(typesOf(events)).not.toContain('payment_intent.succeeded');
      const last = events.filter(({ type }) => type === 'payment_intent.canceled').at(-1);
      expect(last?.object.hold).toMatchObject({ authorizedCents: HELD, capturableCents: 0, endedAt });
    });
  });
};
