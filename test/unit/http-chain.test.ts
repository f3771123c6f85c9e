import { beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { Credentials } from '../../shared/access/authenticate.ts';
import { cacheEpoch } from '../../shared/access/cache-epoch.ts';
import type { Caller } from '../../shared/access/caller.ts';
import type { RecordKind } from '../../shared/access/record-kind.ts';
import { standings } from '../../shared/access/standing.ts';
import { DomainError } from '../../shared/core/errors.ts';
import { type AccessRule, type Auth, type Endpoint, endpoint } from '../../shared/http/endpoint.ts';
import type { ChainDeps, WebDeps } from '../../shared/http/exchange.ts';
import { lambda } from '../../shared/http/lambda.ts';
import type { ApiRequest, Reply } from '../../shared/http/request.ts';
import { apiContext, apiEvent } from '../builders/api-event.ts';
import { guest, session } from '../builders/api-request.ts';
import { noLinks, testIds } from '../builders/ids.ts';
import { logLines } from '../builders/log-lines.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { NOON } from '../builders/payment.ts';

const body = z.object({
  amount: z.int().min(1),
  note: z.string().max(5).optional(),
  guest_data: z.object({ email: z.string(), name: z.string() }).optional(),
});

const itemEndpoint = (fields: Partial<Endpoint<z.ZodType, z.ZodType, typeof body>> = {}) =>
  endpoint(() => ({
    id: 'items.make',
    method: 'POST',
    path: '/items/{id}',
    summary: 'Make an item',
    description: 'Makes an item of the amount.',
    auth: 'session',
    params: z.object({ id: z.string().max(3) }),
    query: z.object({ page: z.string().regex(/^\d+$/).optional() }),
    body,
    response: () => z.unknown(),
    status: 201,
    form: 'bare',
    uses: [],
    idempotent: 'stored',
    ...fields,
  }));

/** True if the item counts the requests in a rate limit's window. */
const isWindow = ({ pk }: { readonly pk?: unknown }): boolean => String(pk).startsWith('RATE#');

type Sent = Parameters<typeof apiEvent>[0];
type UseCase = (deps: WebDeps, request: ApiRequest) => Promise<Reply>;

let { log, lines } = logLines();
let runs: ApiRequest[] = [];
let now = () => NOON;
let memory = memoryTable({ now });

beforeEach(() => {
  ({ log, lines } = logLines());
  runs = [];
  now = () => NOON;
  memory = memoryTable({ now: () => now() });
});

/** Finds the caller of a session id or guest token. */
const authenticate = async ({ sessionId, guestToken }: Credentials): Promise<Caller> => {
  if (sessionId === 'bad') throw new DomainError('SESSION_INVALID');
  if (sessionId !== undefined) return session({ userId: sessionId, isAdmin: sessionId === 'admin' });
  return guestToken === undefined ? { kind: 'anonymous' } : guest({ guestId: guestToken });
};

type Check = (deps: WebDeps, request: ApiRequest) => Promise<unknown>;

const serve = (
  spec = itemEndpoint(),
  useCase: UseCase = async () => ({ data: { made: runs.length } }),
  checkRepeat: Check = async () => undefined,
) => {
  const clock = () => now();
  const epoch = cacheEpoch({ table: memory.table, now: clock });
  const chain: ChainDeps = {
    table: memory.table,
    standings: standings({ table: memory.table, now: clock, epoch }),
    callers: { looksUp: true, authenticate, actFor: async () => session() },
    rateLimits: true,
    log,
    now: clock,
    newId: (kind) => `${kind}_fresh`,
    ids: testIds,
    linkTokens: noLinks,
    guestContinueSeconds: 3_600,
  };
  const run: UseCase = (given, request) => {
    runs.push(request);
    return useCase(given, request);
  };
  const handler = lambda(spec, () => ({ chain }), { run, checkRepeat });
  return async (sent: Sent = {}) => {
    const right = { params: { id: 'a' }, headers: { 'x-session-id': 'user_1' }, body: { amount: 1 } };
    const { statusCode, headers, body: text } = await handler(apiEvent({ ...right, ...sent }), apiContext());
    const answered: unknown = text === '' ? undefined : JSON.parse(text);
    return { status: statusCode, headers, body: answered };
  };
};
const codeOf = ({ body: answered }: { readonly body: unknown }): unknown =>
  z.looseObject({ code: z.string() }).parse(answered).code;

describe('an HTTP response', () => {
  test('carries request id, version and security headers, even if it is an error', async () => {
    const ask = serve();
    for (const answer of [await ask(), await ask({ body: '{' }), await ask({ headers: {} })]) {
      expect(answer.headers).toMatchObject({
        'x-request-id': 'req-1',
        'x-api-version': '2026-11-01',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      });
    }
  });

  test('names the version that the request names', async () => {
    const headers = { 'x-session-id': 'user_1', 'x-api-version': '2027-01-31' };
    expect((await serve()({ headers })).headers['x-api-version']).toBe('2027-01-31');
  });

  test('has the form that its endpoint declares, unless the caller requests the other form', async () => {
    const ask = serve();
    const asIs = { 'x-session-id': 'user_1' };
    expect((await ask()).body).toEqual({ made: 1 });
    expect((await ask({ headers: { ...asIs, 'x-response-form': 'envelope' } })).body).toEqual({
      success: true,
      data: { made: 2 },
    });
    expect((await ask({ query: 'envelope=true' })).body).toMatchObject({ success: true });
    const enveloped = serve(itemEndpoint({ form: 'envelope' }));
    expect((await enveloped()).body).toMatchObject({ success: true });
    expect((await enveloped({ query: 'envelope=false' })).body).toEqual({ made: 5 });
  });

  test('causes one log line without body, secret or e-mail', async () => {
    const ask = serve(itemEndpoint(), async () => {
      throw new DomainError('PAYMENT_DECLINED', { details: { decline_code: 'lost_card' } });
    });
    await ask({ body: { amount: 1, note: 'CANAR', guest_data: { email: 'CANARY@example.com', name: 'CANARY' } } });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      message: 'request served',
      fields: {
        request_id: 'req-1',
        endpoint: 'items.make',
        status: 402,
        code: 'PAYMENT_DECLINED',
        caller: 'session',
      },
    });
    expect(JSON.stringify(lines)).not.toMatch(/CANAR|user_1|ada@/);
  });

  test('shows only the request id after an unexpected error, and the log shows the place in the code', async () => {
    const ask = serve(itemEndpoint(), async () => {
      throw new TypeError('CANARY: cannot read the table payments-prod');
    });
    const { status, body: answered } = await ask();
    expect([status, answered]).toEqual([
      500,
      { success: false, error: 'Internal error', code: 'INTERNAL_ERROR', request_id: 'req-1' },
    ]);
    expect(lines).toMatchObject([{ level: 'error', fields: { error_name: 'TypeError', code: 'INTERNAL_ERROR' } }]);
    expect(JSON.stringify(lines)).toContain('http-chain.test.ts');
    expect(JSON.stringify(lines)).not.toContain('CANARY');
  });

  test('links to the next page without the current request’s credentials', async () => {
    const spec = itemEndpoint({ idempotent: 'natural' });
    const ask = serve(spec, async () => ({ data: [], next: { page: '2' } }));
    const { headers } = await ask({ query: 'page=1&session_id=CANARY&token=CANARY' });
    expect(headers['link']).toBe('</items?page=2>; rel="next"');
  });
});

