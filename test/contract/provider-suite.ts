import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { DeclineCode, Outcome } from '../../shared/core/outcome.ts';
import { MINUTE_MS } from '../../shared/core/time.ts';
import type { InboundEventType } from '../../shared/providers/event-port.ts';
import type { ProviderMethod } from '../../shared/providers/method-port.ts';
import type { KnownPayment, NextAction, ProviderPayment } from '../../shared/providers/payment-port.ts';
import type { PaymentProvider } from '../../shared/providers/provider.ts';
import { type Bound, openRig, type ProviderRig } from './provider-rig.ts';
import type { SimulatorDelivery } from './simulator-harness.ts';

/**
 * The provider's test values for the contract of every adapter, which covers each operation and outcome. The adapter
 * must refuse the operations that its `can` denies, and the suite skips their other tests.
 */
export interface ProviderSubject extends Bound {
  readonly name: string;
  readonly can: PaymentProvider['can'];
  /** True for what the provider does not store. The service keeps its own values in this case. */
  readonly forgets: {
    readonly intents: boolean;
    readonly cancellations: boolean;
    readonly declines: boolean;
    readonly customers: boolean;
  };
  /** Test values of methods. */
  readonly methods: {
    readonly succeeds: string;
    /** A card to attach. */
    readonly attaches: string;
    /** A method saved after its payer's approval; undefined if the request names the method to save. */
    readonly approvedBy: string | undefined;
    readonly declines: Readonly<Record<string, DeclineCode>>;
    /** Methods with a minute of processing before their payment succeeds or fails. */
    readonly settlesLater: { readonly succeeded: string; readonly failed: string };
    /** A method that requires a customer action; undefined if the provider has no such state. */
    readonly asksCustomer: string | undefined;
    /** Methods whose first confirmation gets no response. The connection is lost before or after its execution. */
    readonly lost: { readonly before: string; readonly after: string };
    readonly unknown: string;
    readonly declinesToAttach: string;
    /** Methods that can be attached. Each succeeds for this many payments, and then declines. */
    readonly declinesLater: Readonly<Record<string, { readonly pays: number; readonly code: DeclineCode }>>;
  };
  /** Paths of the charge, customer and attach calls, for fault injection. */
  readonly paths: { readonly confirm: string; readonly customers: string; readonly attach: string };
  readonly nextAction: NextAction['type'];
  /** The part of the charge request that declares it off-session. */
  readonly unattended: string;
  /** The types of the provider's native events for a succeeded and for a declined payment. */
  readonly paymentEvents: {
    readonly succeeded: readonly InboundEventType[];
    readonly failed: readonly InboundEventType[];
  };
}

const DECLINED_AMOUNT = 700;
const AMOUNT = 2_500;

let rig: ProviderRig;
let provider: PaymentProvider;
let payments = 0;

const doneValue = <T>(outcome: Outcome<T>): T => {
  if (outcome.kind === 'done') return outcome.value;
  throw new Error(`not done: ${JSON.stringify(outcome)}`);
};

interface Wish {
  readonly method?: string;
  readonly amountCents?: number;
  readonly customerId?: string;
  readonly saveMethod?: boolean;
}

interface Intent {
  readonly id: string;
  readonly report: ProviderPayment;
  readonly wish: Wish;
}

const intentInput = (id: string, wish: Wish) => ({
  idempotencyKey: `${id}:create`,
  paymentId: id,
  amountCents: wish.amountCents ?? AMOUNT,
  currency: 'USD',
  description: 'Two books',
  method: wish.method,
  customerId: wish.customerId,
  saveMethod: wish.saveMethod ?? false,
  returnUrl: undefined,
});

const newPaymentId = (): string => {
  payments += 1;
  return `pay_${String(payments).padStart(24, '0')}`;
};

const create = async (wish: Wish = {}): Promise<Intent> => {
  const id = newPaymentId();
  return { id, report: doneValue(await provider.createIntent(intentInput(id, wish))), wish };
};

const confirm = (
  { id, report, wish }: Intent,
  method = wish.method,
  { attempt = 1, offSession }: { readonly attempt?: number; readonly offSession?: true } = {},
) =>
  provider.confirmIntent({
    offSession,
    idempotencyKey: `${id}:confirm:${attempt}`,
    intentId: report.intentId,
    paymentId: id,
    amountCents: wish.amountCents ?? AMOUNT,
    currency: 'USD',
    method,
    customerId: wish.customerId,
    returnUrl: undefined,
  });

