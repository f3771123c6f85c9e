import { describe, expect, test } from 'vitest';
import type { Outcome } from '../../shared/core/outcome.ts';
import { providerReference } from '../../shared/payments/payment-versions.ts';
import type { PaymentProvider } from '../../shared/providers/provider.ts';
import { requireDone, unknownOutcomeError } from '../../shared/providers/unwrap.ts';
import { payment } from '../builders/payment.ts';
import { refusalOf } from '../builders/refusal.ts';
import { answers, paymentIntent, refuses, stripeThatAnswers } from '../builders/stripe.ts';

const known = providerReference(payment());
const money = { amountCents: 2_500, currency: 'USD', customerId: undefined };
const idempotencyKey = 'pay_1:confirm:1';
const CONFIRM = {
  ...money,
  idempotencyKey,
  intentId: 'pi_1',
  paymentId: 'pay_1',
  method: 'pm_1',
  returnUrl: undefined,
};

const confirm = (provider: PaymentProvider) => provider.confirmIntent(CONFIRM);
type Answer = Parameters<typeof stripeThatAnswers>[0];
const outcome = (answer: Answer) => confirm(stripeThatAnswers(answer).provider());

describe('the outcome of a confirmation', () => {
  test('is done if Stripe returns the intent', async () => {
    const paid = paymentIntent({ status: 'succeeded', latest_charge: 'ch_1' });
    expect(await outcome(answers(200, paid))).toMatchObject({
      kind: 'done',
      value: { status: 'succeeded', attemptRef: 'ch_1', amountCents: 2_500, currency: 'USD' },
    });
  });

  test('is declined if the card is declined, and names the attempt', async () => {
    const error = {
      type: 'card_error',
      code: 'card_declined',
      decline_code: 'insufficient_funds',
      payment_intent: paymentIntent({ latest_charge: 'ch_1' }),
    };
    expect(await outcome(refuses(402, error))).toEqual({
      kind: 'declined',
      code: 'insufficient_funds',
      attemptRef: 'ch_1',
      facts: { decline: { providerCode: 'insufficient_funds' } },
    });
  });

  test.each<[number, Readonly<Record<string, string>>, string, string | undefined]>([
    [
      400,
      { type: 'invalid_request_error', code: 'payment_intent_unexpected_state' },
      'payment_intent_unexpected_state',
      undefined,
    ],
    [
      400,
      { type: 'invalid_request_error', code: 'resource_missing', param: 'payment_method' },
      'resource_missing',
      'payment_method',
    ],
    [400, { type: 'invalid_request_error', message: 'no' }, 'invalid_request', undefined],
    [401, { type: 'invalid_request_error', message: 'no such key' }, 'authentication_failed', undefined],
    [403, { type: 'invalid_request_error', message: 'not yours' }, 'permission_denied', undefined],
    [404, { type: 'invalid_request_error', code: 'resource_missing', param: 'intent' }, 'resource_missing', 'intent'],
  ])(
    'is refused after status %i, because Stripe certainly did nothing',
    async (...[status, error, reason, parameter]) => {
      expect(await outcome(refuses(status, error))).toEqual({ kind: 'refused', reason, parameter });
    },
  );

  test.each<[string, Answer]>([
    ['500', refuses(500, { type: 'api_error' })],
    ['502 without JSON', answers(502, '<html>Bad Gateway</html>')],
    ['503', refuses(503, { type: 'api_error' })],
    ['400 for another request under the key', refuses(400, { type: 'idempotency_error' })],
    ['200 with invalid JSON', answers(200, '{"id":"pi_1",')],
    ['200 with an object that is not an intent', answers(200, { id: 'pi_1' })],
    ['200 with an empty body', answers(200, '')],
    ['418', refuses(418, { type: 'api_error' })],
  ])('is unknown after %s, because money can have moved', async (_, answer) => {
    expect(await outcome(answer)).toEqual({ kind: 'unknown', reason: 'error' });
  });

  test.each([
    ['for too many requests', { type: 'invalid_request_error', code: 'rate_limit' }],
    ['for a lock', { type: 'invalid_request_error', code: 'lock_timeout' }],
  ])('is not_done after a 429 %s', async (_, error) => {
    expect(await outcome(refuses(429, error))).toEqual({ kind: 'not_done', reason: 'rate_limited' });
  });
  test.each(['idempotency_error', 'invalid_request_error'])(
    'is unknown after a 409 (%s), because the same call is still in progress',
    async (type) => {
      const answer = refuses(409, { type, code: 'idempotency_key_in_use' });
      expect(await outcome(answer)).toEqual({ kind: 'unknown', reason: 'in_progress' });
    },
  );

  test('is unknown after a connection error', async () => {
    const reset: Answer = () => Promise.reject(new TypeError('fetch failed', { cause: new Error('ECONNRESET') }));
    expect(await outcome(reset)).toEqual({ kind: 'unknown', reason: 'unreachable' });
  });

  test('is unknown if the response is incomplete', async () => {
    const broken: Answer = () =>
      new Response(
        new ReadableStream({
          start: (stream) => {
            stream.enqueue(new TextEncoder().encode('{"id":"pi_1"'));
            stream.error(new TypeError('terminated'));
          },
        }),
      );
    expect((await outcome(broken)).kind).toBe('unknown');
  });

  test('is unknown after a timeout, which aborts the call', async () => {
    let given: AbortSignal | null | undefined;
    const silent: Answer = (signal) => {
      given = signal;
      return new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason));
      });
    };
    expect(await outcome(silent)).toEqual({ kind: 'unknown', reason: 'timeout' });
    expect(given?.aborted).toBe(true);
  });

  test('makes a single call, because the SDK does not retry', async () => {
    for (const answer of [refuses(500, {}), refuses(429, {}), answers(200, '')]) {
      const { provider, calls } = stripeThatAnswers(answer);
      await confirm(provider());
      expect(calls).toHaveLength(1);
    }
  });
});

