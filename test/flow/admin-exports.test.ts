import { beforeAll, describe, expect, test } from 'vitest';
import { encodePlace } from '../../shared/platform/cursor.ts';
import { freePort } from '../builders/free-port.ts';
import { present } from '../builders/present.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import {
  findPlanted,
  plantedRefund,
  planter,
  platformAdmin,
  requestErasure,
  untilErased,
  userLife,
} from './erasures.ts';
import { confirm, createIntent, createPaidIntent, read, signIn, type User } from './flow.ts';
import { withHost } from './host.ts';
import { createCustomer } from './payers.ts';
import type { ParsedJson } from './routes.ts';
import { nodesAt } from './targets.ts';

/** The list of all customers, the exports of payments and refunds, and the export of a person's data. */
const port = await freePort();
const service = withHost({ port, frozen: true, env: nodesAt(port, { canonical: { EVENTS: 'all' } }) });

let admin: User;
beforeAll(async () => {
  admin = await platformAdmin(service);
});

describe('GET /admin/customers', () => {
  test('lists the customers of all owners, newest first, page by page', async () => {
    const made: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      await service.advance(1);
      const user = await signIn(service);
      const provider_id = count === 2 ? 'provider_b' : 'provider_a';
      const { id } = await createCustomer(service, user.options, {
        provider_id,
        name: `Paging ${count}`,
        email: `p${count}@x.example.com`,
      });
      made.unshift(id);
    }
    await service.settle();
    const seen: string[] = [];
    let cursor = '';
    do {
      const { body } = await service.get(`/admin/customers?limit=2${cursor}`, admin.options);
      seen.push(...body.data.map(({ id }: { readonly id: string }) => id));
      cursor = body.meta.next_cursor === null ? '' : `&cursor=${body.meta.next_cursor}`;
    } while (cursor !== '');
    expect(seen.filter((id) => made.includes(id))).toEqual(made);
    expect(new Set(seen).size).toBe(seen.length);
    const found = async (query: string) =>
      (await service.get(`/admin/customers?${query}`, admin.options)).body.data.map(
        ({ id }: { readonly id: string }) => id,
      );
    expect(await found('provider_id=provider_b&limit=100')).toEqual([made[2]]);
    const newest = present((await service.get(`/admin/customers?limit=1`, admin.options)).body.data[0]);
    for (const search of ['P4@X.example.com', 'PAGING 4', newest.id, newest.provider_customer_id]) {
      expect([search, await found(`search=${encodeURIComponent(search)}`)]).toEqual([search, [newest.id]]);
    }
    expect(await found('search=Paging')).toEqual([]);
    const { body: page } = await service.get('/admin/customers?limit=2', admin.options);
    const forged = `/admin/persons/guest:gus@example.com/export?cursor=${page.meta.next_cursor}`;
    expect((await service.get(forged, admin.options)).status).toBe(400);
    const support = await signIn(service, { staff_role: 'support' });
    const operations = await signIn(service, { staff_role: 'operations' });
    expect((await service.get('/admin/customers', support.options)).status).toBe(200);
    expect((await service.get('/admin/customers', operations.options)).status).toBe(403);
  });
});