describe('a request', () => {
  test('reaches the use case with checked fields and its caller', async () => {
    await serve()({ query: 'page=2&more=1', body: { amount: 1 } });
    expect(runs).toMatchObject([
      {
        caller: session(),
        params: { id: 'a' },
        query: { page: '2' },
        body: { amount: 1 },
        http: { sourceNetwork: '203.0.113.7' },
      },
    ]);
  });

  test('is refused with every problem of path, query and body, and changes nothing', async () => {
    const answer = await serve()({ params: { id: 'long' }, query: 'page=x', body: { amount: 0, note: 'too long' } });
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    const { details } = z.object({ details: z.array(z.object({ path: z.string() })) }).parse(answer.body);
    expect(details.map(({ path }) => path).toSorted()).toEqual(['amount', 'id', 'note', 'page']);
    expect([runs.length, memory.items().length]).toEqual([0, 0]);
  });

  test.each<[string, Sent, number, string]>([
    ['invalid JSON', { body: '{' }, 400, 'INVALID_JSON'],
    [
      'another content type',
      { headers: { 'x-session-id': 'user_1', 'content-type': 'text/plain' } },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
    ['a body that is too large', { body: `"${'x'.repeat(256 * 1_024)}"` }, 413, 'PAYLOAD_TOO_LARGE'],
    ['an invalid session', { headers: { 'x-session-id': 'bad' } }, 401, 'SESSION_INVALID'],
    ['an invalid version', { headers: { 'x-session-id': 'user_1', 'x-api-version': 'v1' } }, 400, 'VALIDATION_ERROR'],
    [
      'a blank idempotency key',
      { headers: { 'x-session-id': 'user_1', 'idempotency-key': ' ' } },
      400,
      'IDEMPOTENCY_KEY_INVALID',
    ],
  ])('is refused with %s, and changes nothing', async (...[_, sent, status, code]) => {
    const answer = await serve()(sent);
    expect([answer.status, codeOf(answer)]).toEqual([status, code]);
    expect([runs.length, memory.items().length]).toEqual([0, 0]);
  });

  test('is refused above its rate limit, with the delay until a retry', async () => {
    const limit = { name: 'items', max: 2, windowSeconds: 60, by: ({ http }: ApiRequest) => http.sourceNetwork };
    const ask = serve(itemEndpoint({ limits: [limit] }));
    const answers = [await ask(), await ask(), await ask()];
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 429]);
    expect(answers[2]?.headers['retry-after']).toBe('90');
    expect(runs).toHaveLength(2);
  });

  test('shares its rate window with all addresses of its IPv6 network, and with no other address', async () => {
    const limit = { name: 'items', max: 2, windowSeconds: 60, by: ({ http }: ApiRequest) => http.sourceNetwork };
    const ask = serve(itemEndpoint({ limits: [limit] }));
    const statuses: number[] = [];
    for (const sourceIp of ['2001:db8:1:2::1', '2001:db8:1:2:ffff::', '2001:db8:1:2:3:4:5:6', '2001:db8:1:3::1']) {
      statuses.push((await ask({ sourceIp })).status);
    }
    expect(statuses).toEqual([201, 201, 429, 201]);
  });
});