describe('the code of a decline', () => {
  test.each([
    ['insufficient_funds', 'card_declined', 'insufficient_funds'],
    ['expired_card', 'expired_card', 'expired_card'],
    [undefined, 'expired_card', 'expired_card'],
    ['incorrect_cvc', 'incorrect_cvc', 'incorrect_cvc'],
    ['invalid_cvc', 'card_declined', 'incorrect_cvc'],
    ['lost_card', 'card_declined', 'lost_card'],
    ['stolen_card', 'card_declined', 'stolen_card'],
    ['processing_error', 'processing_error', 'processing_error'],
    ['authentication_required', 'card_declined', 'authentication_required'],
    [undefined, 'payment_intent_authentication_failure', 'authentication_required'],
    ['do_not_honor', 'card_declined', 'do_not_honor'],
    ['generic_decline', 'card_declined', 'do_not_honor'],
    ['fraudulent', 'card_declined', 'do_not_honor'],
    ['constructor', '__proto__', 'do_not_honor'],
    [undefined, undefined, 'do_not_honor'],
  ])('is read from the decline code %s and the error code %s as %s', async (decline_code, code, expected) => {
    const declined = await outcome(refuses(402, { type: 'card_error', code, decline_code }));
    expect(declined).toMatchObject({ kind: 'declined', code: expected });
  });
});