const known = ({ report, wish }: Intent, more: Partial<KnownPayment> = {}): KnownPayment => ({
  intentId: report.intentId,
  attemptRef: undefined,
  method: wish.method,
  status: 'processing',
  ...more,
});

const find = (intent: Intent, more: Partial<KnownPayment> = {}) => provider.findPayment(known(intent, more));
const cancel = (intent: Intent) => provider.cancelIntent({ ...known(intent), idempotencyKey: `${intent.id}:cancel` });

const update = ({ id, report, wish }: Intent, amountCents: number) =>
  provider.updateIntent({
    idempotencyKey: `${id}:update:1`,
    intentId: report.intentId,
    amountCents,
    currency: 'USD',
    description: 'Three books',
    method: undefined,
    customerId: wish.customerId,
    saveMethod: false,
    returnUrl: undefined,
  });

const person = { email: 'ana@example.com', name: 'Ana Maria Silva', phone: '+351 210 000 000' };
const createCustomer = (ourCustomerId = 'cust_000000000000000000000001') =>
  provider.createCustomer({ ...person, ourCustomerId, idempotencyKey: `${ourCustomerId}:create` });
const customerId = async (): Promise<string> => doneValue(await createCustomer()).customerId;

const attach = async (token: string, customer?: string): Promise<Outcome<ProviderMethod>> =>
  provider.attachMethod({
    token,
    customerId: customer ?? (await customerId()),
    paymentMethodId: 'pmt_1',
    idempotencyKey: 'pmt_1:attach',
  });

interface Ledger {
  readonly charges: readonly { readonly status: string; readonly payment_id: string | null }[];
  readonly customers: readonly { readonly deleted: boolean }[];
}
const ledger = () => rig.control<Ledger>('GET', '/ledger');
const moneyMoved = async (id: string): Promise<number> =>
  (await ledger()).charges.filter(({ payment_id, status }) => payment_id === id && status === 'succeeded').length;

/** Makes one call under a fault. The adapter has a short deadline if the fault suppresses the response. */
const struck = async <T>(action: string, path: string, call: () => Promise<T>): Promise<T> => {
  const strike = async (): Promise<T> => {
    // Some adapters first request an access token. This call does so now, because the fault must not hit that request.
    await provider.findPayment(ABSENT);
    await rig.control('POST', '/faults', { action, path, times: 1 });
    return call();
  };
  return action.startsWith('timeout') ? impatiently(strike) : strike();
};

const impatiently = async <T>(call: () => Promise<T>): Promise<T> => {
  provider = rig.impatient;
  try {
    return await call();
  } finally {
    ({ provider } = rig);
  }
};

/** Each fault, and the outcome that the adapter must report. */
const FAULTS = [
  ['timeout_before', 'timeout'],
  ['timeout_after', 'timeout'],
  ['reset', 'unreachable'],
  ['error_500', 'error'],
  ['malformed', 'error'],
] as const;

const ABSENT = { intentId: 'absent', attemptRef: undefined, method: undefined, status: 'created' } as const;

