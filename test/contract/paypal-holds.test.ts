import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Outcome } from '../../shared/core/outcome.ts';
import { DAY_MS, HOUR_MS, iso, MINUTE_MS } from '../../shared/core/time.ts';
import type { HoldsPort } from '../../shared/providers/hold-port.ts';
import type { ConfirmIntent, ProviderPayment } from '../../shared/providers/payment-port.ts';
import { testHolds } from './holds-suite.ts';
import { openRig, type ProviderRig } from './provider-rig.ts';
import { PAYPAL } from './provider-subjects.ts';

const CAPTURE = { method: 'POST', path: '/capture' } as const;

testHolds({
  subject: PAYPAL,
  days: 29,
  guaranteedDays: 3,
  methods: { captureDeclined: 'SIM-CAPTURE-DECLINED', endsInAnHour: 'SIM-HOLD-1H' },
  takes: [
    ['SIM-OK', 'wallet', true],
    ['SIM-CARD', 'card', true],
    ['SIM-OK', undefined, true],
    ['SIM-OK', 'bank_account', false],
  ],
  calls: { hold: { method: 'POST', path: '/authorize' }, release: { method: 'POST', path: '/void' } },
  captures: { all: [CAPTURE], part: [CAPTURE] },
});

const PAYMENT_ID = 'pay_000000000000000000000001';
const AMOUNT = { amountCents: 2_500, currency: 'USD', customerId: undefined, returnUrl: 'https://shop.example/back' };

let rig: ProviderRig;
beforeEach(async () => {
  rig = await openRig(PAYPAL);
});
afterEach(() => rig.close());

const doneValue = <T>(outcome: Outcome<T>): T => {
  if (outcome.kind === 'done') return outcome.value;
  throw new Error(`not done: ${JSON.stringify(outcome)}`);
};

const create = async (method?: string, wish: Partial<typeof AMOUNT> & { captureMethod?: 'manual' | undefined } = {}) =>
  doneValue(
    await rig.provider.createIntent({
      ...AMOUNT,
      captureMethod: 'manual',
      ...wish,
      idempotencyKey: 'create',
      paymentId: PAYMENT_ID,
      description: 'Two books',
      method,
      saveMethod: false,
    }),
  );

let attempts = 0;
const confirm = ({ intentId }: ProviderPayment, method?: string, charged: Partial<ConfirmIntent> = {}) => {
  attempts += 1;
  return rig.provider.confirmIntent({
    ...AMOUNT,
    captureMethod: 'manual',
    ...charged,
    idempotencyKey: `${PAYMENT_ID}:confirm:${attempts}`,
    intentId,
    paymentId: PAYMENT_ID,
    method,
  });
};

const known = ({ intentId, attemptRef }: ProviderPayment, status: ProviderPayment['status'] = 'processing') =>
  ({ intentId, attemptRef, method: undefined, status, captureMethod: 'manual' }) as const;
const find = async (made: ProviderPayment, status?: ProviderPayment['status']) =>
  doneValue(await rig.provider.findPayment(known(made, status)));
const update = ({ intentId }: ProviderPayment, captureMethod: 'manual' | undefined) =>
  rig.provider.updateIntent({
    ...AMOUNT,
    captureMethod,
    idempotencyKey: 'update',
    intentId,
    description: 'Two books',
    method: undefined,
    saveMethod: false,
  });
const approve = (payer = 'SIM-OK') =>
  rig.control('POST', `/payments/${PAYMENT_ID}/authenticate`, { outcome: 'success', payer });

const holds = (): HoldsPort => {
  if (rig.provider.holds) return rig.provider.holds;
  throw new Error('PayPal must have holds; absence is a bug');
};
const held = (report: ProviderPayment, amountCents = 2_500) => ({
  ...known(report, 'requires_capture'),
  ...AMOUNT,
  paymentId: PAYMENT_ID,
  providerPaymentId: report.paymentId,
  authorizedCents: 2_500,
  amountCents,
  idempotencyKey: `${PAYMENT_ID}:capture:0`,
});

const ending = (report: ProviderPayment) => ({ ...held(report), idempotencyKey: `${PAYMENT_ID}:release` });

const calls = () =>
  rig.exchanges
    .filter(({ path }) => !path.includes('oauth2'))
    .map(({ method, path }) => `${method} ${path.split('/').at(-1)}`);
const sentTo = (end: string) =>
  rig.exchanges.filter(({ path }) => path.endsWith(end)).map(({ sent }) => JSON.parse(sent || '{}'));
const charges = async () =>
  (await rig.control<{ charges: { status: string; authorized: number; captured: number }[] }>('GET', '/ledger'))
    .charges;

