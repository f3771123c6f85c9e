import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { REFUND_REASONS } from '../../shared/core/money-back.ts';
import type { Outcome } from '../../shared/core/outcome.ts';
import { HOUR_MS, MINUTE_MS } from '../../shared/core/time.ts';
import {
  check,
  type DescribedOperation,
  operationsOf,
  queryProblems,
  schemaProblemsOf,
  strangersIn,
} from './openapi-check.ts';
import { openRig, type ProviderRig } from './provider-rig.ts';
import { SQUARE } from './provider-subjects.ts';
import type { WireExchange } from './vendor-files.ts';

/**
 * Square's own API description is not part of this project. If a copy is next to the project, the tests compare
 * with it.
 */
const PLACES = ['../contracts/square', '../shared/contracts/square'];
const folder = PLACES.map((place) => resolve(import.meta.dirname, '../..', place)).find(existsSync);

const done = async <T>(outcome: Promise<Outcome<T>>): Promise<T> => {
  const { kind, ...rest } = await outcome;
  if (kind === 'done' && 'value' in rest) return rest.value;
  throw new Error(`not done: ${kind} ${JSON.stringify(rest)}`);
};

const AMOUNT = { amountCents: 2_500, currency: 'USD', returnUrl: undefined };
const EVENTS: Readonly<Record<string, string>> = {
  'payment.created': 'PaymentCreatedEvent',
  'payment.updated': 'PaymentUpdatedEvent',
  'card.created': 'CardCreatedEvent',
  'card.disabled': 'CardDisabledEvent',
  'customer.created': 'CustomerCreatedEvent',
  'customer.updated': 'CustomerUpdatedEvent',
  'customer.deleted': 'CustomerDeletedEvent',
  'order.created': 'OrderCreatedEvent',
  'order.updated': 'OrderUpdatedEvent',
  'refund.created': 'RefundCreatedEvent',
  'refund.updated': 'RefundUpdatedEvent',
  'dispute.created': 'DisputeCreatedEvent',
  'dispute.state.updated': 'DisputeStateUpdatedEvent',
};

