import fc from 'fast-check';
import { targetOf } from './target-of.ts';

/** A generated request to a payment route, invalid by exactly one fault. */
export interface BadRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer> | undefined;
}

/** The session and payments named in the requests. The payments must not change. */
export interface RequestTarget {
  readonly session: string;
  readonly unconfirmedId: string;
  readonly settledId: string;
  readonly providerPaymentId: string;
}

type Arb<T> = fc.Arbitrary<T>;
const among = <T>(...values: readonly T[]): Arb<T> => fc.constantFrom(...values);

const strange = among(
  '\u0000',
  '..',
  '.',
  '%',
  '%00',
  '\ufffd',
  '💳',
  'ﷺ',
  '\u202e',
  '__proto__',
  'constructor',
  'toString',
  "'--",
  '{{x}}',
  '<b>',
);
const text = fc.oneof(strange, fc.string({ minLength: 1, maxLength: 30, unit: 'grapheme' }));
const longerThan = (length: number): Arb<string> =>
  fc.integer({ min: 1, max: 500 }).map((more) => 'x'.repeat(length + more));
const notText: Arb<unknown> = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.array(fc.anything().map(() => 'a')),
  among({}, { a: 1 }, { length: 1 }),
);
const notObject: Arb<unknown> = fc.oneof(
  among<unknown>([], null, true, 0, '', 'x', [{}], [[]]),
  fc.string(),
  fc.integer(),
);

const badCents: Arb<unknown> = fc.oneof(
  fc.integer({ max: -1 }),
  fc.double({ min: 2 ** 53, noNaN: true, noDefaultInfinity: true }),
  fc.double({ min: 0.01, max: 0.99, noNaN: true }).map((part) => 7 + part),
  text,
  among<unknown>(true, [], {}, '1', [100], { $numberLong: '1' }, 1e300, -0.5, Number.MAX_SAFE_INTEGER),
);
/** A lone surrogate. */
const LONE = '\ud800';
const badText = (length: number): Arb<unknown> => fc.oneof(notText, longerThan(length), among(LONE, `a${LONE}b`));
const badMetadata: Arb<unknown> = fc.oneof(
  among<unknown>(
    [],
    'x',
    1,
    true,
    [['a', 'b']],
    { a: 1e300 },
    { a: [1e-200] },
    { constructor: 'c' },
    { a: { constructor: { name: 'Set' } } },
    { a: LONE },
    { [LONE]: 'a' },
  ),
  longerThan(40).map((key) => ({ [key]: 'a' })),
  longerThan(500).map((value) => ({ a: value })),
  fc
    .integer({ min: 51, max: 80 })
    .map((count) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 'v']))),
  among(Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`k${at}`, 'v'.repeat(499)]))),
  among({ '': 'empty' }),
);

/** The values that each field refuses. Null and "" are not among them, because they mean absent. */
const BAD_FIELDS: Readonly<Record<string, Arb<unknown>>> = {
  subtotal_cents: badCents,
  tax_cents: badCents,
  discount_cents: badCents,
  total_cents: badCents,
  amount_cents: badCents,
  currency: fc.oneof(notText, among(' ', 'QQQ', '\u0000', 'U', '💶', '__proto__', 'USDOLLARS12')),
  provider_id: fc.oneof(notText, text, among('provider_e', 'PROVIDER_A', 'provider_d')),
  description: badText(1_000),
  concept: badText(200),
  reference_code: badText(100),
  category: badText(100),
  tags: fc.oneof(badText(500), among(Array.from({ length: 21 }, () => 'a').join(), 'x'.repeat(51))),
  setup_future_usage: fc.oneof(notText, text),
  payment_method_id: fc.oneof(notText, longerThan(255)),
  customer_id: badText(64),
  organization_id: badText(64),
  project_id: badText(64),
  product_id: badText(64),
  billing_address_id: badText(64),
  return_url: fc.oneof(
    notText,
    among('x', 'javascript:alert(1)', 'file:///etc/passwd', '//x', 'http://'),
    longerThan(2_048).map((end) => `https://x.example/${end}`),
  ),
  metadata: badMetadata,
  guest_data: fc.oneof(
    among<unknown>(
      [],
      'x',
      1,
      true,
      {},
      { email: 'a@example.com' },
      { name: 'x' },
      { email: 'a@example.com', name: '' },
    ),
    fc.record({
      email: fc.oneof(notText, among('', 'a', 'a@', '@b', 'a b@example.com', 'a@example.com\u0000')),
      name: among('A'),
    }),
    fc.record({ email: among('a@example.com'), name: badText(200) }),
    fc.record({ email: among('a@example.com'), name: among('A'), phone: badText(32) }),
  ),
};
const oneBadField = (fields: readonly string[] = Object.keys(BAD_FIELDS)): Arb<Record<string, unknown>> =>
  fc.constantFrom(...fields).chain((field) => (BAD_FIELDS[field] ?? notText).map((value) => ({ [field]: value })));

const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
const json = (value: unknown): string => JSON.stringify(value);

