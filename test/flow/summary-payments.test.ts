import { beforeAll, describe, expect, test } from 'vitest';
import { DAY_MS } from '../../shared/core/time.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import {
  changeTable,
  confirm,
  createPaidIntent,
  PATIENT,
  partitionOf,
  signIn,
  storedPayment,
  type User,
} from './flow.ts';
import { heldPayment } from './holders.ts';
import { withHost } from './host.ts';

const dayOf = (time: string): string => time.slice(0, 10);

/** Seconds until the next noon (UTC), so the test does not depend on its start time. */
const untilNoon = (now: number): number => (DAY_SECONDS * 1.5 - (Math.floor(now / 1_000) % DAY_SECONDS)) % DAY_SECONDS;

describe('the summary of payments', () => {
  const service = withHost({ frozen: true, env: PATIENT });
  let user: User;
  let admin: User;
  let organizationId = '';
  let today = '';
  let tomorrow = '';

  const summary = async (
    query = '',
    of: User = user,
    path: '/payments/summary' | '/admin/summary' = '/payments/summary',
  ) => {
    const answer = await service.get(`${path}${query}`, of.options);
    expect(answer).toMatchObject({ status: 200, body: { success: true } });
    return answer.body.data;
  };
  const paid = async (fields: Record<string, unknown>) => {
    const made = await createPaidIntent(service, user, fields);
    expect((await confirm(service, made.id, user.options)).status).toBe(200);
    return made;
  };

  beforeAll(async () => {
    await service.advance(untilNoon(service.now()));
    user = await signIn(service, { email: 'sums@example.com', expires_in: 60 * DAY_SECONDS });
    admin = await signIn(service, { is_admin: true, expires_in: 60 * DAY_SECONDS });
    const organization = await service.post('/organizations', { name: 'Sums Ltd' }, user.options);
    organizationId = organization.body.data.id;
    const first = await paid({ total_cents: 1_000, currency: 'USD' });
    await paid({ total_cents: 250, currency: 'EUR' });
    const late = await createPaidIntent(service, user, { total_cents: 700, currency: 'USD' });
    const amended = await createPaidIntent(service, user, { total_cents: 300, currency: 'USD' });
    await paid({ total_cents: 50, currency: 'USD', organization_id: organizationId });
    today = dayOf(first.created_at);
    await service.put(`/payments/intents/${amended.id}`, { total_cents: 410 }, user.options);
    await service.advance((3 * DAY_SECONDS) / 4);
    const confirmed = await confirm(service, late.id, user.options);
    tomorrow = dayOf(confirmed.body.completed_at);
    await service.settle();
  });

  const none = { refunded_count: 0, refunded_cents: 0, lost_cents: 0 };

  test('counts succeeded payments by completion day and currency', async () => {
    expect(await summary()).toEqual([
      { period: today, currency: 'EUR', count: 1, amount_cents: 250, ...none },
      { period: today, currency: 'USD', count: 1, amount_cents: 1_000, ...none },
      { period: tomorrow, currency: 'USD', count: 1, amount_cents: 700, ...none },
    ]);
  });

  test('counts payments by creation day and current status, with the updated amount', async () => {
    expect(await summary('?group_by=status')).toEqual([
      { period: today, currency: 'EUR', status: 'succeeded', count: 1, amount_cents: 250, ...none },
      { period: today, currency: 'USD', status: 'created', count: 1, amount_cents: 410, ...none },
      { period: today, currency: 'USD', status: 'succeeded', count: 2, amount_cents: 1_700, ...none },
    ]);
  });

  test('groups by provider, and totals the days of a month', async () => {
    const rows = await summary(`?group_by=provider&interval=month&from=${today}&to=${today}`);
    const period = `${today.slice(0, 7)}-01`;
    expect(rows).toEqual([
      { period, currency: 'EUR', provider_id: 'provider_a', count: 1, amount_cents: 250, ...none },
      { period, currency: 'USD', provider_id: 'provider_a', count: 1, amount_cents: 1_000, ...none },
    ]);
  });

  test("shows an organization's payments to its members, and all payments to a platform admin", async () => {
    expect(await summary(`?organization_id=${organizationId}`)).toEqual([
      { period: today, currency: 'USD', count: 1, amount_cents: 50, ...none },
    ]);
    const settled = (currency: string, fee_cents: number, net_cents: number) => ({
      settlements: [{ currency, fee_cents, net_cents }],
    });
    expect(await summary('', admin, '/admin/summary')).toEqual([
      {
        period: today,
        currency: 'EUR',
        count: 1,
        amount_cents: 250,
        ...none,
        new_payers: 0,
        ...settled('EUR', 37, 213),
      },
      {
        period: today,
        currency: 'USD',
        count: 2,
        amount_cents: 1_050,
        ...none,
        new_payers: 2,
        ...settled('USD', 90, 960),
      },
      {
        period: tomorrow,
        currency: 'USD',
        count: 1,
        amount_cents: 700,
        ...none,
        new_payers: 0,
        ...settled('USD', 0, 700),
      },
    ]);
    expect(await summary('', admin)).toEqual([]);
  });

  test('names the covered days, 31 by default', async () => {
    const { body } = await service.get('/payments/summary', user.options);
    expect(body.meta).toMatchObject({ to: tomorrow, interval: 'day', group_by: 'currency' });
    expect(Date.parse(body.meta.to) - Date.parse(body.meta.from)).toBe(30 * DAY_MS);
  });

  test.each([
    ['from=2026-02-30', 'from'],
    ['from=2026-03-02&to=2026-03-01', 'to'],
    ['from=2025-01-01&to=2026-03-01', 'from'],
    ['interval=year', 'interval'],
    ['group_by=user', 'group_by'],
  ])('refuses %s', async (query, path) => {
    const { status, body } = await service.get(`/payments/summary?${query}`, user.options);
    expect([status, body.code, body.details[0]?.path]).toEqual([400, 'VALIDATION_ERROR', path]);
  });

  test('refuses project_id, which would reveal more than requested', async () => {
    const { status, body } = await service.get('/payments/summary?project_id=p', user.options);
    expect([status, body.code]).toEqual([400, 'UNSUPPORTED_FILTER']);
  });

  test('counts a held payment as requires_capture, and only the captured amount as succeeded', async () => {
    const held = await heldPayment(service, user, { subtotal_cents: 2_400, currency: 'DKK' });
    const rowsOf = async (group_by: string) => {
      await service.settle();
      return (await summary(`?group_by=${group_by}`)).filter(({ currency }) => currency === 'DKK');
    };
    const groups = ['currency', 'provider', 'method'];
    expect(await rowsOf('status')).toEqual([
      expect.objectContaining({ status: 'requires_capture', count: 1, amount_cents: 2_500 }),
    ]);
    for (const group of groups) expect(await rowsOf(group)).toEqual([]);
    const { status } = await service.post(`/payments/${held.id}/capture`, { amount_cents: 1_800 }, admin.options);
    expect(status).toBe(200);
    expect(await rowsOf('status')).toEqual([
      expect.objectContaining({ status: 'succeeded', count: 1, amount_cents: 1_800 }),
    ]);
    for (const group of groups) {
      expect(await rowsOf(group)).toEqual([expect.objectContaining({ count: 1, amount_cents: 1_800 })]);
    }
  });

  test('shows refunds with the payments of the same day, by currency, status and provider', async () => {
    const made = await paid({ total_cents: 900, currency: 'SEK' });
    const refund = await service.post(`/payments/${made.id}/refunds`, { amount_cents: 300 }, admin.options);
    expect(refund).toMatchObject({ status: 201, body: { status: 'succeeded' } });
    await service.settle();
    const sums = {
      currency: 'SEK',
      count: 1,
      amount_cents: 900,
      refunded_count: 1,
      refunded_cents: 300,
      lost_cents: 0,
    };
    for (const group_by of ['currency', 'status', 'provider', 'method']) {
      const rows = await summary(`?group_by=${group_by}`);
      expect(rows.filter(({ currency }) => currency === 'SEK')).toEqual([expect.objectContaining(sums)]);
    }
  });

  test('counts a refund once on the day of its success, even if the stream repeats its version', async () => {
    const made = await paid({ total_cents: 4_000, currency: 'GBP' });
    await service.settle();
    const item = await storedPayment(service, made.id);
    const at = new Date(service.now()).toISOString();
    const refund = { id: 'ref_1', amountCents: 1_500, status: 'succeeded', completedAt: at };
    const refunded = {
      ...item,
      version: item.version + 1,
      updatedAt: at,
      cause: 'refund',
      refund,
      refundedCents: 1_500,
    };
    await changeTable(service, { put: refunded });
    await service.settle();
    const gbp = {
      currency: 'GBP',
      count: 1,
      amount_cents: 4_000,
      refunded_count: 1,
      refunded_cents: 1_500,
      lost_cents: 0,
    };
    const shown = async () => (await summary()).filter(({ currency }) => currency === 'GBP');
    expect(await shown()).toEqual([{ period: dayOf(at), ...gbp }]);
    await changeTable(service, { put: item });
    await changeTable(service, { put: refunded });
    await service.settle();
    expect(await shown()).toEqual([{ period: dayOf(at), ...gbp }]);
  });

  test('moves a payment and its refunds once to the method reported later by the provider', async () => {
    const made = await paid({ total_cents: 800, currency: 'NOK' });
    await service.post(`/payments/${made.id}/refunds`, { amount_cents: 200 }, admin.options);
    const period = dayOf(new Date(service.now()).toISOString());
    const nok = {
      period,
      currency: 'NOK',
      count: 1,
      amount_cents: 800,
      refunded_count: 1,
      refunded_cents: 200,
      lost_cents: 0,
    };
    const shown = async () => {
      await service.settle();
      const rows = await summary('?group_by=method', admin, '/admin/summary');
      return rows.filter(({ currency }) => currency === 'NOK');
    };
    const { refund: _, ...stored } = await storedPayment(service, made.id);
    const details = { type: 'card', cardBrand: 'visa', walletType: 'apple_pay', lastFour: '4242' };
    const unknown = { ...stored, version: stored.version + 1, cause: 'facts', details: undefined };
    const known = { ...unknown, version: stored.version + 2, details };
    await changeTable(service, { put: unknown });
    expect(await shown()).toEqual([{ method: null, ...nok }]);
    await changeTable(service, { put: known });
    expect(await shown()).toEqual([{ method: 'visa', ...nok }]);
    await changeTable(service, { put: unknown });
    await changeTable(service, { put: known });
    expect(await shown()).toEqual([{ method: 'visa', ...nok }]);
  });

  test('distributes the totals of all payments over several items', async () => {
    for (let index = 0; index < 24; index += 1) {
      await createPaidIntent(service, user, { currency: 'CHF' });
      // The payments of one batch share a shard.
      await service.settle();
    }
    const shards = await Promise.all(
      Array.from({ length: 8 }, (_, shard) => partitionOf(service, `SUM#ALL#${shard}#PAY`)),
    );
    const used = shards.filter((items) => items.some(({ sk }) => sk.endsWith('#CHF')));
    expect(used.length).toBeGreaterThan(3);
  });
});
