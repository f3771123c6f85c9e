import type Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MINUTE } from '../../shared/core/time.ts';
import { createRig, errorOf, type Rig } from './simulator-harness.ts';

/** Refunds and disputes of the simulated Stripe: what it refuses, what it sends, and the control routes. */
let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.close());

const paid = (method = 'pm_card_visa', more: Partial<Stripe.PaymentIntentCreateParams> = {}) =>
  rig.stripe.paymentIntents.create({
    amount: 1_099,
    currency: 'usd',
    metadata: { payment_id: 'pay_1' },
    automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
    payment_method: method,
    confirm: true,
    ...more,
  });

type Rows = readonly Record<string, unknown>[];
const ledger = async (query = '') => {
  const { body } = await rig.control('GET', `/ledger${query}`);
  return body as { charges: Rows; refunds: Rows; disputes: Rows };
};

const typesSent = async (): Promise<string[]> => (await rig.events()).map(({ type }) => type);
const aboutMoneyBack = (type: string): boolean => /refund|dispute/.test(type);

const refused = (params: object, path = '/v1/refunds') =>
  errorOf(rig.stripe.rawRequest('POST', path, params as Record<string, unknown>));

describe('a refund error of the simulated Stripe', () => {
  it('names the amounts, without a code, if the refund exceeds the remaining amount', async () => {
    const { id } = await paid();
    await rig.stripe.refunds.create({ payment_intent: id, amount: 99 });
    const error = await refused({ payment_intent: id, amount: 1_001 });
    expect(error).toMatchObject({ statusCode: 400, param: 'amount' });
    expect(error.code).toBeUndefined();
    expect(error.message).toContain('Refund amount ($10.01) is greater than unrefunded amount on charge ($10.00)');
  });

  it('has a code if the charge is already refunded', async () => {
    const { id, latest_charge: charge } = await paid();
    await rig.stripe.refunds.create({ payment_intent: id });
    for (const params of [{ payment_intent: id }, { charge }, { charge, amount: 1 }]) {
      expect(await refused(params)).toMatchObject({ statusCode: 400, code: 'charge_already_refunded' });
    }
  });

  it('says that the payment has no successful charge', async () => {
    const open = await paid('pm_card_authenticationRequired');
    const held = await paid('pm_card_visa', { capture_method: 'manual' });
    for (const { id } of [open, held]) {
      const error = await refused({ payment_intent: id });
      expect(error).toMatchObject({ statusCode: 400 });
      expect(error.message).toContain('does not have a successful charge to refund');
    }
  });

  it.each([
    [{}, 'parameter_missing', undefined],
    [{ charge: 'ch_unknown' }, 'resource_missing', 'charge'],
    [{ payment_intent: 'pi_unknown' }, 'resource_missing', 'payment_intent'],
    [{ charge: '' }, 'parameter_invalid_empty', 'charge'],
    [{ charge: 'ch_1', refund: 'x' }, 'parameter_unknown', 'refund'],
    [{ charge: 'ch_1', reason: 'other' }, undefined, 'reason'],
    [{ charge: 'ch_1', amount: '1.5' }, 'parameter_invalid_integer', 'amount'],
  ])('names the parameter in %o', async (params, code, param) => {
    const error = await refused(params);
    expect([error.statusCode, error.code, error.param]).toEqual([400, code, param]);
  });

  it.each([0, -1])('names the amount parameter for %i', async (amount) => {
    const { id } = await paid();
    expect(await refused({ payment_intent: id, amount })).toMatchObject({
      code: 'parameter_invalid_integer',
      param: 'amount',
    });
  });

  it('is a 404 for an unknown id in the path, and a 400 for a change of anything but metadata', async () => {
    for (const call of [
      () => rig.stripe.refunds.retrieve('re_unknown'),
      () => rig.stripe.refunds.update('re_unknown', {}),
      () => rig.stripe.refunds.cancel('re_unknown'),
      () => rig.stripe.disputes.retrieve('du_unknown'),
      () => rig.stripe.disputes.close('du_unknown'),
    ]) {
      expect(await errorOf(call())).toMatchObject({ statusCode: 404, code: 'resource_missing' });
    }
    const refund = await rig.stripe.refunds.create({ payment_intent: (await paid()).id });
    expect(await refused({ amount: 1 }, `/v1/refunds/${refund.id}`)).toMatchObject({ code: 'parameter_unknown' });
  });

  it('repeats under its key, even if the refund has become possible', async () => {
    const { id } = await paid('pm_card_refundFail');
    await rig.stripe.refunds.create({ payment_intent: id });
    const options = { idempotencyKey: 'ref_1:create' };
    const again = () => errorOf(rig.stripe.refunds.create({ payment_intent: id }, options));
    expect(await again()).toMatchObject({ code: 'charge_already_refunded' });
    await rig.clock.advance(MINUTE);
    expect(await again()).toMatchObject({ code: 'charge_already_refunded' });
    expect(await rig.stripe.refunds.create({ payment_intent: id })).toMatchObject({ amount: 1_099 });
  });

  it('reports the key of another refund as a misuse', async () => {
    const { id } = await paid();
    const options = { idempotencyKey: 'ref_1:create' };
    const first = await rig.stripe.refunds.create({ payment_intent: id, amount: 5 }, options);
    expect((await rig.stripe.refunds.create({ payment_intent: id, amount: 5 }, options)).id).toBe(first.id);
    expect(await errorOf(rig.stripe.refunds.create({ payment_intent: id, amount: 6 }, options))).toMatchObject({
      type: 'StripeIdempotencyError',
    });
  });

  it('limits refunds to the captured amount', async () => {
    const held = await paid('pm_card_visa', { capture_method: 'manual' });
    await rig.stripe.paymentIntents.capture(held.id, { amount_to_capture: 600 });
    expect((await refused({ payment_intent: held.id, amount: 601 })).message).toContain('($6.00)');
    expect(await rig.stripe.refunds.create({ payment_intent: held.id })).toMatchObject({ amount: 600 });
    expect(await refused({ payment_intent: held.id })).toMatchObject({ code: 'charge_already_refunded' });
  });
});