describe('an order with a hold approved by the payer', () => {
  test('waits for its authorization after the approval, and is then held without a capture', async () => {
    const made = await create();
    expect(sentTo('/orders')[0]).toMatchObject({ intent: 'AUTHORIZE' });
    expect(doneValue(await confirm(made))).toMatchObject({ status: 'pending', nextAction: made.nextAction });
    await approve('SIM-CARD');
    expect(await find(made, 'pending')).toMatchObject({ status: 'pending', awaitsCapture: true });
    const report = doneValue(await confirm(made));
    expect(report).toMatchObject({
      status: 'requires_capture',
      nextAction: undefined,
      facts: { details: { type: 'card' } },
    });
    expect(report).not.toHaveProperty('awaitsCapture');
    expect(report.paymentId).not.toBe(made.intentId);
    expect(calls()).not.toContain('POST capture');
    expect(await charges()).toMatchObject([{ status: 'pending', authorized: 2_500, captured: 0 }]);
  });

  test('is authorized once, even if it is confirmed again', async () => {
    const made = await create();
    await approve();
    const first = doneValue(await confirm(made));
    expect(doneValue(await confirm(made))).toMatchObject({ status: 'requires_capture', paymentId: first.paymentId });
    expect(await charges()).toHaveLength(1);
  });

  test('gets another intent only if an update changes the capture method', async () => {
    const made = await create();
    for (const captureMethod of ['manual', undefined, undefined, 'manual'] as const)
      expect(await update(made, captureMethod)).toMatchObject({ kind: 'done' });
    const patches = rig.exchanges.filter(({ method }) => method === 'PATCH').map(({ sent }) => JSON.parse(sent));
    expect(patches).toEqual([
      [{ op: 'replace', path: '/intent', value: 'CAPTURE' }],
      [{ op: 'replace', path: '/intent', value: 'AUTHORIZE' }],
    ]);
  });

  test.each([
    ['manual', undefined],
    [undefined, 'manual'],
  ] as const)('is refused and holds nothing if created as %s and confirmed as %s', async (captureMethod, confirmed) => {
    const made = await create('SIM-OK', { captureMethod });
    expect(await confirm(made, 'SIM-OK', { captureMethod: confirmed })).toMatchObject({
      kind: 'refused',
      reason: 'ACTION_DOES_NOT_MATCH_INTENT',
    });
    expect(await charges()).toEqual([]);
  });
});

