import { randomUUID } from 'node:crypto';
import type * as PayPalSdk from '@paypal/paypal-server-sdk';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MINUTE } from '../../shared/core/time.ts';
import { openRig, type ProviderRig } from './provider-rig.ts';
import { PAYPAL } from './provider-subjects.ts';

/** PayPal's own SDK runs PayPal's quick start guides against the simulator. */
let sdk: typeof PayPalSdk;
beforeAll(async () => {
  sdk = await import('@paypal/paypal-server-sdk');
});

let rig: ProviderRig;
let orders: PayPalSdk.OrdersController;
let payments: PayPalSdk.PaymentsController;
let vault: PayPalSdk.VaultController;

beforeEach(async () => {
  rig = await openRig(PAYPAL);
  const client = connect('local_secret');
  orders = new sdk.OrdersController(client);
  payments = new sdk.PaymentsController(client);
  vault = new sdk.VaultController(client);
});
afterEach(() => rig.close());

/** What the SDK hands to its HTTP client. */
interface HttpCall {
  readonly url: string;
  readonly method: string;
  readonly headers: { toJSON(): Record<string, string> };
  readonly data?: string;
}

/** The SDK has no option for the URL of PayPal: its HTTP client is replaced by one that calls the simulator. */
const connect = (oAuthClientSecret: string): PayPalSdk.Client =>
  new sdk.Client({
    clientCredentialsAuthCredentials: { oAuthClientId: 'local_client', oAuthClientSecret },
    environment: sdk.Environment.Sandbox,
    unstable_httpClientOptions: { adapter: toSimulator },
  });

const toSimulator = async ({ url, method, headers, data }: HttpCall) => {
  const response = await fetch(url.replace('https://api-m.sandbox.paypal.com', rig.url), {
    method: method.toUpperCase(),
    headers: headers.toJSON(),
    ...(data !== undefined && { body: data }),
  });
  return { data: await response.text(), status: response.status, headers: Object.fromEntries(response.headers) };
};

const given = <T>(value: T | undefined | null): T => {
  if (value === undefined || value === null) throw new Error('PayPal must return this; absence is a bug');
  return value;
};
const usd = (value: string): PayPalSdk.AmountWithBreakdown => ({ currencyCode: 'USD', value });

const createOrder = async (paymentSource?: PayPalSdk.PaymentSource, paypalRequestId: string = randomUUID()) => {
  const { result } = await orders.createOrder({
    body: {
      intent: sdk.CheckoutPaymentIntent.Capture,
      purchaseUnits: [
        {
          referenceId: 'default',
          customId: 'pay_1',
          invoiceId: paypalRequestId,
          description: 'Book',
          amount: usd('25.00'),
        },
      ],
      ...(paymentSource && { paymentSource }),
    },
    paypalRequestId,
    prefer: 'return=representation',
  });
  return result;
};

const captureOrder = async (id: string, paymentSource?: PayPalSdk.OrderCaptureRequestPaymentSource) => {
  const { result } = await orders.captureOrder({
    id,
    paypalRequestId: randomUUID(),
    prefer: 'return=representation',
    ...(paymentSource && { body: { paymentSource } }),
  });
  return result;
};

const capturesOf = ({ purchaseUnits }: PayPalSdk.Order) => purchaseUnits?.[0]?.payments?.captures ?? [];
const relationsOf = ({ links }: { readonly links?: PayPalSdk.LinkDescription[] }) => links?.map(({ rel }) => rel);
const answerAsPayer = (id: string, outcome: 'success' | 'failure') =>
  rig.control('POST', `/payments/${id}/authenticate`, { outcome });

const withPayer = (): PayPalSdk.PaymentSource => ({
  paypal: {
    experienceContext: {
      returnUrl: 'https://shop.example/back',
      cancelUrl: 'https://shop.example/cancel',
      userAction: sdk.PaypalExperienceUserAction.PayNow,
      shippingPreference: sdk.PaypalWalletContextShippingPreference.NoShipping,
    },
  },
});

const saveToken = async (id: string, customer?: PayPalSdk.Customer) => {
  const { result } = await vault.createPaymentToken({
    body: {
      ...(customer && { customer }),
      paymentSource: { token: { id, type: sdk.VaultTokenRequestType.SetupToken } },
    },
    paypalRequestId: randomUUID(),
  });
  return result;
};

const refusalOf = async (call: Promise<unknown>) => {
  const error: unknown = await call.then(
    () => new Error('the call was expected to fail'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof sdk.ApiError)) throw error;
  const { name, details = [] } = JSON.parse(String(error.body)) as { name?: string; details?: { issue: string }[] };
  return { kind: error.constructor, status: error.statusCode, name, issues: details.map(({ issue }) => issue) };
};