export const testProvider = (subject: ProviderSubject): void => {
  const { can, forgets } = subject;
  beforeEach(async () => {
    rig = await openRig(subject);
    ({ provider } = rig);
  });
  afterEach(() => rig.close());

  describe(`the ${subject.name} adapter`, () => {
    test('reports its capabilities and its slot', () => {
      expect(provider).toMatchObject({ slot: subject.slot, can });
    });

    test('stays closed without its keys', () => {
      expect(rig.reopen({})).toBeUndefined();
    });

    if (!forgets.customers)
      test('logs every call without its body', async () => {
        await createCustomer();
        expect(rig.logged.length).toBeGreaterThan(0);
        for (const line of rig.logged)
          expect(line).toMatch(/^provider called \{"provider":"provider_\w","outcome":"done"/);
      });
  });

  if (can.payments) testPayments(subject);
  else testNoPayments(subject);
  if (!forgets.customers) testCustomers(subject);
  if (can.methods) testMethods(subject, can);
  if (can.payments) testEvents(subject);
};

const testPayments = (subject: ProviderSubject): void => {
  const { methods, forgets } = subject;
  describe(`an intent at ${subject.name}`, () => {
    test.each([
      ['without a method', undefined, 'requires_payment_method'],
      ['with a method', methods.succeeds, 'created'],
    ] as const)('has the same status in its creation response and in a read: %s', async (_, method, status) => {
      const { id, report } = await create(method === undefined ? {} : { method });
      expect(report).toMatchObject({
        status,
        amountCents: AMOUNT,
        currency: 'USD',
        ourPaymentId: id,
        clientSecret: expect.stringMatching(/.{16,}/),
      });
      expect(report.paymentId).toBe(report.intentId);
      expect(report.attemptRef).toBeUndefined();
      expect(doneValue(await find({ id, report, wish: { ...(method && { method }) } }))).toMatchObject({
        intentId: report.intentId,
        status,
        amountCents: AMOUNT,
        ourPaymentId: id,
      });
    });

    test('is created once under its key, even if the call is repeated', async () => {
      const id = newPaymentId();
      const first = doneValue(await provider.createIntent(intentInput(id, {})));
      expect(doneValue(await provider.createIntent(intentInput(id, {})))).toEqual(first);
    });

    test.each(FAULTS)(
      'has an unknown outcome if its creation meets %s, and is created once by the retry',
      async (action, reason) => {
        const id = newPaymentId();
        const first = await struck(action, '', () => provider.createIntent(intentInput(id, {})));
        expect(first).toEqual({ kind: 'unknown', reason });
        const report = doneValue(await provider.createIntent(intentInput(id, {})));
        const { payment_intents: intents } = await rig.control<{ payment_intents: unknown[] }>('GET', '/ledger');
        expect(intents).toMatchObject([{ id: report.intentId, payment_id: id }]);
      },
    );

    test('is not created if its creation meets a rate limit, and is created once by the retry', async () => {
      await rig.control('POST', '/faults', { action: 'rate_limit', times: 2 });
      const id = newPaymentId();
      expect(await provider.createIntent(intentInput(id, {}))).toMatchObject({ kind: 'not_done' });
      await rig.control('DELETE', '/faults');
      const report = doneValue(await provider.createIntent(intentInput(id, {})));
      const { payment_intents: intents } = await rig.control<{ payment_intents: unknown[] }>('GET', '/ledger');
      expect(intents).toMatchObject([{ id: report.intentId, payment_id: id }]);
    });

    test('is updated, and can be updated again under the same key', async () => {
      const intent = await create({ method: methods.succeeds });
      for (const _ of [1, 2]) expect(doneValue(await update(intent, 3_000))).toMatchObject({ amountCents: 3_000 });
      expect(doneValue(await find(intent))).toMatchObject({ amountCents: 3_000, status: 'created' });
      const more = { ...intent, wish: { ...intent.wish, amountCents: 3_000 } };
      expect(doneValue(await confirm(more))).toMatchObject({ status: 'succeeded', amountCents: 3_000 });
    });

    test.each(FAULTS)(
      'has an unknown outcome if its update meets %s, and is updated by the retry',
      async (action, reason) => {
        const intent = await create();
        const first = await struck(action, '', () => update(intent, 3_000));
        expect(first).toEqual({ kind: 'unknown', reason });
        expect(doneValue(await update(intent, 3_000))).toMatchObject({ amountCents: 3_000 });
      },
    );

    test('cannot be updated after it is paid', async () => {
      const intent = await create({ method: methods.succeeds });
      await confirm(intent);
      expect(await update(intent, 3_000)).toMatchObject({ kind: 'refused' });
    });

    if (!forgets.intents)
      test('is refused in every operation if it does not exist', async () => {
        const absent: Intent = {
          id: newPaymentId(),
          report: { ...(await create()).report, intentId: 'absent' },
          wish: {},
        };
        expect(await provider.findPayment(ABSENT)).toMatchObject({ kind: 'refused' });
        expect(await update(absent, 3_000)).toMatchObject({ kind: 'refused' });
        expect(await cancel(absent)).toMatchObject({ kind: 'refused' });
        expect(await confirm(absent, methods.succeeds)).toMatchObject({ kind: 'refused' });
      });
  });

  testConfirmation(subject);
  testCancellation(subject);
};

const testConfirmation = ({ name, methods, paths, forgets, nextAction }: ProviderSubject): void => {
  describe(`a confirmation at ${name}`, () => {
    test('charges once, even if it is sent again', async () => {
      const intent = await create({ method: methods.succeeds });
      const first = doneValue(await confirm(intent));
      expect(first).toMatchObject({
        intentId: intent.report.intentId,
        status: 'succeeded',
        amountCents: AMOUNT,
        currency: 'USD',
        ourPaymentId: intent.id,
        attemptRef: expect.stringMatching(/./),
      });
      expect(doneValue(await confirm(intent))).toEqual(first);
      expect(await moneyMoved(intent.id)).toBe(1);
      const { status, paymentId, attemptRef } = first;
      expect(doneValue(await find(intent))).toMatchObject({ status, paymentId, attemptRef });
      expect(doneValue(await find(intent, { attemptRef }))).toMatchObject({ status, paymentId, attemptRef });
    });

    test('can name a method if the intent lacks one', async () => {
      const intent = await create();
      expect(doneValue(await confirm(intent, methods.succeeds))).toMatchObject({ status: 'succeeded' });
    });

    test.each(Object.entries(methods.declines))('is declined for %s: %s', async (method, code) => {
      const intent = await create({ method, amountCents: DECLINED_AMOUNT });
      const declined = await confirm(intent);
      expect(declined).toMatchObject({ kind: 'declined', code });
      expect(await confirm(intent)).toEqual(declined);
      const attemptRef = declined.kind === 'declined' ? declined.attemptRef : undefined;
      if (!forgets.declines) expect(attemptRef).toMatch(/./);
      expect(doneValue(await find(intent, { attemptRef, status: 'failed' }))).toMatchObject({
        status: 'failed',
        ...(attemptRef && { attemptRef, failureCode: code }),
      });
      expect(await moneyMoved(intent.id)).toBe(0);
    });

    test('can follow a declined confirmation, and then decides the outcome', async () => {
      const [method = ''] = Object.keys(methods.declines);
      const intent = await create({ method });
      const declined = await confirm(intent);
      const attemptRef = declined.kind === 'declined' ? declined.attemptRef : undefined;
      const paid = doneValue(await confirm(intent, methods.succeeds, { attempt: 2 }));
      expect(paid).toMatchObject({ status: 'succeeded' });
      expect(paid.attemptRef).not.toBe(attemptRef);
      expect(doneValue(await find(intent, { attemptRef }))).toMatchObject({
        status: 'succeeded',
        attemptRef: paid.attemptRef,
      });
      expect(await moneyMoved(intent.id)).toBe(1);
    });

    test.each(['succeeded', 'failed'] as const)('is processing first, and settles later: %s', async (status) => {
      const intent = await create({ method: methods.settlesLater[status] });
      const processing = doneValue(await confirm(intent));
      expect(processing).toMatchObject({ status: 'processing', attemptRef: expect.stringMatching(/./) });
      const { attemptRef } = processing;
      expect(doneValue(await find(intent))).toMatchObject({ status: 'processing', attemptRef });
      await rig.clock.advance(MINUTE_MS);
      expect(doneValue(await find(intent, { attemptRef }))).toMatchObject({ status, attemptRef });
      expect(await moneyMoved(intent.id)).toBe(status === 'succeeded' ? 1 : 0);
    });

    const { asksCustomer } = methods;
    const whoAsks = asksCustomer === undefined ? [] : [asksCustomer];
    test.each(whoAsks)('is pending for %s, which requires the customer', async (method) => {
      const intent = await create({ method });
      expect(doneValue(await confirm(intent))).toMatchObject({
        status: 'pending',
        nextAction: { type: nextAction },
      });
      expect(doneValue(await find(intent, { status: 'pending' }))).toMatchObject({ status: 'pending' });
    });

    test('is refused for an unknown method, and charges nothing', async () => {
      const intent = await create();
      expect(await confirm(intent, methods.unknown)).toMatchObject({
        kind: 'refused',
        parameter: expect.stringMatching(/^payment_method/),
      });
      expect(await moneyMoved(intent.id)).toBe(0);
    });

    test.each(FAULTS)('has an unknown outcome if it meets %s, and the retry charges once', async (action, reason) => {
      const intent = await create({ method: methods.succeeds });
      const first = await struck(action, paths.confirm, () => confirm(intent));
      expect(first).toEqual({ kind: 'unknown', reason });
      const reached = action === 'timeout_after' || action === 'malformed';
      expect(doneValue(await find(intent))).toMatchObject({ status: reached ? 'succeeded' : 'created' });
      expect(doneValue(await confirm(intent))).toMatchObject({ status: 'succeeded' });
      expect(await moneyMoved(intent.id)).toBe(1);
    });

    test.each(['before', 'after'] as const)(
      'has an unknown outcome if the connection is lost %s its execution',
      async (when) => {
        const intent = await create({ method: methods.lost[when] });
        expect(await impatiently(() => confirm(intent))).toEqual({ kind: 'unknown', reason: 'timeout' });
        expect(doneValue(await find(intent))).toMatchObject({ status: when === 'after' ? 'succeeded' : 'created' });
        expect(doneValue(await confirm(intent))).toMatchObject({ status: 'succeeded' });
        expect(await moneyMoved(intent.id)).toBe(1);
      },
    );

    test.each(FAULTS)(
      'has an unknown outcome if the lookup fails with %s, and the next lookup settles it',
      async (action, reason) => {
        const intent = await create({ method: methods.succeeds });
        await confirm(intent);
        const first = await struck(action, '', () => find(intent));
        expect(first).toEqual({ kind: 'unknown', reason });
        expect(doneValue(await find(intent))).toMatchObject({ status: 'succeeded' });
      },
    );
  });
};

const testCancellation = ({ name, methods, forgets }: ProviderSubject): void => {
  describe(`a cancellation at ${name}`, () => {
    if (!forgets.cancellations)
      test('makes an intent final', async () => {
        const intent = await create({ method: methods.succeeds });
        expect(doneValue(await cancel(intent))).toMatchObject({ status: 'canceled' });
        expect(doneValue(await find(intent))).toMatchObject({ status: 'canceled' });
        expect(await confirm(intent)).toMatchObject({ kind: 'refused' });
        expect(await update(intent, 3_000)).toMatchObject({ kind: 'refused' });
        expect(await moneyMoved(intent.id)).toBe(0);
      });

    if (!forgets.cancellations)
      test('cancels an intent whose attempts have failed', async () => {
        const [method = ''] = Object.keys(methods.declines);
        const intent = await create({ method });
        const declined = await confirm(intent);
        const attemptRef = declined.kind === 'declined' ? declined.attemptRef : undefined;
        await cancel(intent);
        expect(doneValue(await find(intent, { attemptRef }))).toMatchObject({ status: 'canceled' });
      });

    test.each(FAULTS)(
      'has an unknown outcome if it meets %s, and the retry cancels the intent',
      async (action, reason) => {
        const intent = await create();
        const first = await struck(action, '', () => cancel(intent));
        expect(first).toEqual({ kind: 'unknown', reason });
        expect(doneValue(await cancel(intent))).toMatchObject({ status: 'canceled' });
      },
    );

    test.each([
      ['paid', 'succeeds'],
      ['processing', 'settlesLater'],
    ] as const)('is refused for an intent that is %s', async (_, which) => {
      const method = which === 'succeeds' ? methods.succeeds : methods.settlesLater.succeeded;
      const intent = await create({ method });
      await confirm(intent);
      expect(await cancel(intent)).toMatchObject({ kind: 'refused' });
    });
  });
};

const testNoPayments = ({ name }: ProviderSubject): void => {
  test(`${name} refuses payments and methods without a call`, async () => {
    const key = { idempotencyKey: 'k' };
    const refusals = await Promise.all([
      provider.createIntent(intentInput('pay_1', {})),
      provider.findPayment(ABSENT),
      provider.cancelIntent({ ...ABSENT, ...key }),
      provider.keepMethod({ ...ABSENT, ...key, customerId: 'c' }),
      provider.attachMethod({ ...key, token: 't', customerId: 'c', paymentMethodId: 'pmt_1' }),
      provider.findMethod('m'),
      provider.detachMethod('m'),
    ]);
    for (const refusal of refusals) expect(refusal).toEqual({ kind: 'refused', reason: 'not_offered' });
    expect(rig.exchanges).toEqual([]);
    expect(rig.receiver).toBeUndefined();
    expect(provider.readEvent({})).toBeUndefined();
  });
};

const testCustomers = ({ name, paths }: ProviderSubject): void => {
  describe(`a customer at ${name}`, () => {
    test('is created once under its key, even if the call is repeated', async () => {
      const first = await createCustomer();
      expect(await createCustomer()).toEqual(first);
      expect((await ledger()).customers).toHaveLength(1);
    });

    test.each(FAULTS)(
      'has an unknown outcome if its creation meets %s, and is created once by the retry',
      async (action, reason) => {
        const first = await struck(action, paths.customers, () => createCustomer());
        expect(first).toEqual({ kind: 'unknown', reason });
        expect(await createCustomer()).toMatchObject({ kind: 'done' });
        expect((await ledger()).customers).toHaveLength(1);
      },
    );

    test('can be created without a name, e-mail or phone', async () => {
      const unnamed = { email: undefined, name: undefined, phone: undefined };
      const made = await provider.createCustomer({ ...unnamed, ourCustomerId: 'cust_2', idempotencyKey: 'k2' });
      expect(made).toMatchObject({ kind: 'done' });
    });

    test('is changed and cleared in the given fields only', async () => {
      const id = await customerId();
      const change = (fields: Partial<typeof person>, cleared: ('email' | 'name' | 'phone')[], key: string) =>
        provider.updateCustomer({
          email: undefined,
          name: undefined,
          phone: undefined,
          ...fields,
          cleared,
          customerId: id,
          idempotencyKey: key,
        });
      expect(await change({ email: 'new@example.com' }, [], 'u1')).toMatchObject({ kind: 'done' });
      expect(await ledger()).toMatchObject({ customers: [{ email: 'new@example.com', name: person.name }] });
      expect(await change({ name: 'Bea' }, ['phone'], 'u2')).toMatchObject({ kind: 'done' });
      expect(await ledger()).toMatchObject({ customers: [{ email: 'new@example.com', name: 'Bea' }] });
      expect(await change({}, ['name'], 'u3')).toMatchObject({ kind: 'done' });
      expect(await ledger()).toMatchObject({ customers: [{ email: 'new@example.com', name: null }] });
    });

    test('can be deleted twice with the same result', async () => {
      const id = await customerId();
      for (const _ of [1, 2])
        expect(await provider.deleteCustomer(id)).toEqual({ kind: 'done', value: { customerId: id } });
      expect(await ledger()).toMatchObject({ customers: [{ deleted: true }] });
      expect(
        await provider.updateCustomer({ ...person, cleared: [], customerId: id, idempotencyKey: 'u' }),
      ).toMatchObject({ kind: 'refused' });
    });

    test.each(FAULTS)(
      'has an unknown outcome if the deletion meets %s, and the retry deletes it once',
      async (action, reason) => {
        const id = await customerId();
        const first = await struck(action, paths.customers, () => provider.deleteCustomer(id));
        // Braintree's deletion response is empty, so it cannot be malformed.
        if (first.kind !== 'done') expect(first).toEqual({ kind: 'unknown', reason });
        expect(await provider.deleteCustomer(id)).toMatchObject({ kind: 'done' });
      },
    );
  });
};

const testMethods = (subject: ProviderSubject, can: PaymentProvider['can']): void => {
  const { name, methods, paths } = subject;
  describe(`a saved method at ${name}`, () => {
    test('is attached to its customer, found, and used for a payment', async () => {
      const method = doneValue(await attach(methods.attaches));
      const facts = {
        methodId: expect.any(String),
        customerId: expect.any(String),
        type: 'card',
        cardBrand: 'visa',
        lastFour: expect.stringMatching(/^\d{4}$/),
        expiryMonth: expect.stringMatching(/^(0[1-9]|1[0-2])$/),
        expiryYear: expect.stringMatching(/^20\d\d$/),
      };
      expect(method).toMatchObject(facts);
      expect(doneValue(await provider.findMethod(method.methodId))).toEqual(method);
      const intent = await create({ method: method.methodId, customerId: method.customerId ?? '' });
      expect(doneValue(await confirm(intent))).toMatchObject({ status: 'succeeded' });
    });

    test('is charged off-session once under its key', async () => {
      const { methodId: method, customerId: customer } = doneValue(await attach(methods.attaches));
      const intent = await create({ method, customerId: customer ?? '' });
      for (const _ of [1, 2])
        expect(doneValue(await confirm(intent, method, { offSession: true }))).toMatchObject({ status: 'succeeded' });
      expect(await moneyMoved(intent.id)).toBe(1);
      expect(rig.exchanges.findLast(({ path }) => path.includes(paths.confirm))?.sent).toContain(subject.unattended);
    });

    test.each(Object.entries(methods.declinesLater))(
      'succeeds as often as the test token %s allows, and is then declined',
      async (token, late) => {
        const { methodId: method, customerId: customer } = doneValue(await attach(token));
        const charge = async () =>
          confirm(await create({ method, customerId: customer ?? '', amountCents: DECLINED_AMOUNT }), method, {
            offSession: true,
          });
        for (let paid = 0; paid < late.pays; paid += 1) {
          expect(doneValue(await charge())).toMatchObject({ status: 'succeeded' });
        }
        for (const _ of [1, 2]) expect(await charge()).toMatchObject({ kind: 'declined', code: late.code });
      },
    );

    test('is attached once under its key, even if the call is repeated', async () => {
      const first = await attach(methods.attaches);
      expect(await attach(methods.attaches)).toEqual(first);
    });

    test.each(FAULTS)(
      'has an unknown outcome if attaching meets %s, and the retry attaches it once',
      async (action, reason) => {
        const customer = await customerId();
        const first = await struck(action, paths.attach, () => attach(methods.attaches, customer));
        expect(first).toEqual({ kind: 'unknown', reason });
        await rig.control('DELETE', '/faults');
        expect(await attach(methods.attaches)).toMatchObject({ kind: 'done' });
      },
    );

    test('is not attached if its bank declines it', async () => {
      expect(await attach(methods.declinesToAttach)).toMatchObject({ kind: 'declined', code: 'do_not_honor' });
    });

    test('is refused if it is not known', async () => {
      expect(await attach(methods.unknown)).toMatchObject({ kind: 'refused' });
      expect(await provider.findMethod('absent')).toMatchObject({ kind: 'refused' });
    });

    test('can be detached twice with the same result, and then cannot be charged', async () => {
      const method = doneValue(await attach(methods.attaches));
      const { methodId } = method;
      for (const _ of [1, 2])
        expect(await provider.detachMethod(methodId)).toEqual({ kind: 'done', value: { methodId } });
      expect(await provider.detachMethod('absent')).toMatchObject({ kind: 'done' });
      const intent = await create({ customerId: method.customerId ?? '' });
      expect(await confirm(intent, methodId)).toMatchObject({ kind: 'refused' });
    });

    test('is saved once from a payment that requests it', async () => {
      const customer = await customerId();
      const { approvedBy: payer, succeeds: method } = methods;
      const intent = await create({ ...(!payer && { method }), customerId: customer, saveMethod: true });
      if (payer) await rig.control('POST', `/payments/${intent.id}/authenticate`, { outcome: 'success', payer });
      const { attemptRef } = doneValue(await confirm(intent));
      const keep = () =>
        provider.keepMethod({
          ...known(intent, { attemptRef, status: 'succeeded' }),
          customerId: customer,
          idempotencyKey: `${intent.id}:keep`,
        });
      const kept = doneValue(await keep());
      expect(kept).toMatchObject({ type: 'card', cardBrand: 'visa' });
      expect([kept.customerId, kept.ourCustomerId]).toContain(customer);
      expect(doneValue(await keep())).toEqual(kept);
      const next = await create({ method: kept.methodId, customerId: customer });
      expect(doneValue(await confirm(next))).toMatchObject({ status: 'succeeded' });
    });

    test('is not saved from a failed payment', async () => {
      const intent = await create();
      const wanted = { ...known(intent), customerId: await customerId(), idempotencyKey: 'k' };
      expect(await provider.keepMethod(wanted)).toMatchObject({ kind: 'refused' });
    });

    if (can.billingDetails) testBilling(subject);
    else {
      test('accepts no billing details', async () => {
        const wanted = { methodId: 'm', billing: BILLING, idempotencyKey: 'k' };
        expect(await provider.updateBilling(wanted)).toEqual({ kind: 'refused', reason: 'not_offered' });
      });
    }
    if (can.rawCards) testRawCards();
    else {
      test('refuses a raw card without a call', async () => {
        const answer = await provider.tokenizeCard({ ...CARD, idempotencyKey: 'k' });
        expect(answer).toEqual({ kind: 'refused', reason: 'not_offered' });
        expect(rig.exchanges).toEqual([]);
      });
    }
  });
};

const BILLING = {
  name: 'Ana',
  line1: 'Rua 1',
  line2: undefined,
  city: 'Porto',
  state: undefined,
  postalCode: '4000-001',
  country: 'PT',
};
const CARD = { number: '4242424242424242', expiryMonth: '12', expiryYear: '2034', cvc: '123' };

const testBilling = ({ methods }: ProviderSubject): void => {
  test('accepts billing details', async () => {
    const { methodId } = doneValue(await attach(methods.attaches));
    const wanted = { methodId, billing: BILLING, idempotencyKey: 'k' };
    expect(await provider.updateBilling(wanted)).toMatchObject({ kind: 'done', value: { methodId } });
  });
};

const testRawCards = (): void => {
  test('can be created from a raw card through a token', async () => {
    const { token } = doneValue(await provider.tokenizeCard({ ...CARD, idempotencyKey: 'k' }));
    expect(await attach(token)).toMatchObject({ kind: 'done', value: { lastFour: '4242' } });
  });
};

const verify = ({ headers, body }: Pick<SimulatorDelivery, 'headers' | 'body'>) =>
  rig.receiver?.verifyWebhook({ raw: Buffer.from(body), headers, now: rig.clock.now() });

const testEvents = ({ name, methods, paymentEvents, forgets }: ProviderSubject): void => {
  describe(`the webhooks of ${name}`, () => {
    test('are verified and read for a payment that succeeds', async () => {
      const intent = await create({ method: methods.succeeds });
      const { attemptRef, paymentId } = doneValue(await confirm(intent));
      const seen = await eventsAbout(intent);
      expect(seen.map(({ type }) => type)).toEqual(paymentEvents.succeeded);
      const last = seen.at(-1);
      expect(last).toMatchObject({ createdAt: Math.floor(rig.clock.now() / 1_000) });
      expect(last?.object).toMatchObject({
        id: paymentId,
        amountCents: AMOUNT,
        currency: 'USD',
        attemptRef,
        ourPaymentId: intent.id,
      });
      expect([last?.object.id, last?.object.intentId]).toContain(intent.report.intentId);
    });

    test('are verified and read for a payment that is declined', async () => {
      const [method, code] = Object.entries(methods.declines).at(-1) ?? [];
      const intent = await create({ method: method ?? '' });
      await confirm(intent);
      const seen = await eventsAbout(intent);
      expect(seen.map(({ type }) => type)).toEqual(paymentEvents.failed);
      expect(seen.at(-1)?.object).toMatchObject({ failureCode: code, ourPaymentId: intent.id });
    });

    test('report a method and a customer', async () => {
      const { methodId, customerId: customer } = doneValue(await attach(methods.attaches));
      await provider.detachMethod(methodId);
      await provider.updateCustomer({
        ...person,
        name: 'Bea Silva',
        cleared: [],
        customerId: customer ?? '',
        idempotencyKey: 'u',
      });
      await provider.deleteCustomer(customer ?? '');
      const seen = (await rig.delivered()).map(({ body }) => provider.readEvent(JSON.parse(body)));
      const types = seen.map((event) => event?.type).filter((type) => type !== undefined);
      expect(types.toSorted()).toEqual([
        ...(forgets.customers ? [] : ['customer.created', 'customer.deleted', 'customer.updated']),
        'payment_method.attached',
        'payment_method.detached',
        ...(provider.setups ? ['setup_intent.succeeded'] : []),
      ]);
      const said = (type: InboundEventType) => seen.find((event) => event?.type === type)?.object;
      expect(said('payment_method.attached')).toMatchObject({ id: methodId, method: { cardBrand: 'visa' } });
      if (forgets.customers) return;
      expect(said('customer.updated')).toMatchObject({ id: customer, customer: { ...person, name: 'Bea Silva' } });
      expect(said('customer.deleted')).toMatchObject({ id: customer });
    });

    test('are refused without a signature, with a wrong signature, or with another body', async () => {
      await confirm(await create({ method: methods.succeeds }));
      const [event] = await rig.delivered();
      if (!event) throw new Error('nothing was delivered');
      expect(await verify(event)).toBe('valid');
      expect(await verify({ ...event, headers: {} })).toBe('invalid');
      expect(await verify({ ...event, body: `${event.body} ` })).toBe('invalid');
      const [signature = ''] = Object.keys(event.headers).filter((header) => header.includes('-sig'));
      const [from = '', to = ''] = event.headers[signature]?.endsWith('a') ? ['a', 'b'] : [/.$/, 'a'];
      const changed = { ...event.headers, [signature]: String(event.headers[signature]).replace(from, to) };
      expect(await verify({ ...event, headers: changed })).toBe('invalid');
    });

    test('are also read in the interface’s own format, but not in an invalid form', async () => {
      const object = { id: 'x1', amount: 2_500, currency: 'usd', status: 'succeeded', customer: null };
      const event = {
        id: 'e1',
        type: 'payment_intent.succeeded',
        provider: 'p',
        data: { object },
        created: 1_900_000_000,
      };
      expect(provider.readEvent(event)).toMatchObject({
        id: 'e1',
        rawType: 'payment_intent.succeeded',
        type: 'payment_intent.succeeded',
        createdAt: 1_900_000_000,
        object: { id: 'x1', amountCents: 2_500, currency: 'USD' },
      });
      expect(provider.readEvent({ ...event, type: 'something.else' })).toMatchObject({ type: undefined });
      for (const junk of [null, 1, 'x', [], {}, { id: 'e1' }, { ...event, data: {} }]) {
        expect(provider.readEvent(junk)).toBeUndefined();
      }
    });
  });
};

/** Verifies all events. @returns the payment's events of the types that the service processes, in sending order */
const eventsAbout = async (intent: Intent) => {
  const sent = await rig.delivered();
  for (const event of sent) expect(await verify(event)).toBe('valid');
  return sent
    .map(({ body }) => provider.readEvent(JSON.parse(body)))
    .filter((event) => event !== undefined)
    .filter(({ type, object }) => type !== undefined && object.ourPaymentId === intent.id);
};