describe('a write to Stripe', () => {
  const write: Readonly<Record<string, (provider: PaymentProvider) => Promise<unknown>>> = {
    createIntent: (provider) =>
      provider.createIntent({
        ...money,
        idempotencyKey,
        paymentId: 'pay_1',
        description: undefined,
        method: undefined,
        saveMethod: false,
        returnUrl: undefined,
      }),
    updateIntent: (provider) =>
      provider.updateIntent({
        ...money,
        idempotencyKey,
        intentId: 'pi_1',
        description: undefined,
        method: undefined,
        saveMethod: false,
        returnUrl: undefined,
      }),
    confirmIntent: confirm,
    cancelIntent: (provider) => provider.cancelIntent({ ...known, idempotencyKey }),
    createCustomer: (provider) =>
      provider.createCustomer({
        idempotencyKey,
        ourCustomerId: 'cust_1',
        email: 'ada@example.com',
        name: undefined,
        phone: undefined,
      }),
    updateCustomer: (provider) =>
      provider.updateCustomer({
        idempotencyKey,
        customerId: 'cus_1',
        email: 'ada@example.com',
        name: undefined,
        phone: undefined,
        cleared: [],
      }),
    tokenizeCard: (provider) =>
      provider.tokenizeCard({
        idempotencyKey,
        number: '4242424242424242',
        expiryMonth: '01',
        expiryYear: '2030',
        cvc: '123',
      }),
    attachMethod: (provider) =>
      provider.attachMethod({ idempotencyKey, token: 'pm_1', customerId: 'cus_1', paymentMethodId: 'pmt_1' }),
    updateBilling: (provider) =>
      provider.updateBilling({
        idempotencyKey,
        methodId: 'pm_1',
        billing: {
          name: 'Ada',
          line1: undefined,
          line2: undefined,
          city: undefined,
          state: undefined,
          postalCode: undefined,
          country: 'DE',
        },
      }),
  };

  test.each(Object.entries(write))('carries our own key: %s', async (_, call) => {
    const { provider, calls } = stripeThatAnswers(answers(200, paymentIntent()));
    await call(provider());
    expect(calls.map(({ method, key }) => [method, key])).toEqual([['POST', idempotencyKey]]);
  });

  test('makes a single call for a one-time card token', async () => {
    const { provider, calls } = stripeThatAnswers(answers(200, { id: 'seti_9', status: 'succeeded' }));
    const input = { idempotencyKey, token: 'tok_visa', customerId: 'cus_1', paymentMethodId: 'pmt_1' };
    await provider().attachMethod(input);
    expect(calls.map(({ path, key }) => `${path} ${key}`)).toEqual([`/v1/setup_intents ${idempotencyKey}`]);
  });

  test('logs a line without card, secret or e-mail', async () => {
    for (const call of Object.values(write)) {
      const { provider, lines } = stripeThatAnswers(refuses(400, { message: 'pi_1_secret_x 4242424242424242' }));
      await call(provider());
      expect(lines.map(({ message }) => message)).toContain('provider called');
      expect(JSON.stringify(lines)).not.toMatch(/4242|secret|sk_test|ada@/);
    }
  });
});

describe('a read from Stripe', () => {
  test('carries no key, and reads the intent by its id', async () => {
    const { provider, calls } = stripeThatAnswers(answers(200, paymentIntent()));
    await provider().findPayment(known);
    expect(calls).toEqual([{ method: 'GET', path: '/v1/payment_intents/pi_1', key: null, form: {} }]);
  });

  test('encodes the id in its path', async () => {
    const { provider, calls } = stripeThatAnswers(answers(200, paymentIntent()));
    await provider().findPayment({ ...known, intentId: '../customers/cus_1?expand[]=x' });
    expect(calls[0]?.path).toBe(`/v1/payment_intents/${encodeURIComponent('../customers/cus_1?expand[]=x')}`);
  });
});