describe('the SDK of PayPal', () => {
  it('gets one access token with its credentials, and uses the token for each call', async () => {
    const { id } = await createOrder();
    await orders.getOrder({ id: given(id) });
    expect(rig.exchanges.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /paypal/v1/oauth2/token',
      'POST /paypal/v2/checkout/orders',
      `GET /paypal/v2/checkout/orders/${id}`,
    ]);
  });

  it('gets no access token with the secret of another client', async () => {
    const other = new sdk.OrdersController(connect('another'));
    await expect(other.getOrder({ id: 'ORDER' })).rejects.toBeInstanceOf(Error);
    expect(rig.exchanges.map(({ path, status }) => [path, status])).toEqual([['/paypal/v1/oauth2/token', 401]]);
  });
});

describe('an order at PayPal', () => {
  it('is approved by its payer, captured, and read with its capture', async () => {
    const created = await createOrder(withPayer());
    const id = given(created.id);
    expect(created.status).toBe('PAYER_ACTION_REQUIRED');
    expect(relationsOf(created)).toContain('payer-action');
    expect(await refusalOf(captureOrder(id))).toMatchObject({
      status: 422,
      name: 'UNPROCESSABLE_ENTITY',
      issues: ['ORDER_NOT_APPROVED'],
    });
    await answerAsPayer(id, 'success');
    expect((await orders.getOrder({ id })).result.status).toBe('APPROVED');
    const captured = await captureOrder(id);
    expect(captured.status).toBe('COMPLETED');
    const [capture] = capturesOf((await orders.getOrder({ id })).result);
    expect(capture).toMatchObject({ status: 'COMPLETED', amount: usd('25.00'), customId: 'pay_1' });
    const { result } = await payments.getCapturedPayment({ captureId: given(capture?.id) });
    expect(result).toMatchObject({ id: capture?.id, status: 'COMPLETED', amount: usd('25.00') });
    expect(await refusalOf(captureOrder(id))).toMatchObject({ issues: ['ORDER_ALREADY_CAPTURED'] });
  });

  it('is the earlier order if the request id is repeated', async () => {
    const key = randomUUID();
    const first = await createOrder(undefined, key);
    expect(await createOrder(undefined, key)).toEqual(first);
  });

  it('accepts a new amount and description', async () => {
    const id = given((await createOrder()).id);
    const at = (field: string) => `/purchase_units/@reference_id=='default'/${field}`;
    const { statusCode } = await orders.patchOrder({
      id,
      body: [
        { op: sdk.PatchOp.Replace, path: at('amount'), value: { currency_code: 'USD', value: '30.00' } },
        { op: sdk.PatchOp.Replace, path: at('description'), value: 'Two books' },
      ],
    });
    expect(statusCode).toBe(204);
    const { result } = await orders.getOrder({ id });
    expect(result.purchaseUnits).toEqual([
      expect.objectContaining({ amount: expect.objectContaining(usd('30.00')), description: 'Two books' }),
    ]);
  });

  it('can be sent to its payer by a later confirmation of the payment source', async () => {
    const created = await createOrder();
    expect(created.status).toBe('CREATED');
    const id = given(created.id);
    const { result } = await orders.confirmOrder({
      id,
      prefer: 'return=representation',
      body: { paymentSource: withPayer() },
    });
    expect(result.status).toBe('PAYER_ACTION_REQUIRED');
    expect(relationsOf(result)).toContain('payer-action');
  });

  it('is refused with INSTRUMENT_DECLINED if the wallet declines', async () => {
    const id = given((await createOrder()).id);
    expect(await refusalOf(captureOrder(id, { paypal: { vaultId: 'SIM-DECLINED' } }))).toMatchObject({
      status: 422,
      issues: ['INSTRUMENT_DECLINED'],
    });
  });

  it('is not found if its id is unknown', async () => {
    expect(await refusalOf(orders.getOrder({ id: 'ABSENT' }))).toMatchObject({
      kind: sdk.CustomError,
      status: 404,
      name: 'RESOURCE_NOT_FOUND',
    });
  });
});

