import { randomUUID } from 'node:crypto';
import type * as SquareSdk from 'square';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MINUTE } from '../../shared/core/time.ts';
import { SQUARE_VERSION } from '../../shared/providers/square/outcome.ts';
import { openRig, type ProviderRig, WEBHOOK_URL } from './provider-rig.ts';
import { SQUARE } from './provider-subjects.ts';

/** Square's own SDK runs Square's quick start guides against the simulator. */
let sdk: typeof SquareSdk;
beforeAll(async () => {
  sdk = await import('square');
});

let rig: ProviderRig;
let square: SquareSdk.SquareClient;
/** The headers of each call that the SDK made. */
const sent: Headers[] = [];

beforeEach(async () => {
  rig = await openRig(SQUARE);
  sent.length = 0;
  square = connect('local_token');
});
afterEach(() => rig.close());

const connect = (token: string): SquareSdk.SquareClient =>
  new sdk.SquareClient({
    token,
    baseUrl: rig.url,
    maxRetries: 0,
    fetch: (input, init) => {
      sent.push(new Headers(init?.headers));
      return fetch(input, init);
    },
  });

const LOCATION = 'LOCAL';
const money = (cents: number): SquareSdk.Square.Money => ({ amount: BigInt(cents), currency: 'USD' });
const given = <T>(value: T | undefined | null): T => {
  if (value === undefined || value === null) throw new Error('Square must return this; absence is a bug');
  return value;
};

const pay = async (more: Partial<SquareSdk.Square.CreatePaymentRequest> = {}) => {
  const { payment } = await square.payments.create({
    idempotencyKey: randomUUID(),
    sourceId: 'cnon:card-nonce-ok',
    amountMoney: money(500),
    locationId: LOCATION,
    ...more,
  });
  return given(payment);
};

const placeOrder = async () => {
  const { order } = await square.orders.create({
    idempotencyKey: randomUUID(),
    order: {
      locationId: LOCATION,
      referenceId: 'pay_1',
      lineItems: [{ uid: 'book', name: 'Book', quantity: '1', basePriceMoney: money(500) }],
    },
  });
  return given(order);
};

const addCustomer = async () => {
  const { customer } = await square.customers.create({
    idempotencyKey: randomUUID(),
    givenName: 'Ana',
    familyName: 'Silva',
    emailAddress: 'ana@example.com',
    phoneNumber: '+12065550100',
    referenceId: 'cus_1',
  });
  return given(customer);
};

const addCard = async (customerId: string, more: Partial<SquareSdk.Square.CreateCardRequest> = {}) => {
  const { card } = await square.cards.create({
    idempotencyKey: randomUUID(),
    sourceId: 'cnon:card-nonce-ok',
    card: { customerId, cardholderName: 'Ana Silva', referenceId: 'pm_1' },
    ...more,
  });
  return given(card);
};

const errorOf = async (call: Promise<unknown>): Promise<SquareSdk.SquareError> => {
  const error: unknown = await call.then(
    () => new Error('the call was expected to fail'),
    (reason: unknown) => reason,
  );
  if (error instanceof sdk.SquareError) return error;
  throw error;
};
const codesOf = ({ errors }: SquareSdk.SquareError) => errors.map(({ code }) => code);

describe('the SDK of Square', () => {
  it('uses our adapter’s API version (check Square’s changelog before a newer SDK)', async () => {
    await square.locations.get({ locationId: LOCATION });
    expect(sent.map((headers) => headers.get('square-version'))).toEqual([SQUARE_VERSION]);
  });

  it('gets responses in the version that it requested', async () => {
    const { rawResponse } = await square.locations.get({ locationId: LOCATION }).withRawResponse();
    expect(rawResponse.headers.get('square-version')).toBe(SQUARE_VERSION);
  });

  it('is refused without the seller’s token', async () => {
    const error = await errorOf(connect('another').locations.get({ locationId: LOCATION }));
    expect(error.statusCode).toBe(401);
    expect(error.errors).toEqual([expect.objectContaining({ category: 'AUTHENTICATION_ERROR', code: 'UNAUTHORIZED' })]);
  });
});

describe('a Square location', () => {
  it.each([LOCATION, 'main'])('can be read as %s, with its currency', async (locationId) => {
    const { location } = await square.locations.get({ locationId });
    expect(location).toMatchObject({ id: LOCATION, currency: 'USD', status: 'ACTIVE' });
  });
});

