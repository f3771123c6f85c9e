import { describe, expect, test } from 'vitest';
import { DAY_MS } from '../../shared/core/time.ts';
import { guestIntentBody } from '../builders/intent.ts';
import { DAY_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import {
  changeTable,
  confirm,
  createIntent,
  createPaidIntent,
  itemsOf,
  signIn,
  storedPayment,
  type User,
} from './flow.ts';
import { withHost } from './host.ts';
import { company, saveReadyMethod } from './payers.ts';
import type { ParsedJson } from './routes.ts';

const service = withHost({ frozen: true });

/** Moves the clock two days, so a test can list only its own payments. All tests of this file share one table. */
const start = async () => {
  await service.advance(2 * DAY_SECONDS);
  const admin = await signIn(service, { is_admin: true });
  return { admin, user: await signIn(service), since: new Date(service.now()).toISOString() };
};

type Query = Readonly<Record<string, string>>;
const list = async (admin: User, query: Query) => {
  await service.settle();
  const answer = await service.get(`/admin/payments?${new URLSearchParams(query)}`, admin.options);
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200, body: { success: true } });
  return answer.body;
};
const idsOf = async (admin: User, query: Query): Promise<string[]> =>
  (await list(admin, query)).data.map(({ id }) => id);

/** The ids of all pages, and the number of pages. */
const allPages = async (admin: User, query: Query) => {
  const ids: string[] = [];
  let cursor: string | null = null;
  let pages = 0;
  do {
    const { data, meta }: ParsedJson = await list(admin, { ...query, ...(cursor !== null && { cursor }) });
    ids.push(...data.map(({ id }: ParsedJson) => id));
    expect(meta).toEqual({
      limit: Number(query['limit'] ?? 25),
      has_more: meta.next_cursor !== null,
      next_cursor: meta.next_cursor,
    });
    cursor = meta.next_cursor;
    pages += 1;
  } while (cursor !== null);
  return { ids, pages };
};

