import { beforeAll, describe, expect, test } from 'vitest';
import { EVERY_SUBSCRIPTION_COLUMNS } from '../../shared/admin/list-every-subscription.ts';
import { encodeCursor } from '../../shared/platform/cursor.ts';
import { LISTED_DISPUTE_COLUMNS, LISTED_REFUND_COLUMNS } from '../../shared/queries/list-refunds.ts';
import { EVERY_PAYMENT_COLUMNS, PAYMENT_CSV_COLUMNS } from '../../shared/queries/payment-csv.ts';
import { SUBSCRIPTION_COLUMNS } from '../../shared/subscriptions/record/subscription-view.ts';
import { guestIntentBody } from '../builders/intent.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { changeTable, createPaidIntent, PATIENT, signIn, storedPayment, type User } from './flow.ts';
import { type TestAnswer, withHost } from './host.ts';
import { paidPayment } from './refunders.ts';

/** Parses CSV as RFC 4180 defines it. */
const parseCsv = (text: string): string[][] => {
  const rows: string[][] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
  let row: string[] = [];
  for (let match = cell.exec(text); match; match = cell.exec(text)) {
    row.push(match[1] === undefined ? (match[2] ?? '') : match[1].replaceAll('""', '"'));
    if (match[3] === ',') continue;
    rows.push(row);
    row = [];
    if (cell.lastIndex === text.length) return rows;
  }
  throw new Error('this is no CSV');
};

const recordsOf = ({ body }: TestAnswer): Record<string, string>[] => {
  const [header = [], ...rows] = parseCsv(body);
  return rows.map((row) => Object.fromEntries(header.map((name, index) => [name, row[index] ?? ''])));
};

const nextOf = ({ headers }: TestAnswer): string | undefined =>
  /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];

const MANY = 1_050;