describe('a payment at Square', () => {
  it('is created with a card token, and can be read', async () => {
    const payment = await pay({ referenceId: 'pay_1', note: 'Book' });
    expect(payment).toMatchObject({
      status: 'COMPLETED',
      amountMoney: money(500),
      sourceType: 'CARD',
      referenceId: 'pay_1',
      cardDetails: { status: 'CAPTURED', card: { cardBrand: 'VISA' } },
    });
    const read = await square.payments.get({ paymentId: given(payment.id) });
    expect(read.payment).toEqual(payment);
  });

  it('completes its order', async () => {
    const order = await placeOrder();
    expect(order).toMatchObject({ state: 'OPEN', totalMoney: money(500) });
    const payment = await pay({ orderId: given(order.id) });
    const { order: paid } = await square.orders.get({ orderId: given(order.id) });
    expect(paid).toMatchObject({
      state: 'COMPLETED',
      netAmountDueMoney: money(0),
      tenders: [{ type: 'CARD', paymentId: payment.id }],
    });
  });

  it.each([
    ['complete', 'COMPLETED'],
    ['cancel', 'CANCELED'],
  ] as const)('stays approved under delayed capture until the seller calls %s', async (action, status) => {
    const { id, ...approved } = await pay({ autocomplete: false });
    expect(approved).toMatchObject({ status: 'APPROVED', cardDetails: { status: 'AUTHORIZED' } });
    const { payment } = await square.payments[action]({ paymentId: given(id) });
    expect(payment?.status).toBe(status);
  });

  it('is the earlier payment if the key is repeated', async () => {
    const idempotencyKey = randomUUID();
    const first = await pay({ idempotencyKey });
    expect(await pay({ idempotencyKey })).toEqual(first);
    const error = await errorOf(pay({ idempotencyKey, amountMoney: money(501) }));
    expect(codesOf(error)).toEqual(['IDEMPOTENCY_KEY_REUSED']);
  });

  it.each([
    ['cnon:card-nonce-declined', 'GENERIC_DECLINE'],
    ['cnon:card-nonce-rejected-cvv', 'CVV_FAILURE'],
    ['cnon:card-nonce-rejected-expiration', 'INVALID_EXPIRATION'],
    ['cnon:card-nonce-rejected-postalcode', 'ADDRESS_VERIFICATION_FAILURE'],
  ])('is declined for %s: %s', async (sourceId, code) => {
    const error = await errorOf(pay({ sourceId }));
    expect(error.statusCode).toBe(402);
    expect(error.errors).toEqual([expect.objectContaining({ category: 'PAYMENT_METHOD_ERROR', code })]);
    expect(error.body).toMatchObject({ payment: { status: 'FAILED' } });
  });

  it('is refused in a currency other than the location’s', async () => {
    const error = await errorOf(pay({ amountMoney: { amount: 500n, currency: 'EUR' } }));
    expect(error.statusCode).toBe(400);
  });
});

describe('an order at Square', () => {
  it('accepts a new price, and can be canceled', async () => {
    const { id, version } = await placeOrder();
    const orderId = given(id);
    const { order: changed } = await square.orders.update({
      orderId,
      idempotencyKey: randomUUID(),
      order: {
        locationId: LOCATION,
        version: given(version),
        lineItems: [{ uid: 'book', name: 'Book', quantity: '1', basePriceMoney: money(700) }],
      },
    });
    expect(changed).toMatchObject({ version: given(version) + 1, totalMoney: money(700) });
    const { order: canceled } = await square.orders.update({
      orderId,
      idempotencyKey: randomUUID(),
      order: { locationId: LOCATION, version: given(changed?.version), state: 'CANCELED' },
    });
    expect(canceled?.state).toBe('CANCELED');
  });
});

describe('a customer at Square', () => {
  it('is created, read, changed and deleted', async () => {
    const { id } = await addCustomer();
    const customerId = given(id);
    expect((await square.customers.get({ customerId })).customer).toMatchObject({
      givenName: 'Ana',
      familyName: 'Silva',
      emailAddress: 'ana@example.com',
      phoneNumber: '+12065550100',
      referenceId: 'cus_1',
    });
    const { customer } = await square.customers.update({ customerId, emailAddress: 'silva@example.com' });
    expect(customer).toMatchObject({ givenName: 'Ana', emailAddress: 'silva@example.com' });
    await square.customers.delete({ customerId });
    expect(codesOf(await errorOf(square.customers.get({ customerId })))).toEqual(['NOT_FOUND']);
  });
});

describe('a card on file at Square', () => {
  it('is made of a token, read, charged without its customer, and disabled', async () => {
    const customerId = given((await addCustomer()).id);
    const card = await addCard(customerId);
    const cardId = given(card.id);
    expect(card).toMatchObject({ enabled: true, customerId, cardBrand: 'VISA', last4: expect.any(String) });
    expect((await square.cards.get({ cardId })).card).toEqual(card);
    const payment = await pay({ sourceId: cardId, customerId, customerDetails: { customerInitiated: false } });
    expect(payment).toMatchObject({ status: 'COMPLETED', customerId });
    expect((await square.cards.disable({ cardId })).card?.enabled).toBe(false);
  });

  it('can be made of a completed payment', async () => {
    const customerId = given((await addCustomer()).id);
    const { id } = await pay({ customerId });
    expect(await addCard(customerId, { sourceId: given(id) })).toMatchObject({ enabled: true, customerId });
  });

  it('is stored with a verification token if it requires verification', async () => {
    const customerId = given((await addCustomer()).id);
    const sourceId = 'cnon:card-nonce-requires-verification';
    const error = await errorOf(addCard(customerId, { sourceId }));
    expect(codesOf(error)).toEqual(['CARD_DECLINED_VERIFICATION_REQUIRED']);
    expect(await addCard(customerId, { sourceId, verificationToken: 'verf:local' })).toMatchObject({ enabled: true });
  });
});