/** Invalid bodies, sent as application/json. A valid body is a JSON object of at most ten levels and 256 KB. */
const badBody: Arb<BadRequest['body']> = fc.oneof(
  { weight: 6, arbitrary: notObject.map((value) => json(value)) },
  {
    weight: 6,
    arbitrary: among(
      '{',
      '}',
      '{"a"}',
      "{'a':1}",
      '{"a":1,}',
      'undefined',
      'NaN',
      '{"a":NaN}',
      '\ufeff{}',
      '{}{}',
      '{} x',
      '"\\ud800',
      '\u0000',
      '{"total_cents":01}',
      '<xml/>',
      'a=1&b=2',
    ),
  },
  { weight: 3, arbitrary: fc.string({ minLength: 1 }).filter((value) => !isJson(value)) },
  {
    weight: 3,
    arbitrary: fc.uint8Array({ minLength: 1, maxLength: 60 }).map((bytes) => new Uint8Array([0xff, ...bytes])),
  },
  { weight: 2, arbitrary: fc.integer({ min: 11, max: 400 }).map(nested) },
  { weight: 1, arbitrary: among('['.repeat(100_000), nested(20_000), `${'['.repeat(50_000)}${']'.repeat(50_000)}`) },
  { weight: 1, arbitrary: among(json({ pad: 'x'.repeat(256 * 1_024) }), 'x'.repeat(300_000)) },
);
const isJson = (value: string): boolean => {
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
};

const CREATES = ['/payments/intents', '/payments'] as const;
const GOOD = { total_cents: 2_500, currency: 'USD' };

/** A query parameter that is always invalid. */
const badQuery: Arb<string> = fc
  .oneof(
    fc.tuple(
      among('page', 'limit'),
      fc.oneof(
        among('0', '-1', '1.5', '1e1', ' 1', '+1', '9999999999', '１', '0x1'),
        text.filter((value) => !/^\d+$/.test(value)),
      ),
    ),
    fc.tuple(among('limit'), fc.integer({ min: 51 }).map(String)),
    fc.tuple(among('status', 'orderBy', 'orderDir'), fc.oneof(text, among('paid', 'up', 'succeeded,', 'id'))),
    fc.tuple(
      among('created_at_from', 'created_at_to'),
      fc.oneof(text, among('now', '2020-13-01', '2020-02-30', '1', '2020-01-01T00:00:00')),
    ),
    fc.tuple(
      among('include_pm', 'include_payment_method'),
      fc.oneof(
        text.filter((value) => !['0', '1'].includes(value)),
        among('maybe', 'on', '2'),
      ),
    ),
    fc.tuple(among('search'), longerThan(200)),
    fc.tuple(among('cursor'), fc.oneof(text, among('W10', 'bnVsbA', 'WyJhIl0', 'eyJhIjoxfQ'), longerThan(1_000))),
    fc.tuple(among('project_id', 'product_id', 'organization_id'), longerThan(64)),
    fc.tuple(among('token'), longerThan(2_048)),
  )
  .map(([name, value]) => `?${name}=${encodeURIComponent(wellFormed(value))}`);
const wellFormed = (value: string): string => value.toWellFormed();
const segment = (value: string): string => encodeURIComponent(wellFormed(value)).replaceAll('.', '%2E');

const badCredential: Arb<{ headers: Record<string, string>; query: string }> = fc.oneof(
  among({ headers: {}, query: '' }),
  fc
    .oneof(text, among('..', '.', '', 'sess_', 'demo-owner '))
    .map((value) => ({ headers: {}, query: `?session_id=${segment(`x${value}`)}` })),
  fc.stringMatching(/^[!-~]{1,40}$/).map((value) => ({ headers: { 'x-session-id': `no${value}` }, query: '' })),
  fc.stringMatching(/^[!-~]{1,40}$/).map((value) => ({ headers: { authorization: value }, query: '' })),
  fc
    .stringMatching(/^[\w-]{1,20}\.[\w-]{1,20}\.[\w-]{1,20}$/)
    .map((value) => ({ headers: { authorization: `Bearer ${value}` }, query: '' })),
  among('eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.', 'a.b.c', '..').map((value) => ({
    headers: { authorization: `Bearer ${value}` },
    query: '',
  })),
  text.map((value) => ({ headers: {}, query: `?token=${segment(value)}` })),
);