describe('a refund at PayPal', () => {
  const charge = async (vaultId = 'SIM-OK') => {
    const id = given((await createOrder()).id);
    const [capture] = capturesOf(await captureOrder(id, { paypal: { vaultId } }));
    return { id, captureId: given(capture?.id) };
  };
  const refund = async (captureId: string, body?: PayPalSdk.RefundRequest, paypalRequestId: string = randomUUID()) => {
    const { result } = await payments.refundCapturedPayment({
      captureId,
      paypalRequestId,
      prefer: 'return=representation',
      ...(body && { body }),
    });
    return result;
  };

  it('returns a part of a capture, then the rest, and can be read by its id and with the order', async () => {
    const { id, captureId } = await charge();
    const part = await refund(captureId, { amount: usd('10.00'), customId: 'ref_1', noteToPayer: 'One book' });
    expect(part).toMatchObject({
      status: 'COMPLETED',
      amount: usd('10.00'),
      customId: 'ref_1',
      noteToPayer: 'One book',
    });
    expect((await payments.getCapturedPayment({ captureId })).result.status).toBe('PARTIALLY_REFUNDED');
    const rest = await refund(captureId);
    expect(rest).toMatchObject({
      amount: usd('15.00'),
      sellerPayableBreakdown: { totalRefundedAmount: usd('25.00') },
    });
    expect((await payments.getCapturedPayment({ captureId })).result.status).toBe('REFUNDED');
    expect((await payments.getRefund({ refundId: given(rest.id) })).result).toEqual(rest);
    const { result: order } = await orders.getOrder({ id });
    expect(order.purchaseUnits?.[0]?.payments?.refunds).toEqual([part, rest]);
    expect(await refusalOf(refund(captureId))).toMatchObject({ status: 422, issues: ['CAPTURE_FULLY_REFUNDED'] });
  });

  it('is the earlier refund if the request id is repeated', async () => {
    const { captureId } = await charge();
    const key = randomUUID();
    const first = await refund(captureId, { amount: usd('1.00') }, key);
    expect(await refund(captureId, { amount: usd('1.00') }, key)).toEqual(first);
  });

  it('is pending if the payer paid by bank', async () => {
    const { captureId } = await charge('SIM-REFUND-PENDING');
    const pending = await refund(captureId);
    expect(pending).toMatchObject({ status: 'PENDING', statusDetails: { reason: 'ECHECK' } });
    await rig.clock.advance(MINUTE);
    expect((await payments.getRefund({ refundId: given(pending.id) })).result.status).toBe('COMPLETED');
  });

  it('is refused above the captured amount, in another currency, and for an unknown capture', async () => {
    const { captureId } = await charge();
    expect(await refusalOf(refund(captureId, { amount: usd('25.01') }))).toMatchObject({
      status: 422,
      name: 'UNPROCESSABLE_ENTITY',
      issues: ['REFUND_AMOUNT_EXCEEDED'],
    });
    const euros = { amount: { currencyCode: 'EUR', value: '1.00' } };
    expect(await refusalOf(refund(captureId, euros))).toMatchObject({ issues: ['REFUND_CAPTURE_CURRENCY_MISMATCH'] });
    expect(await refusalOf(refund('ABSENT'))).toMatchObject({ kind: sdk.CustomError, status: 404 });
  });
});