describe('the caller of a route', () => {
  const anonymous = { headers: {} };
  const byGuestData = { headers: {}, body: { amount: 1, guest_data: { email: 'Ada@Example.com', name: 'Ada' } } };
  const byToken = { headers: { 'x-guest-token': 'gst_1' } };
  const byTokenInQuery = { headers: {}, query: 'token=gst_1' };
  const bySession = {};
  const byAdmin = { headers: { 'x-session-id': 'admin' } };

  const IN = 'let in';
  test.each<[Auth, readonly string[]]>([
    ['session', ['AUTHENTICATION_REQUIRED', 'GUEST_NOT_ALLOWED', 'GUEST_NOT_ALLOWED', 'GUEST_NOT_ALLOWED', IN, IN]],
    ['session-or-token', ['AUTHENTICATION_REQUIRED', 'GUEST_NOT_ALLOWED', IN, IN, IN, IN]],
    ['session-or-guest', ['AUTHENTICATION_REQUIRED', IN, IN, IN, IN, IN]],
    [
      'platform-admin',
      ['AUTHENTICATION_REQUIRED', 'GUEST_NOT_ALLOWED', 'GUEST_NOT_ALLOWED', 'GUEST_NOT_ALLOWED', 'ADMIN_REQUIRED', IN],
    ],
    ['public', [IN, IN, IN, IN, IN, IN]],
    ['provider-signature', [IN, IN, IN, IN, IN, IN]],
  ])('is let in or refused as the auth %s requires', async (auth, expected) => {
    const ask = serve(itemEndpoint({ auth, idempotent: 'natural' }));
    const found: unknown[] = [];
    for (const sent of [anonymous, byGuestData, byToken, byTokenInQuery, bySession, byAdmin]) {
      const answer = await ask(sent);
      found.push(answer.status === 201 ? IN : codeOf(answer));
    }
    expect(found).toEqual(expected);
  });

  test.each<[Auth, string]>([
    ['session', 'send X-Session-ID or Authorization: Bearer <token>'],
    ['platform-admin', 'send X-Session-ID or Authorization: Bearer <token>'],
    ['session-or-token', 'send X-Session-ID or Authorization: Bearer <token>, or X-Guest-Token as a guest'],
    [
      'session-or-guest',
      'send X-Session-ID or Authorization: Bearer <token>, or X-Guest-Token or guest_data in the body as a guest',
    ],
  ])('learns without credentials which credentials the route accepts (%s)', async (auth, advice) => {
    const answer = await serve(itemEndpoint({ auth, idempotent: 'natural' }))(anonymous);
    expect(answer).toMatchObject({ status: 401, body: { error: `Authentication is required; ${advice}` } });
  });

  test('can name a guest’s e-mail, but gets no access to that guest’s records', async () => {
    const ask = serve(itemEndpoint({ auth: 'session-or-guest' }));
    await ask(byGuestData);
    expect(runs[0]?.caller).toMatchObject({ guestId: 'guest_fresh', email: 'ada@example.com', byToken: false });
  });

  test('keeps the guest_id of a guest token only if the token and guest_data have the same e-mail', async () => {
    const ask = serve(itemEndpoint({ auth: 'session-or-guest' }));
    const named = (email: string) => ({ ...byToken, body: { amount: 1, guest_data: { email, name: 'Ada' } } });
    await ask(named('ADA@example.com'));
    await ask(named('eve@example.com'));
    expect(runs.map(({ caller }) => caller)).toMatchObject([
      { guestId: 'gst_1', byToken: true },
      { guestId: 'guest_fresh', byToken: false },
    ]);
  });

  test('is the signed-in user, even if the request names a guest', async () => {
    await serve(itemEndpoint({ auth: 'session-or-guest' }))({ body: byGuestData.body });
    expect(runs[0]?.caller).toEqual(session());
  });
});