describe('lists as CSV', () => {
  const service = withHost({ frozen: true, env: PATIENT });
  let user: User;
  let many: User;

  const csv = (path: string, of: User = user, accept = 'text/csv') =>
    service.get(path, { ...of.options, headers: { accept } });

  beforeAll(async () => {
    user = await signIn(service, { email: 'csv@example.com', expires_in: 30 * DAY_SECONDS });
    many = await signIn(service, { email: 'many@example.com', expires_in: 30 * DAY_SECONDS });
    await createPaidIntent(service, user, { total_cents: 1_234, description: '=HYPERLINK("https://evil.example")' });
    await createPaidIntent(service, user, { total_cents: 99, description: 'two\r\nlines, "quoted"', concept: '-1+2' });
    const one = await createPaidIntent(service, many, { total_cents: 500 });
    const item = await storedPayment(service, one.id);
    for (let index = 1; index < MANY; index += 1) {
      const id = `pay_${String(index).padStart(24, '0')}`;
      const sort = `${new Date(Date.parse(one.created_at) - index * 1_000).toISOString()}#${id}`;
      await changeTable(service, { put: { ...item, pk: `PAY#${id}`, sort } });
    }
    await service.settle();
  });

  test('give payments a header row, one row per payment, and the same values as the list', async () => {
    const answer = await csv('/payments');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="payments.csv"');
    expect(answer.headers.get('vary')).toContain('Accept');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const [header] = parseCsv(answer.body);
    expect(header).toEqual(PAYMENT_CSV_COLUMNS);
    const { body } = await service.get('/payments', user.options);
    const shown = recordsOf(answer);
    expect(shown).toHaveLength(2);
    for (const [index, payment] of body.data.entries()) {
      for (const name of ['id', 'status', 'currency', 'amount_cents', 'created_at', 'is_guest_payment'] as const) {
        expect(shown[index]?.[name]).toBe(String(payment[name]));
      }
    }
  });

  test('quote commas, quotes and line ends, and never start a cell like a formula', async () => {
    const answer = await csv('/payments?orderDir=asc');
    const shown = recordsOf(answer);
    expect(shown.map(({ description }) => description).toSorted()).toEqual([
      `'=HYPERLINK("https://evil.example")`,
      'two\r\nlines, "quoted"',
    ]);
    expect(shown.map(({ concept }) => concept).toSorted()).toEqual(['', "'-1+2"]);
    expect(answer.body).not.toMatch(/(^|,|\n)"?[=+@-]/);
  });

  test('come in pages of 1,000 rows linked by Link headers, for any limit, each page with the header row', async () => {
    const pages: number[] = [];
    const ids = new Set<string>();
    for (let path: string | undefined = '/payments?limit=7&status=created'; path; ) {
      const answer: TestAnswer = await csv(path, many);
      const shown = recordsOf(answer);
      pages.push(shown.length);
      for (const { id = '' } of shown) ids.add(id);
      path = nextOf(answer);
    }
    expect(pages).toEqual([1_000, 50]);
    expect(ids.size).toBe(MANY);
  });

  test('list each payment of all owners once for platform admins', async () => {
    const admin = await signIn(service, { is_admin: true });
    const ids: string[] = [];
    const pages: number[] = [];
    for (let path: string | undefined = '/admin/payments?limit=3&min_cents=100'; path; ) {
      const answer: TestAnswer = await csv(path, admin);
      expect(answer).toMatchObject({ status: 200 });
      expect(parseCsv(answer.body)[0]).toEqual([...EVERY_PAYMENT_COLUMNS]);
      const shown = recordsOf(answer);
      pages.push(shown.length);
      ids.push(...shown.map(({ id = '' }) => id));
      path = nextOf(answer);
    }
    expect(pages[0]).toBe(1_000);
    expect(ids).toHaveLength(MANY + 1);
    expect(new Set(ids).size).toBe(MANY + 1);
    const forged = Buffer.from(JSON.stringify(['', '', 'anywhere'])).toString('base64url');
    expect((await csv(`/admin/payments?cursor=1.${forged}`, admin)).status).toBe(400);
    expect((await csv('/admin/payments')).status).toBe(403);
  });

  test('end at 100,000 rows', async () => {
    const first = nextOf(await csv('/payments', many)) ?? '';
    const [, position = ''] = /cursor=1000\.([\w-]+)/.exec(first) ?? [];
    const last = await csv(`/payments?cursor=99950.${position}`, many);
    expect(recordsOf(last)).toHaveLength(50);
    expect(nextOf(last)).toBeUndefined();
    expect((await csv(`/payments?cursor=100000.${position}`, many)).status).toBe(400);
  });

  test.each([
    ['', 'day by day'],
    ['status=created', 'by a filter'],
    ['user_id=', 'of one user'],
  ])('list all owners’ payments in pages of 1,000 rows, each once, for the query "%s" (%s)', async (query) => {
    const admin = await signIn(service, { is_admin: true });
    const named = query.endsWith('=') ? `${query}${many.userId}` : query;
    const pages: string[][] = [];
    for (let path: string | undefined = `/admin/payments?limit=7&${named}`; path; ) {
      const answer: TestAnswer = await csv(path, admin);
      expect(parseCsv(answer.body)[0]).toEqual([...EVERY_PAYMENT_COLUMNS]);
      pages.push(recordsOf(answer).map(({ id = '' }) => id));
      path = nextOf(answer);
    }
    const { body } = await service.get(`/admin/payments?limit=3&${named}`, admin.options);
    const ids = pages.flat();
    expect(ids.slice(0, 3)).toEqual(body.data.map(({ id }) => id));
    expect(ids.filter((id) => id.startsWith('pay_00000')).length).toBe(MANY - 1);
    expect(new Set(ids).size).toBe(ids.length);
    // A request reads a bounded number of days, so pages of earlier days without payments are empty.
    expect(pages.map(({ length }) => length).filter((rows) => rows > 0)).toEqual([1_000, ids.length - 1_000]);
    expect(pages.length).toBeLessThanOrEqual(4);
  });

  test('contain no secret in the export of all payments, which requires a platform admin', async () => {
    const admin = await signIn(service, { is_admin: true });
    const answer = await csv(`/admin/payments?user_id=${user.userId}`, admin);
    expect(recordsOf(answer)).toHaveLength(2);
    expect(answer.body).not.toMatch(/secret|guest_token/);
    expect(await csv('/admin/payments')).toMatchObject({ status: 403, body: { code: 'ADMIN_REQUIRED' } });
    expect(await csv('/disputes')).toMatchObject({ status: 403, body: { code: 'ADMIN_REQUIRED' } });
    for (const cursor of [
      'nonsense',
      '1000.nonsense',
      `1000.${encodeCursor({ pk: 'x', sk: 'y', sort: 'z' }, 'every payment')}`,
    ]) {
      expect((await csv(`/admin/payments?cursor=${cursor}`, admin)).status).toBe(400);
    }
  });

  test('give disputes the same values as the JSON list', async () => {
    const admin = await signIn(service, { is_admin: true });
    const payment = await paidPayment(service, user);
    await service.control('POST', `/simulator/payments/${payment.id}/disputes`, { reason: 'fraudulent' });
    await service.settle();
    const answer = await csv('/disputes?status=needs_response', admin);
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="disputes.csv"');
    expect(parseCsv(answer.body)[0]).toEqual([...LISTED_DISPUTE_COLUMNS]);
    const [listed] = (await service.get('/disputes', admin.options)).body.data;
    expect(recordsOf(answer)).toEqual([
      Object.fromEntries(LISTED_DISPUTE_COLUMNS.map((name) => [name, String(listed?.[name] ?? '')])),
    ]);
    expect(listed).toMatchObject({ payment_id: payment.id, status: 'needs_response' });
  });

  test('cover subscriptions, refunds and summaries too', async () => {
    const subscriptions = await csv('/subscriptions');
    expect(parseCsv(subscriptions.body)).toEqual([[...SUBSCRIPTION_COLUMNS]]);
    const admin = await signIn(service, { is_admin: true });
    const all = await csv('/admin/subscriptions', admin);
    expect(parseCsv(all.body)).toEqual([[...EVERY_SUBSCRIPTION_COLUMNS]]);
    expect(all.headers.get('content-disposition')).toBe('attachment; filename="subscriptions.csv"');
    expect(parseCsv((await csv('/refunds', admin)).body)).toEqual([[...LISTED_REFUND_COLUMNS]]);
    const summary = await csv('/payments/summary?group_by=status', many);
    const [row] = recordsOf(summary);
    expect(row).toMatchObject({ status: 'created', provider_id: '', refunded_count: '0' });
    expect(summary.headers.get('content-disposition')).toBe('attachment; filename="payments-summary.csv"');
  });

  test.each([
    ['*/*', 'application/json'],
    ['application/json, text/csv', 'application/json'],
    ['text/csv;q=0.4, application/json;q=0.5', 'application/json'],
    ['text/csv;q=0', 'application/json'],
    ['text/html, application/xhtml+xml, */*;q=0.8', 'application/json'],
    ['text/csv;q=0.5, application/json;q=0.4', 'text/csv; charset=utf-8'],
    ['text/csv, */*', 'text/csv; charset=utf-8'],
    ['text/*', 'text/csv; charset=utf-8'],
    ['TEXT/CSV; charset=utf-8', 'text/csv; charset=utf-8'],
  ])('depend on Accept: %s returns %s', async (accept, type) => {
    const answer = await csv('/payments', user, accept);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe(type);
    expect(answer.headers.get('vary')).toContain('Accept');
  });

  test('require the same permission as the list, and keep errors as JSON', async () => {
    const other = await signIn(service);
    const organization = await service.post('/organizations', { name: 'Closed' }, user.options);
    const { id } = organization.body.data;
    const refused = await csv(`/payments?organization_id=${id}`, other);
    expect(refused).toMatchObject({ status: 403, body: { code: 'ORGANIZATION_ACCESS_DENIED' } });
    expect(refused.headers.get('content-type')).toBe('application/json');
    const anonymous = await service.get('/payments', { headers: { accept: 'text/csv' } });
    expect(anonymous).toMatchObject({ status: 401, body: { code: 'AUTHENTICATION_REQUIRED' } });
  });

  test("show a guest's payments only to the guest's token", async () => {
    const mine = await service.post(
      '/payments/intents',
      guestIntentBody({ guest_data: { email: 'guest.csv@example.com', name: 'Guest' } }),
    );
    await service.post(
      '/payments/intents',
      guestIntentBody({ guest_data: { email: 'guest.csv@example.com', name: 'Guest' } }),
    );
    const answer = await service.get('/payments', {
      guestToken: mine.body.guest_token,
      headers: { accept: 'text/csv' },
    });
    expect(recordsOf(answer).map(({ id }) => id)).toEqual([mine.body.id]);
  });

  test.each(['cursor=nonsense', 'cursor=1000.nonsense', 'cursor=-1', 'orderBy=amount_cents'])(
    'refuse %s',
    async (query) => {
      expect((await csv(`/payments?${query}`)).status).toBe(400);
    },
  );

  test('exist only for lists, so other routes return JSON', async () => {
    const answer = await csv('/health');
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.headers.get('vary') ?? '').not.toContain('Accept');
  });
});
