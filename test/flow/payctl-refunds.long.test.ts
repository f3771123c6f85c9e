/** @module payctl's commands for refunds and disputes, and their output. */

import { describe, expect, test } from 'vitest';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../shared/core/time.ts';
import { present } from '../builders/present.ts';
import { DAY_SECONDS, MINUTE_SECONDS, YEAR_SECONDS } from '../builders/seconds.ts';
import { confirm, createPaidIntent, PATIENT, read, signIn } from './flow.ts';
import { withHost } from './host.ts';
import { payctlOf, spawned } from './payctl.ts';
import { expectAgreement, PAYING_METHODS, paidPayment, refundsAtProvider, signInAdmin } from './refunders.ts';
import type { ParsedJson } from './routes.ts';

const service = withHost({ frozen: true, env: PATIENT });
const payctl = payctlOf(service);

/** The demo key of payctl on a local host. */
const OPERATOR = 'key_de40de40de40de40de40de40';

const setUp = async (provider = PAYING_METHODS[0]) => {
  const user = await signIn(service, { expires_in: YEAR_SECONDS });
  return { user, payment: await paidPayment(service, user, { paying: provider }) };
};
const checkOf = ({ checks }: ParsedJson, name: string) => checks.find(({ check }: ParsedJson) => check === name);

describe('payctl refund', () => {
  test('shows the planned refund in a dry run, and otherwise refunds until nothing is left', async () => {
    const { user, payment } = await setUp();
    // No events are sent. An event that arrived before payctl's write would become the actor of the refund.
    await service.webhookMode('drop');
    const part = ['refund', payment.id, '--amount', '700', '--reason', 'duplicate'];
    const planned = { amount_cents: 700, currency: 'USD', provider: 'provider_a', reason: 'duplicate' };
    expect(await payctl([...part, '--dry-run'])).toMatchObject({
      exitCode: 0,
      json: { dry_run: true, payment_id: payment.id, refundable_cents: 1_800, ...planned },
    });
    expect(await refundsAtProvider(service, payment.id)).toEqual([]);
    expect(await payctl(part)).toMatchObject({
      exitCode: 0,
      json: {
        dry_run: false,
        refundable_cents: 1_800,
        refund: { payment_id: payment.id, amount_cents: 700, status: 'succeeded', source: 'api', created_by: OPERATOR },
      },
    });
    const rest = await spawned(service.host().baseUrl, ['refund', payment.provider_payment_id]);
    expect(rest).toMatchObject({ exitCode: 0, stderr: '' });
    expect(rest.stdout).toMatch(
      /^ref_\w+ is succeeded\n18\.00 of 25\.00 USD of pay_\w+ at provider_a, .*\n0\.00 USD left/,
    );
    const tooMuch = await spawned(service.host().baseUrl, ['refund', payment.id, '--amount', '1']);
    expect(tooMuch).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringMatching(/^REFUND_EXCEEDS_PAYMENT/),
    });
    await service.webhookMode('normal');
    await service.settle();
    expect(await read(service, payment.id, user.options)).toMatchObject({
      refunded_cents: 2_500,
      refund_status: 'full',
    });
    const admin = await signInAdmin(service);
    const timeline = (await service.get(`/payments/${payment.id}/timeline`, admin.options)).body.data;
    expect(timeline.find(({ refund }) => refund?.amount_cents === 700)).toMatchObject({
      actor: { type: 'key', id: OPERATOR },
    });
    await expectAgreement(service, payment.id, admin);
  });

  test('refuses an invalid amount, an unpaid payment and an unknown payment', async () => {
    const unpaid = await createPaidIntent(service, await signIn(service));
    const cases: readonly [readonly string[], RegExp][] = [
      [[unpaid.id, '--amount', '1.5'], /whole number of minor units/],
      [[unpaid.id], /^INVALID_STATE: [^\n]+\n$/],
      [['pay_none'], /^RESOURCE_NOT_FOUND: [^\n]+\n$/],
      [['pi_none'], /^there is no payment pi_none\n$/],
    ];
    for (const [args, complaint] of cases) {
      const refused = await spawned(service.host().baseUrl, ['refund', ...args]);
      expect(refused).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringMatching(complaint) });
    }
  });

  test('shows a refund as failed if an earlier refund at the provider leaves too little', async () => {
    const { payment } = await setUp();
    await service.webhookMode('drop');
    await service.control('POST', `/simulator/payments/${payment.id}/refunds`, { amount: 2_000 });
    await service.webhookMode('normal');
    expect(await payctl(['refund', payment.id, '--amount', '1000'])).toMatchObject({
      exitCode: 1,
      json: { refund: { amount_cents: 1_000, status: 'failed' }, refundable_cents: 500 },
    });
  });

  test('shows a refund without a provider response as pending, doctor lists it, and reconcile stores its outcome', async () => {
    const { user, payment } = await setUp();
    const charged = await createPaidIntent(service, user);
    await service.webhookMode('drop');
    await service.fault({ provider: 'provider_a', method: 'POST', path: '/v1/refunds', times: 1, action: 'malformed' });
    const unclear = await payctl(['refund', payment.id, '--amount', '300']);
    expect(unclear).toMatchObject({ exitCode: 1, json: { refund: { status: 'pending', provider_refund_id: null } } });
    await service.fault({ provider: 'provider_a', action: 'error_500' });
    await confirm(service, charged.id, user.options);
    await service.advance(11 * MINUTE_SECONDS);
    const blind = await payctl(['drift', '--since', new Date(service.now() - 12 * MINUTE_MS).toISOString()]);
    expect(blind).toMatchObject({
      exitCode: 2,
      json: { drifted: 0, not_compared: blind.json.checked, unread: [{ provider: 'provider_a', reason: 'error' }] },
    });
    await service.clearFaults();
    const { exitCode, json } = await payctl(['doctor']);
    expect(exitCode).toBe(1);
    expect(checkOf(json, 'payments')).toMatchObject({ state: 'fail', detail: expect.stringContaining(charged.id) });
    expect(checkOf(json, 'creations')).toMatchObject({ state: 'ok' });
    expect(checkOf(json, 'refunds')).toMatchObject({
      state: 'fail',
      detail: expect.stringContaining(`${unclear.json.refund.id} of ${payment.id}`),
    });
    expect(await payctl(['reconcile', payment.id])).toMatchObject({
      exitCode: 0,
      json: { outcome: 'same', money_back: { stored: 1, findings: [] } },
    });
    await service.webhookMode('normal');
    await expectAgreement(service, payment.id, await signInAdmin(service));
  });
});