describe('a request with an Idempotency-Key', () => {
  const keyed = (key = 'k1', userId = 'user_1') => ({ headers: { 'x-session-id': userId, 'idempotency-key': key } });

  test('runs once, and its repeat gets the stored response', async () => {
    const ask = serve();
    const [first, second] = [await ask(keyed()), await ask(keyed())];
    expect(runs).toHaveLength(1);
    expect([second.status, second.body]).toEqual([first.status, first.body]);
    expect([first, second].map(({ headers }) => headers['idempotent-replayed'])).toEqual([undefined, 'true']);
  });

  test('gets a stored response in the form requested by the repeat', async () => {
    const ask = serve();
    await ask(keyed());
    expect((await ask({ ...keyed(), query: 'envelope=true' })).body).toEqual({ success: true, data: { made: 1 } });
  });

  test('is refused if a repeat has another body, but runs for another caller or path', async () => {
    const ask = serve();
    await ask(keyed());
    expect(codeOf(await ask({ ...keyed(), body: { amount: 2 } }))).toBe('IDEMPOTENCY_KEY_REUSED');
    expect((await ask({ ...keyed('k1', 'user_2'), body: { amount: 2 } })).status).toBe(201);
    expect((await ask({ ...keyed(), params: { id: 'b' }, body: { amount: 2 } })).status).toBe(201);
    expect(runs).toHaveLength(3);
  });

  test('gets no stored response if the caller has lost the permission', async () => {
    let mayAct = true;
    const ask = serve(itemEndpoint(), undefined, async () => {
      if (!mayAct) throw new DomainError('INSUFFICIENT_PERMISSIONS');
    });
    const headers = { 'x-session-id': 'user_1', 'idempotency-key': 'k' };
    expect((await ask({ headers })).status).toBe(201);
    mayAct = false;
    expect(codeOf(await ask({ headers }))).toBe('INSUFFICIENT_PERMISSIONS');
    expect(runs).toHaveLength(1);
  });

  describe('a stored response of an endpoint with an access rule', () => {
    const owned: RecordKind = {
      resource: 'payment',
      key: (id) => ({ pk: `ITEM#${id}`, sk: 'ITEM' }),
      parse: (item) => item,
      ownedBy: (record) => z.object({ userId: z.string() }).parse(record),
      rule: 'owned',
    };
    const belongsTo = (userId: string) => memory.table.put({ ...owned.key('a'), userId });
    const asking = (rule: Partial<AccessRule>) =>
      serve(itemEndpoint({ access: { action: 'canManagePayments', record: owned, ...rule } }));

    test('is given only to a caller who may still act on the record', async () => {
      const ask = asking({});
      await belongsTo('user_1');
      const first = await ask(keyed());
      expect(first.status).toBe(201);
      await belongsTo('user_2');
      expect((await ask(keyed())).status).toBe(404);
      await belongsTo('user_1');
      expect(await ask(keyed())).toMatchObject({ status: 201, body: first.body });
      expect(runs).toHaveLength(1);
    });

    test('is given without a check if the request itself has ended the access', async () => {
      const ask = asking({ endsAccess: true });
      await belongsTo('user_1');
      const first = await ask(keyed());
      await memory.table.remove(owned.key('a'));
      expect(await ask(keyed())).toMatchObject({ status: 201, body: first.body });
      expect(runs).toHaveLength(1);
    });

    test('is given even if the records named in the body have been deleted', async () => {
      let isThere = true;
      const named = { ...owned, key: () => ({ pk: `ITEM#${isThere ? 'a' : 'gone'}`, sk: 'ITEM' }) };
      const ask = asking({ references: () => [{ kind: named, id: 'b' }] });
      await belongsTo('user_1');
      expect((await ask(keyed())).status).toBe(201);
      isThere = false;
      expect((await ask(keyed('k2'))).status).toBe(404);
      expect((await ask(keyed())).status).toBe(201);
      expect(runs).toHaveLength(1);
    });
  });

  test('cannot be served by an endpoint that would return stored responses without an access check', () => {
    const deps = (): WebDeps => {
      throw new Error('not needed');
    };
    expect(() => lambda(itemEndpoint(), deps, async () => ({ data: {} }))).toThrow('items.make would return');
  });

  test('stores a decline, and returns the same error again', async () => {
    const ask = serve(itemEndpoint({ form: 'envelope' }), async () => {
      throw new DomainError('PAYMENT_DECLINED', { details: { decline_code: 'lost_card' } });
    });
    const [first, second] = [await ask(keyed()), await ask(keyed())];
    expect(runs).toHaveLength(1);
    expect([second.status, second.body]).toEqual([402, first.body]);
    expect(second.headers['idempotent-replayed']).toBe('true');
  });

  test('stores no response with an open outcome, and marks the next run as a repeat', async () => {
    const ask = serve(itemEndpoint({ command: 'confirm' }), async () => ({ data: {}, status: 202 }));
    await ask(keyed());
    await ask(keyed());
    expect(runs.map(({ idempotency }) => idempotency?.isRepeat)).toEqual([undefined, true]);
  });

  test.each(['VERSION_CONFLICT', 'RATE_LIMITED', 'PROVIDER_UNAVAILABLE'] as const)(
    'marks the next run after %s as a repeat',
    async (code) => {
      const ask = serve(itemEndpoint({ command: 'resume' }), async () => {
        if (runs.length === 2) throw new DomainError(code);
        return { data: {}, status: 202 };
      });
      for (let count = 0; count < 3; count += 1) await ask(keyed());
      expect(runs.map(({ idempotency }) => idempotency?.isRepeat)).toEqual([undefined, true, true]);
    },
  );

  test.each([
    ['capture', 2],
    ['confirm', 1],
    ['change', 1],
  ] as const)('whose %s is declined runs %i times in two requests', async (command, count) => {
    const ask = serve(itemEndpoint({ command }), async () => {
      throw new DomainError('PAYMENT_DECLINED', { details: { decline_code: 'lost_card' } });
    });
    expect([(await ask(keyed())).status, (await ask(keyed())).status]).toEqual([402, 402]);
    expect(runs).toHaveLength(count);
  });

  test.each([
    ['a refusal', () => new DomainError('INVALID_STATE')],
    ['a time-out', () => new DomainError('PROVIDER_TIMEOUT')],
    ['a bug', () => new Error('bug')],
  ])('does not store %s, so a retry runs', async (_, error) => {
    let fails = true;
    const ask = serve(itemEndpoint(), async () => {
      if (fails) throw error();
      return { data: {} };
    });
    await ask(keyed());
    fails = false;
    expect((await ask(keyed())).status).toBe(201);
    expect(runs).toHaveLength(2);
  });

  test('gets a 500, which does not claim that nothing happened, if only the storing of its response fails', async () => {
    const { update } = memory.table;
    memory.table.update = async (key, ...rest) => {
      if (isWindow(key)) return update(key, ...rest);
      throw new DomainError('VERSION_CONFLICT');
    };
    const answer = await serve()(keyed());
    expect(runs).toHaveLength(1);
    expect([answer.status, codeOf(answer)]).toEqual([500, 'INTERNAL_ERROR']);
  });

  test('stores no response if the operation itself is idempotent', async () => {
    const ask = serve(itemEndpoint({ idempotent: 'natural' }));
    await ask(keyed());
    await ask(keyed());
    expect(runs).toHaveLength(2);
    expect(memory.items().filter((item) => !isWindow(item))).toEqual([]);
  });

  test('stores no hash of card data', async () => {
    const ask = serve(itemEndpoint({ body: z.looseObject({ amount: z.int() }) as unknown as typeof body }));
    const hashes = async (card_number: string) => {
      await ask({ ...keyed(card_number.slice(-4)), body: { amount: 1, card_number } });
      return runs.at(-1)?.idempotency?.requestHash;
    };
    expect(await hashes('4242424242424242')).toBe(await hashes('5555555555554444'));
  });
});