describe.skipIf(folder === undefined)(
  'requests to Square and responses of the simulator (skipped without Square’s API description)',
  () => {
    let rig: ProviderRig;
    let operations: readonly DescribedOperation[] = [];
    let payments = 0;

    beforeAll(async () => {
      rig = await openRig(SQUARE);
      operations = operationsOf(readFileSync(resolve(folder ?? '', 'api.json'), 'utf8'));
      await everyOperation();
    });
    afterAll(() => rig.close());

    interface Wish {
      readonly method?: string;
      readonly customerId?: string;
      readonly captureMethod?: 'manual';
    }
    const intent = async ({ method, customerId, captureMethod }: Wish = {}) => {
      payments += 1;
      const paymentId = `pay_${String(payments).padStart(24, '0')}`;
      const input = {
        ...{ ...AMOUNT, paymentId, description: 'Two books', method, customerId, saveMethod: false },
        captureMethod,
      };
      const made = await done(rig.provider.createIntent({ ...input, idempotencyKey: `${paymentId}:create` }));
      return { ...input, intentId: made.intentId };
    };
    type Made = Awaited<ReturnType<typeof intent>>;
    const confirm = (made: Made, verificationToken?: string) =>
      rig.provider.confirmIntent({ ...made, verificationToken, idempotencyKey: `${made.paymentId}:confirm` });
    const known = ({ intentId, method, captureMethod }: Made) =>
      ({ intentId, method, captureMethod, attemptRef: undefined, status: 'created' }) as const;

    /** Calls about holds that are fully captured, partly captured, released, declined, lost or expired. */
    const holds = async (): Promise<void> => {
      const { holds: port } = rig.provider;
      if (!port) throw new Error('Square holds amounts; absence is a bug');
      const { succeeds, declines } = SQUARE.methods;
      const [declined = ''] = Object.keys(declines);
      const hold = async (method: string = succeeds) => {
        const made = await intent({ method, captureMethod: 'manual' });
        const { paymentId: providerPaymentId } = await done(confirm(made));
        const input = { ...known(made), ...AMOUNT, paymentId: made.paymentId, providerPaymentId };
        return { made, input: { ...input, authorizedCents: 2_500, idempotencyKey: `${made.paymentId}:end` } };
      };
      for (const amountCents of [2_500, 1_000]) {
        const { input } = await hold();
        await done(port.capture({ ...input, amountCents }));
        await port.release(input);
      }
      const { made, input } = await hold();
      await done(rig.provider.findPayment(known(made)));
      await done(port.release(input));
      await port.release(input);
      await port.capture({ ...(await hold('cnon:sim-capture-declined')).input, amountCents: 1_000 });
      await hold('cnon:sim-hold-1h');
      await rig.clock.advance(HOUR_MS);
      const refused = await intent({ method: declined, captureMethod: 'manual' });
      await confirm(refused);
      await done(rig.provider.findPayment(known(refused)));
      await done(rig.provider.cancelIntent({ ...known(refused), idempotencyKey: 'x2' }));
    };

    /** Calls about refunds that succeed, fail or are refused, and about disputes in every state. */
    const moneyBack = async (): Promise<void> => {
      const { refunds } = rig.provider;
      if (!refunds) throw new Error('Square gives money back; absence is a bug');
      const paid = await intent({ method: SQUARE.methods.succeeds });
      const { paymentId } = await done(confirm(paid));
      const payment = { intentId: paid.intentId, paymentId };
      for (const [n, reason] of [undefined, ...REFUND_REASONS].entries()) {
        const refundId = `ref_${String(n).padStart(24, '0')}`;
        const input = { payment, refundId, reason, amountCents: 100, currency: 'USD', idempotencyKey: refundId };
        const made = await done(refunds.createRefund(input));
        if (n > 1) await rig.control('POST', `/refunds/${made.refundId}`, { status: 'failed' });
        await refunds.createRefund({ ...input, amountCents: 5_000, idempotencyKey: `${refundId}:too-much` });
      }
      await rig.clock.advance(MINUTE_MS);
      for (const inquiry of [false, true]) {
        for (const status of ['needs_response', 'under_review', 'won', 'lost', 'closed']) {
          await rig.control('POST', `/payments/${paid.paymentId}/disputes`, { inquiry, status });
        }
      }
      await done(refunds.listRefunds(payment));
      await done(refunds.listDisputes(payment));
      await refunds.listRefunds({ ...payment, paymentId: 'absent' });
    };

    const everyOperation = async (): Promise<void> => {
      const { provider } = rig;
      expect(await provider.checkAmount(AMOUNT)).toBeUndefined();
      const person = { email: 'ana@example.com', name: 'Ana Silva', phone: '+351 210 000 000' };
      const ourCustomerId = 'cust_000000000000000000000001';
      const { customerId } = await done(provider.createCustomer({ ...person, ourCustomerId, idempotencyKey: 'c' }));
      const unnamed = { email: undefined, name: undefined, phone: undefined };
      await done(provider.createCustomer({ ...unnamed, ourCustomerId: 'cust_2', idempotencyKey: 'c2' }));
      await done(
        provider.updateCustomer({ ...unnamed, name: 'Bea', cleared: ['phone'], customerId, idempotencyKey: 'u' }),
      );
      const { methodId } = await done(
        provider.attachMethod({
          token: SQUARE.methods.succeeds,
          customerId,
          paymentMethodId: 'pmt_1',
          idempotencyKey: 'a',
        }),
      );
      await done(provider.findMethod(methodId));
      await provider.attachMethod({
        paymentMethodId: 'pmt_1',
        token: SQUARE.methods.declinesToAttach,
        customerId,
        idempotencyKey: 'a2',
      });
      const asks = 'cnon:card-nonce-requires-verification';
      for (const verificationToken of [undefined, 'made up', 'verf:1']) {
        const idempotencyKey = `verified-${verificationToken}`;
        await provider.attachMethod({
          paymentMethodId: 'pmt_1',
          token: asks,
          customerId,
          verificationToken,
          idempotencyKey,
        });
        await confirm(await intent({ method: asks, customerId }), verificationToken);
      }
      const { declines, settlesLater, succeeds, unknown } = SQUARE.methods;
      const sources = [...Object.keys(declines), ...Object.values(settlesLater), succeeds, unknown, methodId];
      for (const method of sources) {
        const made = await intent({ method, customerId });
        await confirm(made);
        await done(provider.findPayment(known(made)));
        if (method !== succeeds) continue;
        await done(provider.keepMethod({ ...known(made), customerId, idempotencyKey: 'keep' }));
      }
      await rig.clock.advance(MINUTE_MS);
      const open = await intent();
      await done(provider.updateIntent({ ...open, amountCents: 3_000, idempotencyKey: 'u1' }));
      await done(provider.cancelIntent({ ...known(open), idempotencyKey: 'x1' }));
      await confirm({ ...open, method: succeeds });
      await provider.findPayment({ ...known(open), intentId: 'absent' });
      await moneyBack();
      await holds();
      await done(provider.detachMethod(methodId));
      await done(provider.deleteCustomer(customerId));
      await rig.reopen({ ...SQUARE.settings, ACCESS_TOKEN: 'wrong' })?.findPayment(known(open));
    };

    const operationOf = ({ method, path }: WireExchange): DescribedOperation | undefined =>
      operations.find(
        (one) => one.method === method && new RegExp(`^/square${one.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
      );

    /** The problems of a call. Square describes a single response per operation, with `errors`, for every status. */
    const problemsIn = (exchange: WireExchange): string[] => {
      const operation = operationOf(exchange);
      const answer = operation?.answers.get('200');
      if (!operation || !answer) return [`${exchange.method} ${exchange.path} is not in the document`];
      const { api, request } = operation;
      const at = `${exchange.method} ${operation.path}`;
      const sent: unknown = exchange.sent === '' ? undefined : JSON.parse(exchange.sent);
      return [
        ...queryProblems(operation, exchange.search),
        ...(sent === undefined || !request ? [] : check(api, request, { value: sent, at: `${at} sends` })),
        ...strangersIn(api, request, { value: sent, at: `${at} sends` }),
        ...check(api, answer, { value: JSON.parse(exchange.answered), at: `${at} ${exchange.status}` }),
      ];
    };

    test('match Square’s description', () => {
      expect(rig.exchanges.flatMap(problemsIn)).toEqual([]);
      const kinds = new Set(rig.exchanges.map((one) => `${one.method} ${operationOf(one)?.path} ${one.status}`));
      expect(kinds.size).toBeGreaterThan(15);
    });

    test('match Square’s description in all events, and each event contains its object', async () => {
      const [{ api } = { api: undefined }] = operations;
      const delivered = (await rig.delivered()).map(({ body }) => JSON.parse(body));
      expect(new Set(delivered.map(({ type }) => type))).toEqual(new Set(Object.keys(EVENTS)));
      for (const event of delivered) {
        if (api) expect(schemaProblemsOf(api, EVENTS[event.type] ?? event.type, event)).toEqual([]);
        expect(event.data.object[event.data.type]).toBeTypeOf('object');
      }
    });

    test('are reported if they violate the description', () => {
      const charge = rig.exchanges.find(({ method, path }) => method === 'POST' && path.endsWith('/payments'));
      if (!charge) throw new Error('nothing was charged');
      const body = JSON.parse(charge.sent);
      const wrong = (fields: object) => problemsIn({ ...charge, sent: JSON.stringify({ ...body, ...fields }) });
      expect(wrong({})).toEqual([]);
      expect(wrong({ idempotency_key: 'x'.repeat(46) })).toHaveLength(1);
      expect(wrong({ reference_id: 'x'.repeat(41) })).toHaveLength(1);
      expect(wrong({ amount_money: { amount: '2500', currency: 'USD' } })).toHaveLength(1);
      expect(wrong({ amount_money: { amount: 2_500, currency: 'usd' } })).toHaveLength(1);
      expect(wrong({ source_id: undefined })).toHaveLength(1);
      expect(wrong({ source: 'cnon:card-nonce-ok' })).toHaveLength(1);
      expect(problemsIn({ ...charge, answered: '{"payment":{"id":1}}' })).toHaveLength(1);
    });
  },
);