describe('the fields of a request to Stripe', () => {
  const create = async (fields: object) => {
    const { provider, calls } = stripeThatAnswers(answers(200, paymentIntent()));
    await provider().createIntent({
      ...money,
      idempotencyKey,
      paymentId: 'pay_1',
      description: undefined,
      method: undefined,
      saveMethod: false,
      returnUrl: undefined,
      ...fields,
    });
    return calls[0]?.form ?? {};
  };

  test('are the amount in minor units, the lower-case currency and our id', async () => {
    expect(await create({ amountCents: 1, currency: 'JPY' })).toMatchObject({
      amount: '1',
      currency: 'jpy',
      'metadata[payment_id]': 'pay_1',
      'automatic_payment_methods[allow_redirects]': 'never',
    });
    expect(await create({ returnUrl: 'https://shop.example' })).not.toHaveProperty(
      'automatic_payment_methods[allow_redirects]',
    );
  });

  test('are the method’s id, or the card of a one-time token', async () => {
    expect(await create({ method: 'pm_1' })).toMatchObject({ payment_method: 'pm_1' });
    expect(await create({ method: 'tok_visa' })).toMatchObject({
      'payment_method_data[type]': 'card',
      'payment_method_data[card][token]': 'tok_visa',
    });
    expect(await create({ saveMethod: true, customerId: 'cus_1' })).toMatchObject({
      setup_future_usage: 'off_session',
      customer: 'cus_1',
    });
  });

  test('are sent to the configured base URL', async () => {
    const base = { PROVIDER_A_BASE_URL: 'http://127.0.0.1:1/_local/providers/stripe' };
    const { provider, calls } = stripeThatAnswers(answers(200, paymentIntent()), base);
    await provider().findPayment(known);
    expect(calls[0]?.path).toBe('/_local/providers/stripe/v1/payment_intents/pi_1');
  });
});

describe('a removal at Stripe', () => {
  test('is also done if Stripe no longer has the object', async () => {
    const { provider } = stripeThatAnswers(refuses(404, { type: 'invalid_request_error', code: 'resource_missing' }));
    expect(await provider().deleteCustomer('cus_1')).toEqual({ kind: 'done', value: { customerId: 'cus_1' } });
    expect(await provider().detachMethod('pm_1')).toEqual({ kind: 'done', value: { methodId: 'pm_1' } });
  });

  test('is unknown after a server error of Stripe', async () => {
    const { provider } = stripeThatAnswers(refuses(500, { type: 'api_error' }));
    expect([(await provider().deleteCustomer('cus_1')).kind, (await provider().detachMethod('pm_1')).kind]).toEqual([
      'unknown',
      'unknown',
    ]);
  });

  test('is refused if our own key is refused, because the object is not removed', async () => {
    const { provider } = stripeThatAnswers(refuses(401, { type: 'invalid_request_error' }));
    expect((await provider().deleteCustomer('cus_1')).kind).toBe('refused');
    expect((await provider().detachMethod('pm_1')).kind).toBe('refused');
  });
});

describe('a Stripe slot', () => {
  test('is closed without a key', () => {
    expect(stripeThatAnswers(answers(200, {}), { PROVIDER_A_API_KEY: '' }).open()).toBeUndefined();
  });

  test('accepts payments, but no events, without a webhook secret', () => {
    const { provider, receiver } = stripeThatAnswers(answers(200, {}), { PROVIDER_A_WEBHOOK_SECRET: '' });
    expect([provider().can.payments, receiver]).toEqual([true, undefined]);
  });
});

describe('requireDone', () => {
  test.each<[Outcome<string>, string, number]>([
    [{ kind: 'declined', code: 'lost_card', attemptRef: undefined }, 'PAYMENT_DECLINED', 402],
    [{ kind: 'refused', reason: 'resource_missing' }, 'VALIDATION_ERROR', 400],
    [{ kind: 'unknown', reason: 'timeout' }, 'PROVIDER_TIMEOUT', 504],
    [{ kind: 'unknown', reason: 'unreachable' }, 'PROVIDER_UNAVAILABLE', 503],
    [{ kind: 'unknown', reason: 'in_progress' }, 'PAYMENT_IN_PROGRESS', 409],
    [{ kind: 'unknown', reason: 'error' }, 'PROVIDER_ERROR', 502],
  ])('maps %j to the error %s', (given, code, status) => {
    expect(refusalOf(() => requireDone(given, 'field'))).toMatchObject({ code, status });
  });

  test('returns the value of a done outcome', () => {
    expect(requireDone({ kind: 'done', value: 'x' }, 'field')).toBe('x');
    expect(unknownOutcomeError('timeout', { payment_id: 'pay_1' }).details).toEqual({ payment_id: 'pay_1' });
  });
});