/** @returns an arbitrary of requests that must all be refused */
export const badRequests = (target: RequestTarget): Arb<BadRequest> => {
  const signedIn = { 'x-session-id': target.session, 'content-type': 'application/json' };
  const commands = [
    ['POST', `/payments/confirm/${target.unconfirmedId}`],
    ['POST', `/payments/intents/${target.unconfirmedId}/cancel`],
    ['POST', `/payments/sync/${target.providerPaymentId}`],
    ['PUT', `/payments/intents/${target.unconfirmedId}`],
    ...CREATES.map((path) => ['POST', path] as const),
  ] as const;
  const reads = ['/payments', `/payments/${target.settledId}`] as const;
  const command = fc.constantFrom(...commands);
  const withBody = (target: string, body: BadRequest['body'], headers = {}): BadRequest => ({
    ...targetOf(target),
    headers: { ...signedIn, ...headers },
    body,
  });
  const strangePath = fc.oneof(text, longerThan(64), among('pay_000000000000000000000000', 'pi_none')).map(segment);
  return fc.oneof(
    {
      weight: 8,
      arbitrary: fc
        .tuple(among(...CREATES), oneBadField())
        .map(([path, bad]) => withBody(`POST ${path}`, json({ ...GOOD, ...bad }))),
    },
    {
      weight: 4,
      arbitrary: oneBadField().map((bad) => withBody(`PUT /payments/intents/${target.unconfirmedId}`, json(bad))),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(
          among(...CREATES),
          among('pm_none', 'tok_none', 'tok_\u0000', 'pm_card_none', '__proto__', '../../x', 'pmt_1'),
        )
        .map(([path, method]) => withBody(`POST ${path}`, json({ ...GOOD, payment_method_id: method }))),
    },
    {
      weight: 2,
      arbitrary: oneBadField(['payment_method_id', 'return_url']).map((bad) =>
        withBody(`POST /payments/confirm/${target.unconfirmedId}`, json(bad)),
      ),
    },
    {
      // The body has a single field with this name. Prices and currency are absent, or would come from the prototype.
      weight: 1,
      arbitrary: fc
        .tuple(among(...CREATES), among('__proto__', 'constructor', 'prototype', 'body'))
        .map(([path, name]) => withBody(`POST ${path}`, `{"${name}":${json(GOOD)}}`)),
    },
    {
      weight: 5,
      arbitrary: fc.tuple(command, badBody).map(([[method, path], body]) => withBody(`${method} ${path}`, body)),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(
          command,
          among(
            'text/plain',
            'text/json',
            'application/xml',
            'application/jsonx',
            'multipart/form-data; boundary=x',
            'application/x-www-form-urlencoded',
            'application/octet-stream',
            '*/*',
            'json',
          ),
        )
        .map(([[method, path], type]) => withBody(`${method} ${path}`, json(GOOD), { 'content-type': type })),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(among(...CREATES), among('é', 'x'.repeat(256), ' ', '\u00a0'))
        .map(([path, key]) => withBody(`POST ${path}`, json(GOOD), { 'idempotency-key': key })),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(command, among('1', 'latest', '2026-13-01', '2026-11-01T00:00:00Z', 'null'))
        .map(([[method, path], version]) => withBody(`${method} ${path}`, json(GOOD), { 'x-api-version': version })),
    },
    { weight: 5, arbitrary: badQuery.map((query) => withBody(`GET /payments${query}`, undefined)) },
    {
      weight: 2,
      arbitrary: among('organization_id', 'project_id', 'product_id')
        .chain((name) => text.map((value) => `?${name}=${segment(value)}`))
        .map((query) => withBody(`GET /payments/${target.settledId}${query}`, undefined)),
    },
    {
      weight: 1,
      arbitrary: text.map((value) =>
        withBody(`GET /payments/${target.settledId}?include=${segment(`x${value}`)}`, undefined),
      ),
    },
    {
      weight: 4,
      arbitrary: fc
        .tuple(
          among(
            ['GET', '/payments/', ''],
            ['POST', '/payments/confirm/', ''],
            ['POST', '/payments/sync/', ''],
            ['PUT', '/payments/intents/', ''],
            ['POST', '/payments/intents/', '/cancel'],
          ),
          strangePath,
        )
        .map(([[method = '', before = '', after = ''], id]) =>
          withBody(`${method} ${before}${id}${after}`, method === 'GET' ? undefined : '{}'),
        ),
    },
    {
      weight: 1,
      arbitrary: fc
        .oneof(text, longerThan(254))
        .filter((value) => !value.includes('@'))
        .map((value) => withBody(`GET /payments/guest/${segment(value)}`, undefined)),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(
          among('DELETE', 'PATCH', 'PUT', 'POST', 'GET'),
          among(
            '/payments/intents/x/y',
            '/payment',
            '/payments/intents/x/cancel/y',
            '/%2F',
            '/payments%2Fintents',
            '//payments',
          ),
        )
        .map(([method, path]) => withBody(`${method} ${path}`, method === 'GET' ? undefined : json(GOOD))),
    },
    {
      weight: 1,
      arbitrary: among('/payments/%E0%A4%A', '/payments/%', '/payments/intents/%zz').map((path) =>
        withBody(`PUT ${path}`, '{}'),
      ),
    },
    {
      weight: 4,
      arbitrary: fc
        .tuple(fc.oneof(command, among(...reads.map((path) => ['GET', path] as const))), badCredential)
        .map(([[method, path], { headers, query }]) => ({
          method,
          path: `${path}${query}`,
          headers: { 'content-type': 'application/json', ...headers },
          body: method === 'GET' ? undefined : json(GOOD),
        })),
    },
  );
};
