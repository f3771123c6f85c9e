import { beforeAll, describe, expect, test } from 'vitest';
import { endpoints } from '../../functions/api/catalogue.ts';
import { fieldsOf } from '../builders/hostile-requests.ts';
import { guestIntentBody } from '../builders/intent.ts';
import { productBody } from '../builders/reference.ts';
import { createIntent, signIn, type User } from './flow.ts';
import { type RequestOptions, withHost } from './host.ts';
import { newOrganization } from './organization-steps.ts';
import { paidPayment } from './refunders.ts';
import { payer, subscribe } from './subscribers.ts';

const service = withHost({ frozen: true, env: { RATE_LIMITS: 'off' } });
const EMAIL = 'gus@example.com';

/** Every list with a cursor. The paths and queries of some lists name records. */
const LISTS = (named: Named): readonly (readonly [name: string, path: string, query: string])[] => [
  ['GET /payments', '/payments', ''],
  ['GET /payments', '/payments', `organization_id=${named.organizationId}`],
  ['GET /payments/guest/{email}', `/payments/guest/${EMAIL}`, ''],
  ['GET /refunds', '/refunds', ''],
  ['GET /disputes', '/disputes', ''],
  ['GET /admin/payments', '/admin/payments', ''],
  ['GET /admin/subscriptions', '/admin/subscriptions', ''],
  ['GET /admin/keys', '/admin/keys', ''],
  ['GET /admin/customers', '/admin/customers', ''],
  ['GET /payment-links', '/payment-links', ''],
  ['GET /products', '/products', ''],
  ['GET /admin/export/payments', '/admin/export/payments', ''],
  ['GET /admin/export/refunds', '/admin/export/refunds', ''],
  ['GET /payments/{id}/timeline', `/payments/${named.paymentId}/timeline`, ''],
  ['GET /subscriptions/{id}/timeline', `/subscriptions/${named.subscriptionId}/timeline`, ''],
];

interface Named {
  readonly organizationId: string;
  readonly paymentId: string;
  readonly subscriptionId: string;
}

/** The list that a URL reads. An export reads the same records in the same order, so both accept the same cursors. */
const walkOf = (url: string): string =>
  url.replace('/admin/export/payments', '/admin/payments').replace('/admin/export/refunds', '/refunds');

interface Listed {
  readonly url: string;
  readonly cursor: string;
}

/** Cursors with one wrong part, for JSON lists and for CSV pages. */
const forgedFrom = ({ url, cursor }: Listed): readonly { readonly url: string; readonly sent: string }[] => {
  const parts: unknown[] = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  // An empty part of a timeline's cursor means the beginning.
  const empty = url.endsWith('/timeline') ? [] : [''];
  const forged = ['\ud800', ...empty, 'x'.repeat(2_000), 7, null].flatMap((bad) =>
    parts.map((_, at) => Buffer.from(JSON.stringify(parts.with(at, bad))).toString('base64url')),
  );
  return forged.flatMap((sent) => [
    { url, sent },
    { url, sent: `1.${sent}` },
  ]);
};

describe('a cursor', () => {
  let admin: User;
  let lists: readonly Listed[];
  let options: RequestOptions;

  const get = (url: string, query: string) => service.get(`${url}${url.includes('?') ? '&' : '?'}${query}`, options);

  beforeAll(async () => {
    admin = await signIn(service, { is_admin: true });
    options = admin.options;
    const other = await signIn(service, { is_admin: true });
    const organizationId = await newOrganization(service, admin);
    let paymentId = '';
    for (let count = 0; count < 2; count += 1) {
      const paid = await paidPayment(service, admin);
      await createIntent(service, admin, { organization_id: organizationId });
      await service.post('/payments/intents', guestIntentBody({}, { email: EMAIL }));
      await service.post(`/payments/${paid.id}/refunds`, { amount_cents: 100 }, other.options);
      paymentId = paid.id;
      await service.control('POST', `/simulator/payments/${paid.id}/disputes`, { reason: 'fraudulent' });
      await service.put(`/admin/products/${count}-plan.é`, productBody(), options);
      await service.post('/admin/keys', { name: 'backend', scopes: ['payments:read'] }, options);
      await service.post('/payment-links', { total_cents: 500, currency: 'USD' }, options);
      await service.settle();
      await service.advance(1);
    }
    const who = await payer(service, options);
    await payer(service, other.options);
    await subscribe(service, who);
    const { id: subscriptionId } = await subscribe(service, who);
    await service.request('PATCH', `/subscriptions/${subscriptionId}`, {
      ...options,
      body: { metadata: { seats: '2' } },
    });
    await service.settle();
    const found: Listed[] = [];
    for (const [, path, query] of LISTS({ organizationId, paymentId, subscriptionId })) {
      const url = query === '' ? path : `${path}?${query}`;
      const { status, body } = await get(url, 'limit=1');
      expect([url, status, typeof body.meta.next_cursor]).toEqual([url, 200, 'string']);
      found.push({ url, cursor: body.meta.next_cursor });
    }
    lists = found;
  });

  test('is tested here for every list with a cursor in the catalogue', () => {
    const named = endpoints.filter(({ query }) => fieldsOf(query).includes('cursor'));
    // A person's export ends a page by the work done, not by a limit. The tests of that export forge its cursor.
    const known = new Set([
      'GET /admin/persons/{id}/export',
      ...LISTS({ organizationId: '', paymentId: '', subscriptionId: '' }).map(([name]) => name),
    ]);
    expect(named.map(({ method, path }) => `${method} ${path}`).filter((name) => !known.has(name))).toEqual([]);
  });

  test('continues its own list, and gets 400 from every other list', async () => {
    const wrong: string[] = [];
    for (const { url } of lists) {
      for (const { url: from, cursor } of lists) {
        const { status } = await get(url, `limit=1&cursor=${cursor}`);
        if (status !== (walkOf(url) === walkOf(from) ? 200 : 400)) wrong.push(`${from} at ${url}: ${status}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test('gets 400, never 500, with a lone surrogate, an empty key or a key that is too long', async () => {
    const wrong: string[] = [];
    for (const { url, sent } of lists.flatMap(forgedFrom)) {
      const { status, body } = await get(url, `cursor=${sent}`);
      if (status !== 400 || body.details?.[0]?.path !== 'cursor') wrong.push(`${url} ${sent}: ${status}`);
    }
    expect(wrong).toEqual([]);
  });

  test('gets 400 outside the range that the request filters by', async () => {
    const names: Readonly<Record<string, readonly [string, string]>> = {
      '/payments': ['created_at_from', 'created_at_to'],
      '/refunds': ['from', 'to'],
      '/disputes': ['from', 'to'],
      '/admin/payments': ['from', 'to'],
      '/admin/subscriptions': ['from', 'to'],
    };
    for (const { url, cursor } of lists) {
      const [from, to] = names[url] ?? [];
      if (from === undefined) continue;
      for (const range of [`${from}=2099-01-01`, `${to}=2001-01-01`]) {
        expect(await get(url, `${range}&cursor=${cursor}`)).toMatchObject({
          status: 400,
          body: { details: [{ rule: 'range' }] },
        });
      }
    }
  });
});