describe('the PayPal vault', () => {
  it('saves a wallet after the payer approved a setup token, and charges it without the payer', async () => {
    const { result: setup } = await vault.createSetupToken({
      paypalRequestId: randomUUID(),
      body: {
        customer: { merchantCustomerId: 'cus_1' },
        paymentSource: {
          paypal: {
            usageType: sdk.PaypalPaymentTokenUsageType.Merchant,
            experienceContext: { returnUrl: 'https://shop.example/back', cancelUrl: 'https://shop.example/cancel' },
          },
        },
      },
    });
    const setupId = given(setup.id);
    expect(setup).toMatchObject({ status: 'PAYER_ACTION_REQUIRED', customer: { merchantCustomerId: 'cus_1' } });
    await answerAsPayer(setupId, 'success');
    expect((await vault.getSetupToken(setupId)).result.status).toBe('APPROVED');

    const token = await saveToken(setupId);
    const tokenId = given(token.id);
    expect(token.customer).toEqual(setup.customer);
    const { result: read } = await vault.getPaymentToken(tokenId);
    expect(read).toMatchObject({ id: tokenId, paymentSource: { paypal: { emailAddress: expect.any(String) } } });

    const paid = await captureOrder(given((await createOrder()).id), { paypal: { vaultId: tokenId } });
    expect(paid.status).toBe('COMPLETED');
  });

  it('charges a saved card as the merchant, with the credential of a recurring payment', async () => {
    const token = await saveToken('SIM-CARD');
    expect(token.paymentSource?.card).toMatchObject({ brand: 'VISA', lastDigits: expect.any(String) });
    const paid = await captureOrder(given((await createOrder()).id), {
      card: {
        vaultId: given(token.id),
        storedCredential: {
          paymentInitiator: sdk.PaymentInitiator.Merchant,
          paymentType: sdk.StoredPaymentSourcePaymentType.Recurring,
          usage: sdk.StoredPaymentSourceUsageType.Subsequent,
        },
      },
    });
    expect(capturesOf(paid)).toEqual([expect.objectContaining({ status: 'COMPLETED' })]);
  });

  it('sends the payer to PayPal if a saved card requires 3-D Secure, then charges the card', async () => {
    const token = await saveToken('SIM-CARD-3DS');
    const id = given((await createOrder()).id);
    const card = {
      vaultId: given(token.id),
      storedCredential: {
        paymentInitiator: sdk.PaymentInitiator.Customer,
        paymentType: sdk.StoredPaymentSourcePaymentType.OneTime,
        usage: sdk.StoredPaymentSourceUsageType.Subsequent,
      },
    };
    expect(await refusalOf(captureOrder(id, { card }))).toMatchObject({ issues: ['PAYER_ACTION_REQUIRED'] });
    const { result: waiting } = await orders.getOrder({ id });
    expect(waiting.status).toBe('PAYER_ACTION_REQUIRED');
    expect(relationsOf(waiting)).toContain('payer-action');
    await answerAsPayer(id, 'success');
    expect(capturesOf(await captureOrder(id))).toEqual([expect.objectContaining({ status: 'COMPLETED' })]);
  });

  it('saves the wallet of a payment at the capture', async () => {
    const source: PayPalSdk.PaymentSource = {
      paypal: {
        ...withPayer().paypal,
        attributes: {
          vault: {
            storeInVault: sdk.StoreInVaultInstruction.OnSuccess,
            usageType: sdk.PaypalPaymentTokenUsageType.Merchant,
          },
        },
      },
    };
    const id = given((await createOrder(source)).id);
    await answerAsPayer(id, 'success');
    const { paymentSource } = await captureOrder(id);
    const saved = given(paymentSource?.paypal?.attributes?.vault);
    expect(saved.status).toBe('VAULTED');
    expect((await vault.getPaymentToken(given(saved.id))).result.id).toBe(saved.id);
  });

  it('lists a customer’s tokens, five per page, and deletes them', async () => {
    const first = await saveToken('SIM-OK', { merchantCustomerId: 'cus_1' });
    const customerId = given(first.customer?.id);
    for (let count = 1; count < 6; count += 1) await saveToken('SIM-OK', { id: customerId });
    const list = async (page: number) =>
      (await vault.listCustomerPaymentTokens({ customerId, pageSize: 5, page, totalRequired: true })).result;
    expect(await list(1)).toMatchObject({ totalItems: 6, totalPages: 2, customer: { id: customerId } });
    const tokens = [...given((await list(1)).paymentTokens), ...given((await list(2)).paymentTokens)];
    expect(new Set(tokens.map(({ id }) => id)).size).toBe(6);
    for (const { id } of tokens) expect((await vault.deletePaymentToken(given(id))).statusCode).toBe(204);
    expect((await list(1)).paymentTokens ?? []).toEqual([]);
    expect(await refusalOf(vault.getPaymentToken(given(first.id)))).toMatchObject({ status: 404 });
  });
});

/** The SDK has no operation for webhooks: the request to the verification service is that of PayPal's documentation. */
describe('a PayPal webhook', () => {
  it('is verified by the verification service only with its original bytes', async () => {
    await captureOrder(given((await createOrder()).id), { paypal: { vaultId: 'SIM-OK' } });
    const delivered = await rig.delivered();
    expect(delivered.map(({ body }) => JSON.parse(body).event_type)).toContain('PAYMENT.CAPTURE.COMPLETED');
    for (const { headers, body } of delivered) {
      expect(await verify(headers, body)).toEqual({ verification_status: 'SUCCESS' });
      expect(await verify(headers, body.replace('"id":"', '"id":"x'))).toEqual({ verification_status: 'FAILURE' });
    }
  });
});

const verify = async (headers: Record<string, string>, event: string): Promise<unknown> => {
  const authorization = new sdk.OAuthAuthorizationController(connect('local_secret'));
  const basic = Buffer.from('local_client:local_secret').toString('base64');
  const { result } = await authorization.requestToken({ authorization: `Basic ${basic}` });
  const fields = {
    auth_algo: headers['paypal-auth-algo'],
    cert_url: headers['paypal-cert-url'],
    transmission_id: headers['paypal-transmission-id'],
    transmission_sig: headers['paypal-transmission-sig'],
    transmission_time: headers['paypal-transmission-time'],
    webhook_id: 'LOCALWEBHOOK',
  };
  const response = await fetch(`${rig.url}/v1/notifications/verify-webhook-signature`, {
    method: 'POST',
    headers: { authorization: `Bearer ${result.accessToken}`, 'content-type': 'application/json' },
    body: `${JSON.stringify(fields).slice(0, -1)},"webhook_event":${event}}`,
  });
  return response.json();
};