describe('GET /admin/export', () => {
  test('selects payments and refunds by the requested date, with fees and totals per currency', async () => {
    const user = await signIn(service);
    const plain = await createPaidIntent(service, user);
    await confirm(service, plain.id, user.options);
    const abroad = await createIntent(service, user, { payment_method_id: 'pm_sim_settles_eur' });
    await confirm(service, abroad.id, user.options);
    await service.settle();
    await service.advance(DAY_SECONDS);
    await service.settle();
    const rows = async (path: string) => {
      const answer = await service.get(path, { ...admin.options, headers: { accept: 'text/csv' } });
      expect(answer.headers.get('content-type')).toContain('text/csv');
      const [head = '', ...lines] = String(answer.body).trim().split('\r\n');
      const names = head.split(',');
      const records = lines.map((line) =>
        Object.fromEntries(line.split(',').map((cell, at) => [names[at] ?? '', cell])),
      );
      return { records, totals: answer.headers.get('x-totals') };
    };
    const { records, totals } = await rows('/admin/export/payments?date=completed');
    const eur = records.find(({ id }) => id === abroad.id);
    const usd = records.find(({ id }) => id === plain.id);
    expect(eur).toMatchObject({ settlement_currency: 'EUR', exchange_rate: '0.9', currency: 'USD' });
    expect(usd).toMatchObject({ settlement_currency: 'USD', available_on: expect.stringMatching(/^\d{4}-/) });
    expect(totals).toContain(`EUR fee=${eur?.['fee_cents']} net=${eur?.['net_cents']}`);
    const available = String(usd?.['available_on']);
    const on = async (day: string) =>
      (await rows(`/admin/export/payments?date=available&from=${day}&to=${day}`)).records;
    expect((await on(available.slice(0, 10))).map(({ id }) => id)).toContain(plain.id);
    expect(await on('2020-01-01')).toEqual([]);
    await service.post(`/payments/${plain.id}/refunds`, { amount_cents: 100 }, admin.options);
    await service.advance(DAY_SECONDS);
    await service.settle();
    const refunds = await rows('/admin/export/refunds');
    expect(refunds.records).toMatchObject([{ payment_id: plain.id, net_cents: '-100', settlement_currency: 'USD' }]);
    expect(refunds.totals).toBe('USD fee=0 net=-100');
  });
});

describe('the range of an export', () => {
  const DATES = ['created', 'completed', 'available'] as const;
  type Row = Readonly<Record<`${'created' | 'completed'}_at` | 'available_on' | 'id' | 'payment_id', string>>;
  const dateOf = (row: Row, date: (typeof DATES)[number]): string =>
    ({ created: row.created_at, completed: row.completed_at, available: row.available_on })[date];
  let paymentId = '';

  const rowsIn = async (kind: string, query: string): Promise<readonly Row[]> => {
    const { status, body }: { status: number; body: ParsedJson } = await service.get(
      `/admin/export/${kind}?${query}`,
      admin.options,
    );
    expect({ query, status }).toEqual({ query, status: 200 });
    return body.data;
  };
  const idsIn = async (kind: string, query: string): Promise<readonly string[]> =>
    (await rowsIn(kind, query)).map(({ id }) => id);
  const shifted = (at: string, ms: number): string => new Date(Date.parse(at) + ms).toISOString();

  beforeAll(async () => {
    const user = await signIn(service);
    paymentId = (await createPaidIntent(service, user)).id;
    await service.advance(2 * 60 * 60);
    await confirm(service, paymentId, user.options);
    await service.settle();
    await service.advance(DAY_SECONDS);
    await service.settle();
    await service.post(`/payments/${paymentId}/refunds`, { amount_cents: 100 }, admin.options);
    await service.advance(DAY_SECONDS);
    await service.settle();
  });

  test.each(['payments', 'refunds'].flatMap((kind) => DATES.map((date) => [kind, date] as const)))(
    'includes its first and last instant, and nothing outside, for %s by the date %s',
    async (kind, date) => {
      const rows = await rowsIn(kind, '');
      const row = present(rows.find((one) => [one.id, one.payment_id].includes(paymentId)));
      const at = dateOf(row, date);
      const found = async (from: number, to: number) => {
        const ids = await idsIn(kind, `date=${date}&from=${shifted(at, from)}&to=${shifted(at, to)}`);
        return ids.includes(row.id);
      };
      expect([await found(0, 0), await found(1, 1_000), await found(-1_000, -1)]).toEqual([true, false, false]);
    },
  );
});