describe('the lists of the simulated Stripe', () => {
  it('filter refunds and disputes by payment or charge', async () => {
    const first = await paid('pm_card_createDisputeInquiry');
    const second = await paid('pm_card_createDisputeInquiry');
    for (const { id } of [first, second]) await rig.stripe.refunds.create({ payment_intent: id, amount: 10 });
    const of = { payment_intent: first.id };
    const by = { charge: String(first.latest_charge) };
    for (const filter of [of, by, { ...of, ...by }]) {
      const { data: refunds } = await rig.stripe.refunds.list(filter);
      expect(refunds.map(({ payment_intent: payment }) => payment)).toEqual([first.id]);
      const { data: disputes } = await rig.stripe.disputes.list(filter);
      expect(disputes.map(({ payment_intent: payment }) => payment)).toEqual([first.id]);
    }
    expect((await rig.stripe.disputes.list()).data).toHaveLength(2);
    expect((await rig.stripe.disputes.list({ limit: 1 })).has_more).toBe(true);
  });
});

describe('the events of the simulated Stripe', () => {
  it('report a refund and its charge at the creation, and the end of a refund that ends later', async () => {
    const sent = async (method: string): Promise<string[]> => {
      const before = (await typesSent()).length;
      await rig.stripe.refunds.create({ payment_intent: (await paid(method)).id });
      await rig.clock.advance(MINUTE);
      return (await typesSent()).slice(before).filter(aboutMoneyBack);
    };
    const made = ['refund.created', 'charge.refunded'];
    expect(await sent('pm_card_visa')).toEqual(made);
    expect(await sent('pm_card_pendingRefund')).toEqual([...made, 'refund.updated', 'charge.refund.updated']);
    expect(await sent('pm_card_refundFail')).toEqual([...made, 'refund.failed', 'charge.refund.updated']);
    expect(await sent('pm_sim_pending_refund_fail')).toEqual([...made, 'refund.failed', 'charge.refund.updated']);
  });

  it('report a dispute after its payment', async () => {
    await paid('pm_card_createDispute');
    expect(await typesSent()).toEqual([
      'payment_intent.created',
      'charge.succeeded',
      'payment_intent.succeeded',
      'charge.dispute.created',
      'charge.dispute.funds_withdrawn',
    ]);
  });
});