describe('a refund at Square', () => {
  const refund = async (paymentId: string, cents: number, more: object = {}) => {
    const request = { idempotencyKey: randomUUID(), paymentId, amountMoney: money(cents), reason: 'Returned', ...more };
    const { refund: made } = await square.refunds.refundPayment(request);
    return given(made);
  };

  it('is pending first, and completed a little later', async () => {
    const paymentId = given((await pay()).id);
    const pending = await refund(paymentId, 200);
    expect(pending).toMatchObject({ status: 'PENDING', amountMoney: money(200), paymentId, reason: 'Returned' });
    expect((await square.refunds.get({ refundId: pending.id })).refund).toEqual(pending);
    await rig.clock.advance(MINUTE);
    expect((await square.refunds.get({ refundId: pending.id })).refund).toMatchObject({ status: 'COMPLETED' });
    const { payment } = await square.payments.get({ paymentId });
    expect(payment).toMatchObject({ status: 'COMPLETED', refundedMoney: money(200), refundIds: [pending.id] });
  });

  it('is listed newest first, page by page', async () => {
    const paymentId = given((await pay()).id);
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      ids.push((await refund(paymentId, 100)).id);
      await rig.clock.advance(1_000);
    }
    const listed: string[] = [];
    for await (const { id } of await square.refunds.list({ limit: 2 })) listed.push(id);
    expect(listed).toEqual(ids.toReversed());
  });

  it('is refused above the remaining amount', async () => {
    const paymentId = given((await pay()).id);
    await refund(paymentId, 400);
    const error = await errorOf(refund(paymentId, 101));
    expect(error.statusCode).toBe(400);
    expect(error.errors).toEqual([
      expect.objectContaining({ category: 'REFUND_ERROR', code: 'REFUND_AMOUNT_INVALID' }),
    ]);
  });

  it('is the earlier refund if the key is repeated', async () => {
    const idempotencyKey = randomUUID();
    const paymentId = given((await pay()).id);
    const first = await refund(paymentId, 200, { idempotencyKey });
    expect(await refund(paymentId, 200, { idempotencyKey })).toEqual(first);
    expect(codesOf(await errorOf(refund(paymentId, 201, { idempotencyKey })))).toEqual(['IDEMPOTENCY_KEY_REUSED']);
  });
});

describe('a dispute at Square', () => {
  it('is listed with its payment, read, and won', async () => {
    const { id: paymentId } = await pay({ sourceId: 'cnon:sim-dispute' });
    const listed: SquareSdk.Square.Dispute[] = [];
    for await (const dispute of await square.disputes.list({ states: 'EVIDENCE_REQUIRED' })) listed.push(dispute);
    expect(listed).toMatchObject([
      { state: 'EVIDENCE_REQUIRED', reason: 'NO_KNOWLEDGE', amountMoney: money(500), disputedPayment: { paymentId } },
    ]);
    const disputeId = given(listed[0]?.id);
    expect((await square.disputes.get({ disputeId })).dispute).toEqual(listed[0]);
    await rig.control('POST', `/disputes/${disputeId}`, { status: 'won' });
    expect((await square.disputes.get({ disputeId })).dispute).toMatchObject({ state: 'WON' });
  });
});

describe('a Square webhook', () => {
  it('is verified by the SDK’s helper only with its own body, URL and key', async () => {
    const { id } = await pay();
    const delivered = await rig.delivered();
    expect(delivered.map(({ body }) => JSON.parse(body).type)).toEqual(
      expect.arrayContaining(['payment.created', 'payment.updated']),
    );
    const verify = (
      body: string,
      signature: string,
      { notificationUrl = WEBHOOK_URL, signatureKey = 'local_key' } = {},
    ) =>
      sdk.WebhooksHelper.verifySignature({
        requestBody: body,
        signatureHeader: signature,
        signatureKey,
        notificationUrl,
      });
    for (const { headers, body } of delivered) {
      const signature = headers['x-square-hmacsha256-signature'] ?? '';
      expect(await verify(body, signature)).toBe(true);
      expect(await verify(`${body} `, signature)).toBe(false);
      expect(await verify(body, signature, { notificationUrl: `${WEBHOOK_URL}/` })).toBe(false);
      expect(await verify(body, signature, { signatureKey: 'another_key' })).toBe(false);
    }
    const updated = delivered.map(({ body }) => JSON.parse(body)).find(({ type }) => type === 'payment.updated');
    expect(updated.data).toMatchObject({ type: 'payment', id, object: { payment: { status: 'COMPLETED' } } });
  });
});
