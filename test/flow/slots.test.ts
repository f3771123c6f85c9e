import { beforeEach, describe, expect, test } from 'vitest';
import { guestIntentBody, intentBody } from '../builders/intent.ts';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { atProvider, confirm, eventsOf, IMPATIENT, signIn, storedPayment, timesCharged } from './flow.ts';
import { type ParsedJson, type RequestOptions, type TestAnswer, withHost } from './host.ts';
import { everyNth } from './ways.ts';

/**
 * The same life cycle of a payment at each provider, for a user and for a guest. The provider's ledger and the
 * records agree.
 */
const service = withHost({ frozen: true, env: IMPATIENT });
beforeEach(async () => {
  await service.webhookMode('normal');
  await service.clearFaults();
});

interface Slot {
  readonly slot: 'provider_a' | 'provider_b' | 'provider_c';
  readonly succeeds: string;
  readonly declined: string;
  /** Pending for its provider for a minute, then paid, or not. */
  readonly settles: { readonly paid: string; readonly failed: string };
  /** Part of the path of the call that charges. */
  readonly charging: string;
  /** The payment gets an id of its own only when it is charged. */
  readonly lateId: boolean;
}

const SLOTS: readonly Slot[] = [
  {
    slot: 'provider_a',
    succeeds: 'pm_card_visa',
    declined: 'pm_card_visa_chargeDeclinedInsufficientFunds',
    settles: { paid: 'pm_sim_processing_ok', failed: 'pm_sim_processing_fail' },
    charging: '/confirm',
    lateId: false,
  },
  {
    slot: 'provider_b',
    succeeds: 'SIM-OK',
    declined: 'SIM-NSF',
    settles: { paid: 'SIM-PENDING-OK', failed: 'SIM-PENDING-FAIL' },
    charging: '/capture',
    lateId: true,
  },
  {
    slot: 'provider_c',
    succeeds: 'cnon:card-nonce-ok',
    declined: 'cnon:card-nonce-insufficient-funds',
    settles: { paid: 'bnon:bank-nonce-ok', failed: 'bnon:bank-nonce-insufficient-funds' },
    charging: '/v2/payments',
    lateId: true,
  },
];

/** Who pays: a session, or a guest with the token that the create gave. */
interface Payer {
  create(fields: ParsedJson): Promise<{ readonly payment: ParsedJson; readonly options: RequestOptions }>;
}

const PAYERS: Readonly<Record<'user' | 'guest', () => Promise<Payer>>> = {
  user: async () => {
    const { options } = await signIn(service, { expires_in: 30 * DAY_SECONDS });
    const create = async (fields: ParsedJson) => {
      const { status, body } = await service.post('/payments/intents', intentBody(fields), options);
      expect(status).toBe(201);
      return { payment: body, options };
    };
    return { create };
  },
  guest: async () => ({
    create: async (fields) => {
      const { status, body } = await service.post('/payments/intents', guestIntentBody(fields));
      expect(status).toBe(201);
      return { payment: body, options: { guestToken: body.guest_token } };
    },
  }),
};

/** In `npm test`, user and guest share the faults and modes of a slot between them. */
const CASES = SLOTS.flatMap((slot) => (['user', 'guest'] as const).map((who, share) => ({ ...slot, who, share })));