describe('an authorization at PayPal', () => {
  test('reports a decline if the bank denies the card, and the order cannot be authorized again', async () => {
    const made = await create('SIM-NSF');
    const denied = await confirm(made, 'SIM-NSF');
    expect(denied).toMatchObject({
      kind: 'declined',
      code: 'insufficient_funds',
      attemptRef: expect.stringMatching(/^A/),
    });
    expect(await find(made, 'failed')).toMatchObject({ status: 'failed', failureCode: 'insufficient_funds' });
    expect(await find(made, 'failed')).not.toHaveProperty('hold');
    expect(await confirm(made, 'SIM-OK')).toEqual({ kind: 'refused', reason: 'intent_spent' });
  });

  test.each([
    ['SIM-PENDING-OK', 'requires_capture', 'payment_intent.amount_capturable_updated'],
    ['SIM-PENDING-FAIL', 'failed', undefined],
  ])('with the method %s is processing while pending, and then %s', async (method, status, type) => {
    const made = await create(method);
    const pending = doneValue(await confirm(made, method));
    expect(pending).toMatchObject({ status: 'processing' });
    expect(pending).not.toHaveProperty('hold');
    expect(await holds().capture(held(pending))).toMatchObject({ kind: 'declined' });
    expect(await holds().release(ending(pending))).toMatchObject({ kind: 'refused' });
    await rig.clock.advance(MINUTE_MS);
    expect(await find(made)).toMatchObject({ status, paymentId: pending.paymentId });
    const events = (await rig.delivered()).map(({ body }) => rig.provider.readEvent(JSON.parse(body))?.type);
    expect(events).toEqual(['payment_intent.processing', ...(type ? [type] : [])]);
  });

  test('remains after a cancellation of its order', async () => {
    const made = await create('SIM-OK');
    const report = doneValue(await confirm(made, 'SIM-OK'));
    expect(await rig.provider.cancelIntent({ ...known(report), idempotencyKey: 'cancel' })).toMatchObject({
      kind: 'refused',
    });
    expect(await find(report, 'requires_capture')).toMatchObject({ status: 'requires_capture' });
  });

  test('is captured by one call, which ends the hold and names our payment', async () => {
    rig.exchanges.length = 0;
    const report = doneValue(await confirm(await create('SIM-OK'), 'SIM-OK', { methodKind: 'wallet' }));
    rig.exchanges.length = 0;
    const captured = doneValue(await holds().capture(held(report, 1_000)));
    expect(calls()).toEqual(['POST capture']);
    expect(sentTo('/capture')).toEqual([
      { amount: { currency_code: 'USD', value: '10.00' }, final_capture: true, invoice_id: PAYMENT_ID },
    ]);
    expect(captured).toMatchObject({ attemptRef: report.attemptRef, ourPaymentId: PAYMENT_ID });
    expect(captured.facts?.settlement).toMatchObject({ feeCents: 84, netCents: 916, currency: 'USD' });
    expect(await find(report, 'requires_capture')).toMatchObject({
      paymentId: captured.paymentId,
      attemptRef: report.attemptRef,
      facts: { settlement: captured.facts?.settlement },
    });
  });

  test('is released by one call, and a read of the order confirms the release', async () => {
    const report = doneValue(await confirm(await create('SIM-OK'), 'SIM-OK'));
    await rig.clock.advance(HOUR_MS);
    rig.exchanges.length = 0;
    expect(doneValue(await holds().release(ending(report)))).toMatchObject({
      status: 'canceled',
      hold: { ...report.hold, capturableCents: 0, endedAt: iso(rig.clock.now()) },
    });
    expect(calls()).toEqual(['POST void', `GET ${report.intentId}`]);
  });

  test('cannot be captured in an amount that PayPal cannot express, and the refusal needs no call', async () => {
    const report = doneValue(await confirm(await create('SIM-OK', { currency: 'HUF' }), 'SIM-OK', { currency: 'HUF' }));
    rig.exchanges.length = 0;
    const part = { ...held(report, 1_250), currency: 'HUF' };
    expect(await holds().capture(part)).toMatchObject({ kind: 'refused', parameter: 'amount' });
    expect(calls()).toEqual([]);
    expect(doneValue(await holds().capture({ ...part, amountCents: 1_200 }))).toMatchObject({ amountCents: 1_200 });
  });

  test('is unchanged by a declined capture, as a read after the decline’s event shows', async () => {
    const report = doneValue(await confirm(await create('SIM-CAPTURE-DECLINED'), 'SIM-CAPTURE-DECLINED'));
    expect(await holds().capture(held(report))).toMatchObject({ kind: 'declined', attemptRef: report.attemptRef });
    const events = (await rig.delivered()).map(({ body }) => rig.provider.readEvent(JSON.parse(body)));
    expect(events.at(-1)).toMatchObject({
      type: 'payment_intent.failed',
      object: { intentId: report.intentId, attemptRef: report.attemptRef },
    });
    expect(await find(report, 'requires_capture')).toMatchObject({
      status: 'requires_capture',
      paymentId: report.paymentId,
      hold: report.hold,
    });
  });

  test('stays held with nothing capturable during a pending capture, and is then captured', async () => {
    const report = doneValue(await confirm(await create('SIM-CAPTURE-PENDING'), 'SIM-CAPTURE-PENDING'));
    const pending = { status: 'requires_capture', paymentId: report.paymentId, hold: { capturableCents: 0 } };
    expect(doneValue(await holds().capture(held(report, 1_000)))).toMatchObject({ ...pending, amountCents: 2_500 });
    expect(await find(report, 'requires_capture')).toMatchObject({ ...pending, amountCents: 2_500 });
    expect(await holds().release(ending(report))).toMatchObject({ kind: 'refused' });
    expect(await charges()).toMatchObject([{ authorized: 2_500, captured: 0 }]);
    await rig.clock.advance(DAY_MS);
    expect(await find(report, 'requires_capture')).toMatchObject({ status: 'succeeded', amountCents: 1_000 });
    expect(await charges()).toMatchObject([{ authorized: 2_500, captured: 1_000 }]);
    const events = (await rig.delivered()).map(({ body }) => rig.provider.readEvent(JSON.parse(body)));
    expect(events.map((event) => event?.type).slice(-2)).toEqual(['payment_intent.succeeded', undefined]);
    expect(events.at(-2)?.object).toMatchObject({ amountCents: 1_000, attemptRef: report.attemptRef });
  });

  test('shows the merchant’s descriptor on the payer’s statement', async () => {
    const provider = rig.reopen({ ...PAYPAL.settings, STATEMENT_DESCRIPTOR: 'Gold Club' });
    const report = doneValue(await confirm(await create('SIM-OK'), 'SIM-OK'));
    doneValue((await provider?.holds?.capture(held(report))) ?? { kind: 'refused', reason: 'closed' });
    expect(sentTo('/capture')).toMatchObject([{ soft_descriptor: 'Gold Club' }]);
  });
});