describe('the control routes of refunds and disputes', () => {
  it('make a refund as the dashboard does, without our id, by either id of the payment', async () => {
    const { id } = await paid();
    const { status, body } = await rig.control('POST', '/payments/pay_1/refunds', { amount: 99 });
    expect(status).toBe(201);
    expect(body).toMatchObject({ provider: 'provider_a', refund_id: null, payment_id: 'pay_1', amount: 99 });
    expect(await rig.control('POST', `/payments/${id}/refunds`, { status: 'pending' })).toMatchObject({
      status: 201,
      body: { amount: 1_000, status: 'pending' },
    });
    expect((await typesSent()).filter(aboutMoneyBack)).toHaveLength(4);
    const { charges, refunds } = await ledger('?payment_id=pay_1');
    expect(charges).toMatchObject([{ amount: 1_099, amount_refunded: 1_099, status: 'refunded' }]);
    expect(refunds).toEqual([
      expect.objectContaining({ id: (body as { id: string }).id, amount: 99, currency: 'USD', status: 'succeeded' }),
      expect.objectContaining({ payment_id: 'pay_1', charge: charges[0]?.['id'], amount: 1_000, status: 'pending' }),
    ]);
  });

  it.each([
    ['pending', 'succeeded', 1_099],
    ['pending', 'failed', 0],
    ['pending', 'canceled', 0],
    ['succeeded', 'failed', 0],
  ])('move a refund from %s to %s, and %i is then refunded', async (from, to, givenBack) => {
    await paid();
    const { body } = await rig.control('POST', '/payments/pay_1/refunds', { status: from });
    const { id } = body as { id: string };
    expect(await rig.control('POST', `/refunds/${id}`, { status: to })).toMatchObject({
      status: 200,
      body: { id, status: to },
    });
    expect((await ledger()).charges).toMatchObject([{ amount_refunded: givenBack }]);
    for (const status of ['pending', 'succeeded', 'canceled']) {
      expect(await rig.control('POST', `/refunds/${id}`, { status })).toMatchObject({ status: 409 });
    }
  });

  it('count amounts in ISO minor units', async () => {
    await paid('pm_card_visa', { currency: 'isk', amount: 90_000 });
    expect(await rig.control('POST', '/payments/pay_1/refunds', { amount: 450 })).toMatchObject({
      body: { amount: 450, currency: 'ISK' },
    });
    expect((await rig.stripe.refunds.list()).data).toMatchObject([{ amount: 45_000 }]);
    expect(await rig.control('POST', '/payments/pay_1/disputes', { amount: 900 })).toMatchObject({ status: 201 });
    expect((await rig.stripe.disputes.list()).data).toMatchObject([{ amount: 90_000 }]);
  });

  it('raise a dispute, and change its decision', async () => {
    await paid();
    const raised = await rig.control('POST', '/payments/pay_1/disputes', { reason: 'duplicate', amount: 99 });
    expect(raised).toMatchObject({ status: 201, body: { payment_id: 'pay_1', amount: 99, reason: 'duplicate' } });
    const { id } = raised.body as { id: string };
    for (const status of ['under_review', 'won']) {
      expect(await rig.control('POST', `/disputes/${id}`, { status })).toMatchObject({ body: { id, status } });
    }
    expect(await rig.control('POST', `/disputes/${id}`, { status: 'lost' })).toMatchObject({ status: 200 });
    expect((await ledger('?payment_id=pay_1')).disputes).toMatchObject([{ id, status: 'lost' }]);
    expect((await typesSent()).filter(aboutMoneyBack)).toEqual([
      'charge.dispute.created',
      'charge.dispute.funds_withdrawn',
      'charge.dispute.updated',
      'charge.dispute.closed',
      'charge.dispute.funds_reinstated',
      'charge.dispute.closed',
      'charge.dispute.funds_withdrawn',
    ]);
  });

  it('change every field of a dispute, and a read shows the change', async () => {
    await paid();
    const { body } = await rig.control('POST', '/payments/pay_1/disputes', { inquiry: true, status: 'closed' });
    const { id } = body as { id: string };
    const due = new Date(rig.clock.now() + 20 * 86_400_000).toISOString();
    const changes = { status: 'needs_response', amount: 99, reason: 'duplicate', evidence_due_by: due, inquiry: false };
    expect(await rig.control('POST', `/disputes/${id}`, changes)).toMatchObject({
      status: 200,
      body: { id, ...changes },
    });
    expect(await rig.stripe.disputes.retrieve(id)).toMatchObject({
      ...{ status: 'needs_response', amount: 99, reason: 'duplicate' },
      evidence_details: { due_by: Math.floor(Date.parse(due) / 1_000) },
    });
    for (const [field, value] of Object.entries({ amount: 98, reason: 'general', inquiry: true })) {
      const alone = await rig.control('POST', `/disputes/${id}`, { [field]: value });
      expect(alone).toMatchObject({ status: 200, body: { ...changes, status: 'needs_response', [field]: value } });
      await rig.control('POST', `/disputes/${id}`, changes);
    }
    expect((await typesSent()).filter(aboutMoneyBack).slice(0, 4)).toEqual([
      'charge.dispute.created',
      'charge.dispute.closed',
      'charge.dispute.updated',
      'charge.dispute.funds_withdrawn',
    ]);
  });

  it('raise a dispute in a later state, and still announce its creation', async () => {
    await paid();
    await rig.control('POST', '/payments/pay_1/disputes', { inquiry: true, status: 'closed' });
    expect((await rig.stripe.disputes.list()).data).toMatchObject([{ status: 'warning_closed' }]);
    expect((await typesSent()).filter(aboutMoneyBack)).toEqual(['charge.dispute.created', 'charge.dispute.closed']);
  });

  it('refuse impossible requests', async () => {
    await paid('pm_card_authenticationRequired');
    await rig.stripe.paymentIntents.create({ amount: 500, currency: 'kwd', metadata: { payment_id: 'pay_2' } });
    for (const [status, path, body] of [
      [404, '/payments/pay_unknown/refunds', {}],
      [404, '/payments/pay_unknown/disputes', {}],
      [404, '/refunds/re_unknown', { status: 'failed' }],
      [404, '/disputes/du_unknown', { status: 'won' }],
      [409, '/payments/pay_1/refunds', {}],
      [409, '/payments/pay_2/disputes', {}],
      [400, '/payments/pay_1/refunds', { amount: 0 }],
      [400, '/payments/pay_1/refunds', { status: 'failed' }],
      [400, '/payments/pay_1/disputes', { reason: 'whatever' }],
      [400, '/refunds/re_unknown', {}],
      [400, '/disputes/du_unknown', {}],
      [400, '/disputes/du_unknown', { evidence_due_by: 'soon' }],
      [400, '/disputes/du_unknown', { currency: 'EUR' }],
    ] as const) {
      expect([path, (await rig.control('POST', path, body)).status]).toEqual([path, status]);
    }
    await paid('pm_card_visa', { metadata: { payment_id: 'pay_3' } });
    expect(await rig.control('POST', '/payments/pay_3/refunds', { amount: 1_100 })).toMatchObject({ status: 409 });
    expect(await rig.control('POST', '/payments/pay_3/disputes', { amount: 1_100 })).toMatchObject({ status: 409 });
  });
});