describe.each(CASES)('a payment at $slot by a $who', ({ slot, who, share, ...its }) => {
  const began = async (method?: string) => {
    const payer = await PAYERS[who]();
    return payer.create({
      provider_id: slot,
      return_url: 'https://shop.example/back',
      ...(method && { payment_method_id: method }),
    });
  };
  const pay = (payment: ParsedJson, options: RequestOptions, method = its.succeeds): Promise<TestAnswer> =>
    confirm(service, payment.id, { ...options, body: { payment_method_id: method } });
  const read = async (id: string, options: RequestOptions): Promise<ParsedJson> =>
    (await service.get(`/payments/${id}`, options)).body.data;

  /** One charge and one event; the record and the ledger have the same amount and id. */
  const expectPaid = async (id: string, options: RequestOptions): Promise<ParsedJson> => {
    await service.settle();
    const payment = await read(id, options);
    expect(payment).toMatchObject({ status: 'succeeded', completed_at: expect.any(String) });
    const { charges } = await atProvider(service, id);
    const made = charges.filter(({ status }: ParsedJson) => status === 'succeeded');
    expect(made).toMatchObject([{ provider: slot, amount: payment.total_cents, currency: payment.currency }]);
    expect((await eventsOf(service, id)).filter((name) => name === 'payment.succeeded')).toHaveLength(1);
    expect((await storedPayment(service, id)).anomaly).toBeUndefined();
    return payment;
  };
  const expectUnpaid = async (id: string, options: RequestOptions, status: string): Promise<void> => {
    await service.settle();
    expect(await read(id, options)).toMatchObject({ status, completed_at: null });
    expect(await timesCharged(service, id)).toBe(0);
  };

  test('is created, confirmed and paid', async () => {
    const { payment, options } = await began();
    expect(payment).toMatchObject({
      status: 'requires_payment_method',
      provider_id: slot,
      provider_payment_id: expect.any(String),
    });
    const paid = await pay(payment, options);
    expect(paid).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    await expectPaid(payment.id, options);
    expect(await pay(payment, options)).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    expect(await timesCharged(service, payment.id)).toBe(1);
  });

  test('is declined, and paid with another method', async () => {
    const { payment, options } = await began();
    expect(await pay(payment, options, its.declined)).toMatchObject({
      status: 402,
      body: { code: 'PAYMENT_DECLINED', details: { decline_code: 'insufficient_funds' } },
    });
    await expectUnpaid(payment.id, options, 'failed');
    expect(await pay(payment, options)).toMatchObject({ status: 200 });
    await expectPaid(payment.id, options);
  });

  test.each(everyNth(2, ['timeout_before', 'timeout_after'], share))(
    'has an unknown outcome after %s during the charge, and is then paid once',
    async (action) => {
      const { payment, options } = await began();
      await service.fault({ provider: slot, path: its.charging, action, times: 1 });
      expect(await pay(payment, options)).toMatchObject({ status: 202, body: { status: 'processing' } });
      await service.advance(40 * MINUTE_SECONDS);
      await expectPaid(payment.id, options);
    },
  );

  test.each(everyNth(2, ['duplicate', 'reorder', 'delay', 'drop'] as const, share))(
    'is paid once with webhooks in the mode %s',
    async (mode) => {
      await service.webhookMode(mode, 5);
      const { payment, options } = await began();
      await pay(payment, options);
      await service.advance(2 * HOUR_SECONDS);
      await expectPaid(payment.id, options);
    },
  );

  test.each(everyNth(2, ['paid', 'failed'] as const, share))(
    'eventually ends as %s with a slow-settling method',
    async (end) => {
      const { payment, options } = await began();
      const pending = await pay(payment, options, its.settles[end]);
      expect(pending).toMatchObject({ status: 200, body: { status: expect.stringMatching(/^(processing|pending)$/) } });
      await service.advance(5 * MINUTE_SECONDS);
      if (end === 'paid') await expectPaid(payment.id, options);
      else await expectUnpaid(payment.id, options, 'failed');
    },
  );

  if (who === 'user') {
    test('can be synced by each of its ids at the provider', async () => {
      const { payment, options } = await began();
      await service.webhookMode('drop');
      await pay(payment, options);
      const { provider_payment_id: late, provider_intent_id: early } = await expectPaid(payment.id, options);
      expect(late !== early).toBe(its.lateId);
      for (const id of new Set([late, early])) {
        expect(await service.post(`/payments/sync/${id}`, {}, options)).toMatchObject({
          status: 200,
          body: { id: payment.id, status: 'succeeded' },
        });
      }
    });

    test('can be canceled, and is then never charged', async () => {
      const { payment, options } = await began();
      const cancel = () => service.post(`/payments/intents/${payment.id}/cancel`, {}, options);
      for (const _ of [1, 2]) expect(await cancel()).toMatchObject({ status: 200, body: { status: 'canceled' } });
      expect(await pay(payment, options)).toMatchObject({ status: 409, body: { code: 'INVALID_STATE' } });
      await expectUnpaid(payment.id, options, 'canceled');
    });
  }

  test('is found by an event that carries its latest id', async () => {
    const { payment, options } = await began();
    await pay(payment, options);
    const { provider_payment_id: id, total_cents: amount } = await expectPaid(payment.id, options);
    const object = { id, amount, currency: 'usd', status: 'succeeded', customer: null };
    const event = { provider: slot, type: 'payment_intent.succeeded', object, vocabulary: 'contract' as const };
    expect(await service.sendEvent(event)).toMatchObject({ status: 200 });
    await expectPaid(payment.id, options);
  });
});