describe('receipt_url', () => {
  test.each([
    ['provider_a', 'pm_card_visa', /^https:\/\/pay\.stripe\.com\//],
    ['provider_b', 'SIM-OK', null],
    ['provider_c', 'cnon:card-nonce-ok', /^https:\/\/squareup\.com\//],
  ])('is shown if %s provides one, and is removed by an erasure', async (provider_id, payment_method_id, url) => {
    const user = await signIn(service);
    const { id } = await createIntent(service, user, { provider_id, payment_method_id });
    await confirm(service, id, user.options);
    await service.settle();
    await service.advance(2 * 60);
    await service.settle();
    const { receipt_url } = await read(service, id, user.options);
    if (url === null) expect(receipt_url).toBeNull();
    else expect(receipt_url).toMatch(url);
    const { id: erasure } = await requestErasure(service, admin.options, { user_id: user.userId });
    await untilErased(service, admin.options, { id: erasure });
    expect((await read(service, id, admin.options)).receipt_url).toBeNull();
  });
});

describe('the export of a person', () => {
  const exported = async (id: string) => {
    const entries: { kind: string }[] = [];
    let cursor = '';
    do {
      const { status, body } = await service.get(
        `/admin/persons/${encodeURIComponent(id)}/export${cursor}`,
        admin.options,
      );
      expect(status).toBe(200);
      entries.push(...body.data);
      cursor = body.meta.next_cursor === null ? '' : `?cursor=${body.meta.next_cursor}`;
    } while (cursor !== '');
    return entries;
  };

  test('holds every value that an erasure blanks, and no secret', async () => {
    const plant = planter('eva');
    const life = await userLife(service, plant);
    await plantedRefund(service, plant, { paymentId: life.payments[0].id, admin });
    await service.settle();
    const before = await findPlanted(service, plant.values);
    const entries = await exported(`user:${life.user.userId}`);
    const text = JSON.stringify(entries).toLowerCase();
    const { id } = await requestErasure(service, admin.options, { user_id: life.user.userId });
    await untilErased(service, admin.options, { id });
    const after = await findPlanted(service, plant.values);
    expect(before.length).toBeGreaterThan(10);
    expect(after).toEqual([]);
    expect(plant.values.filter((value) => !text.includes(value.toLowerCase()))).toEqual([]);
    expect(text).not.toMatch(/_secret|guest_token|client.?secret/);
    expect(new Set(entries.map(({ kind }) => kind))).toEqual(
      new Set([
        'subscription',
        'payment',
        'refund',
        'payment_method',
        'customer',
        'address',
        'webhook_log',
        'provider_event',
        'webhook_delivery',
        'stored_answer',
      ]),
    );
    const left = JSON.stringify(await exported(`user:${life.user.userId}`)).toLowerCase();
    expect(plant.values.filter((value) => left.includes(value.toLowerCase()))).toEqual([]);
  });

  test('removes secrets from lists and provider texts', async () => {
    const user = await signIn(service);
    const { id, provider_payment_id: object } = await createPaidIntent(service, user);
    const page = 'https://hooks.stripe.example/3d?payment_intent_client_secret=pi_1_secret_opened1&merchant=acct_1';
    const charges = { data: [{ id: 'ch_listed', token: 'opened2', note: 'of pi_1_secret_opened3' }] };
    const next_action = { redirect_to_url: { url: page } };
    await service.sendEvent({ type: 'payment_intent.succeeded', object: { id: object, charges, next_action } });
    await service.settle();
    const text = JSON.stringify(await exported(`user:${user.userId}`));
    for (const kept of [id, 'ch_listed', 'acct_1']) expect(text).toContain(kept);
    expect(text).not.toMatch(/opened\d/);
  });

  test('continues with its own cursor, but not with another person’s cursor', async () => {
    const [eve, mallory] = ['user:eve', 'guest:mallory@example.com'];
    const cursor = encodePlace(['CUS#x', 'CUS'], `person ${eve}`);
    const statusOf = async (person: string): Promise<number> =>
      (await service.get(`/admin/persons/${encodeURIComponent(person)}/export?cursor=${cursor}`, admin.options)).status;
    expect([await statusOf(eve), await statusOf(mallory)]).toEqual([200, 400]);
  });

  test('requires a user or guest id, and a platform admin', async () => {
    expect((await service.get('/admin/persons/jane/export', admin.options)).status).toBe(400);
    const support = await signIn(service, { staff_role: 'support' });
    expect((await service.get('/admin/persons/user:x/export', support.options)).status).toBe(403);
  });
});