describe('GET /admin/payments', () => {
  test('lists the payments of users, guests and organizations, newest first and without secrets', async () => {
    const { admin, user, since } = await start();
    const acme = await company(service);
    const personal = await createIntent(service, user);
    await service.advance(MINUTE_SECONDS);
    const { body: ofGuest } = await service.post('/payments/intents', guestIntentBody());
    await service.advance(MINUTE_SECONDS);
    const ofAcme = await createIntent(service, acme.billing, { organization_id: acme.id });
    const { data, meta } = await list(admin, { from: since });
    expect(data.map(({ id }) => id)).toEqual([ofAcme.id, ofGuest.id, personal.id]);
    expect(meta).toEqual({ limit: 25, has_more: false, next_cursor: null });
    expect(JSON.stringify(data)).not.toMatch(/secret|guest_token/);
  });

  test('pages by cursor through many days, shards and empty days, and lists each payment once', async () => {
    const { admin, user, since } = await start();
    const made: string[] = [];
    for (let day = 0; day < 5; day += 1) {
      await service.advance(5 * DAY_SECONDS);
      const { session_id: session } = await service.session({ user_id: user.userId });
      for (let index = 0; index < 4; index += 1) {
        await service.advance(MINUTE_SECONDS);
        made.unshift((await createIntent(service, { ...user, options: { session } })).id);
      }
    }
    const late = await signIn(service, { is_admin: true, user_id: admin.userId });
    for (const limit of ['1', '3', '100']) {
      expect((await allPages(late, { from: since, limit })).ids, limit).toEqual(made);
    }
    const link = (await service.get(`/admin/payments?from=${since}&limit=3`, late.options)).headers.get('link');
    expect(link).toMatch(/^<\/admin\/payments\?.*limit=3.*cursor=.*>; rel="next"$/);
  }, 60_000);

  test('reads only a part of a long range per request if nothing matches, and continues by cursor', async () => {
    const { admin, user } = await start();
    const payment = await createIntent(service, user, { currency: 'SEK' });
    await service.advance(40 * DAY_SECONDS);
    const late = await signIn(service, { is_admin: true, user_id: admin.userId });
    const filter = { currency: 'SEK' };
    const from = new Date(service.now() - 60 * DAY_MS).toISOString();
    const first = await list(late, { ...filter, from });
    expect(first).toMatchObject({ data: [], meta: { has_more: true } });
    const { ids, pages } = await allPages(late, { ...filter, from });
    expect(ids).toEqual([payment.id]);
    expect(pages).toBeLessThanOrEqual(6);
    // Without `from`, the range is the last 31 days.
    expect((await allPages(late, filter)).ids).toEqual([]);
  });

  test('finds a payment of any age by its current reference code, but not by a replaced code', async () => {
    const { admin, user } = await start();
    const [former, reference_code] = [`former-${user.userId}`, `needle-${user.userId}`];
    const payment = await createIntent(service, user, { reference_code: former });
    await service.put(`/payments/intents/${payment.id}`, { reference_code }, user.options);
    await service.settle();
    await service.advance(200 * DAY_SECONDS);
    const late = await signIn(service, { is_admin: true, user_id: admin.userId });
    expect(await list(late, { search: reference_code.toUpperCase() })).toMatchObject({
      data: [{ id: payment.id }],
      meta: { has_more: false },
    });
    expect((await list(late, { search: former })).data).toEqual([]);
  });

  test('finds a payment by our id, a provider’s id, an e-mail, a reference code or the last four digits', async () => {
    const { admin, user, since } = await start();
    const email = `found.${user.userId.toLowerCase()}@example.com`;
    const named = await signIn(service, { email });
    const acme = await company(service);
    const saved = await saveReadyMethod(service, named.options);
    const reference_code = `ORDER-${user.userId}`;
    const payment = await createIntent(service, named, { reference_code, payment_method_id: saved.id });
    await service.advance(MINUTE_SECONDS);
    const { body: guests } = await service.post('/payments/intents', guestIntentBody({}, { email }));
    const other = await createIntent(service, acme.owner, { organization_id: acme.id });
    const from = since;
    expect(await idsOf(admin, { search: payment.id })).toEqual([payment.id]);
    expect(await idsOf(admin, { search: other.provider_payment_id })).toEqual([other.id]);
    expect(await idsOf(admin, { search: email.toUpperCase() })).toEqual([guests.id, payment.id]);
    expect((await allPages(admin, { search: email, limit: '1' })).ids).toEqual([guests.id, payment.id]);
    expect(await idsOf(admin, { search: reference_code.toLowerCase(), from })).toEqual([payment.id]);
    expect(await idsOf(admin, { search: saved.card_last_four, from })).toEqual([payment.id]);
    expect(await idsOf(admin, { search: 'pay_000000000000000000000000' })).toEqual([]);
    expect(await idsOf(admin, { search: 'unknown@example.com' })).toEqual([]);
    expect(await idsOf(admin, { search: payment.id, status: 'failed' })).toEqual([]);
  });

  test('finds a payment by the last four digits of its deleted method', async () => {
    const { admin, user, since } = await start();
    const saved = await saveReadyMethod(service, user.options);
    const payment = await createIntent(service, user, { payment_method_id: saved.id });
    await service.settle();
    expect((await service.request('DELETE', `/payment-methods/${saved.id}`, user.options)).status).toBe(204);
    await service.post(`/payments/intents/${payment.id}/cancel`, {}, user.options);
    const found = { search: saved.card_last_four, from: since, status: 'canceled' };
    expect(await idsOf(admin, found)).toEqual([payment.id]);
  });

  test('filters by status, provider, currency, amount, time, user, organization, refunds and disputes', async () => {
    const { admin, user, since } = await start();
    const acme = await company(service);
    const paid = await createPaidIntent(service, user, { total_cents: 700, currency: 'EUR' });
    await confirm(service, paid.id, user.options);
    await service.advance(MINUTE_SECONDS);
    const open = await createIntent(service, acme.owner, { organization_id: acme.id, total_cents: 900 });
    const from = since;
    expect(await idsOf(admin, { from, status: 'succeeded' })).toEqual([paid.id]);
    expect(await idsOf(admin, { from, status: 'succeeded,requires_payment_method' })).toEqual([open.id, paid.id]);
    expect(await idsOf(admin, { from, provider_id: 'provider_b' })).toEqual([]);
    expect(await idsOf(admin, { from, currency: 'eur' })).toEqual([paid.id]);
    expect(await idsOf(admin, { from, min_cents: '701' })).toEqual([open.id]);
    expect(await idsOf(admin, { from, max_cents: '700' })).toEqual([paid.id]);
    expect(await idsOf(admin, { from: open.created_at })).toEqual([open.id]);
    expect(await idsOf(admin, { from, to: paid.created_at })).toEqual([paid.id]);
    expect(await idsOf(admin, { user_id: user.userId })).toEqual([paid.id]);
    expect(await idsOf(admin, { user_id: acme.owner.userId })).toEqual([open.id]);
    expect(await idsOf(admin, { organization_id: acme.id })).toEqual([open.id]);
    expect(await idsOf(admin, { organization_id: acme.id, user_id: user.userId })).toEqual([]);
    expect(await idsOf(admin, { from, refund_status: 'none', disputed: 'false' })).toEqual([open.id, paid.id]);
    expect(await idsOf(admin, { from, refund_status: 'partial' })).toEqual([]);
    expect(await idsOf(admin, { from, disputed: 'true' })).toEqual([]);
  });

  test('filters by the refunds and disputes in the latest version of each payment', async () => {
    const { admin, user, since } = await start();
    const paid = await createPaidIntent(service, user, { total_cents: 700 });
    await confirm(service, paid.id, user.options);
    await service.settle();
    const [item] = (await itemsOf(service, `PAY#${paid.id}`)).filter(({ sk }) => sk === 'PAY');
    const next = {
      ...item,
      version: item.version + 1,
      refundedCents: 200,
      disputes: [{ id: 'dsp_1', amountCents: 200 }],
    };
    await changeTable(service, { put: next });
    expect(await idsOf(admin, { from: since, refund_status: 'partial', disputed: 'true' })).toEqual([paid.id]);
    await changeTable(service, { put: { ...next, version: next.version + 1, refundedCents: 700 } });
    expect(await idsOf(admin, { from: since, refund_status: 'partial' })).toEqual([]);
    expect(await idsOf(admin, { from: since, refund_status: 'full' })).toEqual([paid.id]);
  });

  const FINGERPRINT = `fp_${'a1'.repeat(12)}`;
  const visa = { type: 'card', cardBrand: 'visa', lastFour: '4242', fingerprint: FINGERPRINT };
  /** Stores facts as if the provider had reported them. */
  const learn = async (id: string, fields: Readonly<Record<string, unknown>>) => {
    await service.settle();
    const item = await storedPayment(service, id);
    await changeTable(service, { put: { ...item, version: item.version + 1, cause: 'facts', ...fields } });
  };

  test('finds payments by the last four digits of a card that was not saved', async () => {
    const { admin, user, since } = await start();
    const [one, other] = [await createIntent(service, user), await createIntent(service, user)];
    await learn(one.id, { details: { ...visa, lastFour: '0019' } });
    await learn(other.id, { details: { ...visa, lastFour: '1117' } });
    expect(await idsOf(admin, { search: '0019', from: since })).toEqual([one.id]);
    expect(await idsOf(admin, { search: '1117', from: since })).toEqual([other.id]);
  });

  test('filters by card brand, wallet, fingerprint and decline code', async () => {
    const { admin, user, since } = await start();
    const [plain, wallet, declined] = [
      await createIntent(service, user),
      await createIntent(service, user),
      await createIntent(service, user),
    ];
    await learn(plain.id, { details: visa });
    await learn(wallet.id, {
      details: { ...visa, cardBrand: 'amex', walletType: 'apple_pay', fingerprint: undefined },
    });
    await learn(declined.id, { status: 'failed', failureCode: 'insufficient_funds' });
    const found = (query: Query) => idsOf(admin, { from: since, ...query });
    expect(await found({ card_brand: 'Visa' })).toEqual([plain.id]);
    expect(await found({ card_brand: 'amex', wallet_type: 'apple_pay' })).toEqual([wallet.id]);
    expect(await found({ wallet_type: 'google_pay' })).toEqual([]);
    expect(await found({ fingerprint: FINGERPRINT })).toEqual([plain.id]);
    expect(await found({ decline_code: 'insufficient_funds' })).toEqual([declined.id]);
    await learn(declined.id, { status: 'succeeded', failureCode: undefined, details: visa });
    expect(await found({ decline_code: 'insufficient_funds' })).toEqual([]);
    expect((await found({ fingerprint: FINGERPRINT })).toSorted()).toEqual([plain.id, declined.id].toSorted());
  });

  test('finds uncaptured holds that end by a given time', async () => {
    const { admin, user, since } = await start();
    const [first, second] = [await createIntent(service, user), await createIntent(service, user)];
    await createIntent(service, user);
    const held = { status: 'requires_capture', captureMethod: 'manual', authorizedCents: 2_500 };
    await learn(first.id, { ...held, captureBefore: '2026-12-01T10:00:00.000Z' });
    await learn(second.id, { ...held, captureBefore: '2026-12-02T10:00:00.000Z' });
    const found = (capture_before: string) => idsOf(admin, { from: since, capture_before });
    expect(await found('2026-12-01T09:59:59Z')).toEqual([]);
    expect(await found('2026-12-01')).toEqual([first.id]);
    expect((await found('2026-12-02T10:00:00Z')).toSorted()).toEqual([first.id, second.id].toSorted());
    await learn(first.id, { status: 'succeeded' });
    expect(await found('2026-12-02')).toEqual([second.id]);
    const options = { ...admin.options, headers: { accept: 'text/csv' } };
    const csv = String((await service.get(`/admin/payments?from=${since}&capture_before=2026-12-02`, options)).body);
    const [names = '', values = ''] = csv.split('\r\n');
    expect(names).toMatch(/,capture_method,authorized_cents,captured_cents,disputed_cents,lost_cents$/);
    expect(values).toMatch(/,manual,2500,0,0,0$/);
  });

  test('shows the method, the fee and the payer of each payment as CSV', async () => {
    const { admin, since } = await start();
    const acme = await company(service);
    const made = await createIntent(service, acme.owner, { organization_id: acme.id });
    const settlement = { feeCents: 59, netCents: 941, currency: 'EUR' };
    await learn(made.id, { details: { ...visa, walletType: 'apple_pay' }, settlement });
    await service.settle();
    const options = { ...admin.options, headers: { accept: 'text/csv' } };
    const csv = String((await service.get(`/admin/payments?from=${since}`, options)).body);
    const [names = [], values = []] = csv.split('\r\n').map((line) => line.split(','));
    const cells = Object.fromEntries(names.map((name, index) => [name, values[index]]));
    expect(cells).toMatchObject({
      ...{ method_type: 'card', wallet_type: 'apple_pay', card_brand: 'visa', last_four: '4242', decline_code: '' },
      ...{ fee_cents: '59', net_cents: '941', settlement_currency: 'EUR' },
      organization_name: 'Acme',
    });
    const owners = await service.get(`/payments?organization_id=${acme.id}`, {
      ...acme.owner.options,
      headers: { accept: 'text/csv' },
    });
    expect(owners.body).toContain('card_brand');
    expect(owners.body).not.toMatch(/fee_cents|net_cents/);
  });

  test("names the payer's e-mail address and the organization of each payment", async () => {
    const { admin, since } = await start();
    const acme = await company(service);
    const user = await signIn(service, { email: 'payer@example.com' });
    const personal = await createIntent(service, user);
    const { body: guests } = await service.post('/payments/intents', guestIntentBody({}, { email: 'g@example.com' }));
    const ofAcme = await createIntent(service, acme.owner, { organization_id: acme.id });
    const { data } = await list(admin, { from: since });
    const payers = Object.fromEntries(
      data.map(({ id, user_email, organization_name }) => [id, [user_email, organization_name]]),
    );
    expect(payers).toEqual({
      [personal.id]: ['payer@example.com', null],
      [guests.id]: ['g@example.com', null],
      [ofAcme.id]: [expect.stringContaining('@'), 'Acme'],
    });
  });

  test('finds no payment by the last four digits of its card after the payment is erased', async () => {
    const { admin, user, since } = await start();
    const saved = await saveReadyMethod(service, user.options);
    const payment = await createIntent(service, user, { payment_method_id: saved.id });
    expect(await idsOf(admin, { search: saved.card_last_four, from: since })).toEqual([payment.id]);
    await service.post(`/payments/intents/${payment.id}/cancel`, {}, user.options);
    await learn(payment.id, { cause: 'erasure', erasedAt: new Date(service.now()).toISOString() });
    expect(await idsOf(admin, { search: saved.card_last_four, from: since })).toEqual([]);
  });

  test.each([
    ['limit=0', 'limit'],
    ['card_brand=vi*sa', 'card_brand'],
    ['wallet_type=a;b', 'wallet_type'],
    ['fingerprint=fp_1', 'fingerprint'],
    ['decline_code=unlucky', 'decline_code'],
    ['limit=101', 'limit'],
    ['status=paid', 'status.0'],
    ['provider_id=stripe', 'provider_id'],
    ['currency=dollar', 'currency'],
    ['min_cents=5&max_cents=4', 'max_cents'],
    ['from=2026-03-02&to=2026-03-01', 'to'],
    ['refund_status=some', 'refund_status'],
    ['cursor=x', 'cursor'],
  ])('refuses %s', async (query, path) => {
    const { admin } = await start();
    const { status, body } = await service.get(`/admin/payments?${query}`, admin.options);
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path }] });
  });

  test('requires a platform admin', async () => {
    const { user } = await start();
    expect((await service.get('/admin/payments')).status).toBe(401);
    expect(await service.get('/admin/payments', user.options)).toMatchObject({
      status: 403,
      body: { code: 'ADMIN_REQUIRED' },
    });
  });
});