describe.each(PAYING_METHODS)('payctl drift at %s', (...paying) => {
  test('lists each differing field of a dispute, and repairs all of them', async () => {
    const { user, payment } = await setUp(paying);
    const { id } = await service.control('POST', `/simulator/payments/${payment.id}/disputes`, { status: 'lost' });
    await service.settle();
    await service.webhookMode('drop');
    const due = new Date(service.now() + 20 * DAY_MS).toISOString();
    const moved = { status: 'needs_response', amount: 900, reason: 'duplicate', evidence_due_by: due };
    await service.control('POST', `/simulator/disputes/${id}`, moved);
    await service.webhookMode('normal');
    const since = ['--since', new Date(service.now() - MINUTE_MS).toISOString()];
    const kindsOf = ({ findings }: ParsedJson) =>
      findings.filter(({ payment_id }: ParsedJson) => payment_id === payment.id).map(({ kind }: ParsedJson) => kind);
    const found = await payctl(['drift', ...since]);
    expect(kindsOf(found.json)).toEqual(
      expect.arrayContaining([
        'dispute amount differs',
        'dispute due date differs',
        'dispute reason differs',
        'dispute status differs',
      ]),
    );
    const fixed = await payctl(['drift', ...since, '--fix']);
    expect(fixed.json.findings.filter(({ payment_id }: ParsedJson) => payment_id === payment.id)).toSatisfy(
      (all: ParsedJson[]) => all.length === 4 && all.every((one) => one.fixed),
    );
    expect(kindsOf((await payctl(['drift', ...since])).json)).toEqual([]);
    const [dispute] = (await service.get(`/payments/${payment.id}/disputes`, user.options)).body;
    expect(dispute).toMatchObject({ status: 'needs_response', amount_cents: 900, closed_at: null });
    expect(Date.parse(present(dispute).evidence_due_by)).toBe(Math.floor(Date.parse(due) / SECOND_MS) * SECOND_MS);
  });
});

describe('payctl', () => {
  test('timeline lists the refunds and disputes of a payment', async () => {
    const { user, payment } = await setUp(PAYING_METHODS[2]);
    await service.control('POST', `/simulator/payments/${payment.id}/refunds`, { amount: 400, status: 'succeeded' });
    await service.control('POST', `/simulator/payments/${payment.id}/disputes`, {});
    await service.settle();
    const { json } = await payctl(['timeline', payment.id]);
    expect(json).toMatchObject({
      refunds: [{ amount_cents: 400, status: 'succeeded', source: 'provider' }],
      disputes: [{ amount_cents: 2_500, status: 'needs_response' }],
    });
    const changes = json.entries.filter(({ kind }: ParsedJson) => kind === 'change');
    expect(changes.find(({ cause }: ParsedJson) => cause === 'refund').refund).toEqual({
      id: json.refunds[0].id,
      amount_cents: 400,
      status: 'succeeded',
      reason: json.refunds[0].reason,
    });
    expect(changes.find(({ cause }: ParsedJson) => cause === 'dispute').dispute).toEqual({
      id: json.disputes[0].id,
      amount_cents: 2_500,
      status: 'needs_response',
      reason: json.disputes[0].reason,
      evidence_due_by: json.disputes[0].evidence_due_by,
    });
    const shown = await service.get(`/payments/${payment.id}/timeline`, user.options);
    expect(shown.body.data.filter(({ kind }) => kind === 'change')).toEqual(changes);
  });

  test('doctor lists a dispute when its evidence is due within three days, until the evidence is submitted', async () => {
    const { payment } = await setUp();
    const { id } = await service.control('POST', `/simulator/payments/${payment.id}/disputes`, {});
    await service.settle();
    expect(checkOf((await payctl(['doctor'])).json, 'disputes')).toMatchObject({ state: 'ok' });
    await service.advance(4 * DAY_SECONDS + MINUTE_SECONDS);
    const warned = await payctl(['doctor']);
    expect(warned.exitCode).toBe(1);
    expect(checkOf(warned.json, 'disputes')).toMatchObject({
      state: 'fail',
      detail: expect.stringMatching(new RegExp(`dsp_\\w+ of ${payment.id} by 20`)),
    });
    await service.control('POST', `/simulator/disputes/${id}`, { status: 'under_review' });
    await service.settle();
    expect(checkOf((await payctl(['doctor'])).json, 'disputes').detail).not.toContain(payment.id);
  });
});
