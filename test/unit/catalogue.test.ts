import { readdirSync, readFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { endpoints, triggers } from '../../functions/api/catalogue.ts';
import { handler as unmatched } from '../../functions/api/default.ts';
import { scopesOfRoute } from '../../shared/access/scopes.ts';
import { ERRORS } from '../../shared/core/errors.ts';
import { callsProviders, type Right } from '../../shared/core/rights.ts';
import type { Environment } from '../../shared/core/setting.ts';
import { parseSettings } from '../../shared/core/settings.ts';
import { setHost } from '../../shared/host.ts';
import type { Endpoint } from '../../shared/http/endpoint.ts';
import { apiEvent } from '../builders/api-event.ts';

const FUNCTIONS = new URL('../../functions/', import.meta.url);
/** Files that declare endpoints or triggers, or that use all declarations. They are not entries. */
const NO_ENTRIES =
  /(^|\/)([a-z-]*endpoints|triggers)\.ts$|^api\/(catalogue|default|document|example-requests|examples)\.ts$|^(console|pay-page)\/(bundle\.ts$|web\/)/;

const files = readdirSync(FUNCTIONS, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
const entries = files.filter((name) => !NO_ENTRIES.test(name));
const fileOf = (id: string): string => `${id.replaceAll('.', '/')}.ts`;
const ids = [...endpoints, ...triggers].map(({ id }) => id);

const RIGHTS: Readonly<Record<Right, true>> = {
  'table:read': true,
  'table:put': true,
  'table:delete': true,
  'table:scan': true,
  'table:count': true,
  'table:receive': true,
  'table:keys': true,
  'events:put': true,
  'secrets:provider_a': true,
  'secrets:provider_b': true,
  'secrets:provider_c': true,
  'secrets:provider_d': true,
  'signatures:provider_a': true,
  'signatures:provider_b': true,
  'signatures:provider_c': true,
  'secrets:guest-tokens': true,
  'secrets:ids': true,
  'queue:send:apply-provider-event': true,
  'secrets:webhooks': true,
  'queue:send:follow-payment': true,
  'queue:send:run-due': true,
  'queue:depth:run-due': true,
  'queue:send:webhook-dispatch': true,
  'queue:send:webhook-delivery': true,
};

describe('the catalogue', () => {
  test('has an entry for every id, and an id for every entry', () => {
    expect(entries.toSorted()).toEqual(ids.map(fileOf).toSorted());
  });

  test('lists every id once', () => {
    expect(new Set(ids).size).toBe(ids.length);
  });

  test.each(ids)('%s is an entry that exports its handler and nothing else', async (id) => {
    const entry: Readonly<Record<string, unknown>> = await import(new URL(fileOf(id), FUNCTIONS).href);
    expect(Object.keys(entry)).toEqual(['handler']);
    expect(entry['handler']).toBeTypeOf('function');
  });

  test('is not imported by entries, so that a function contains only its own code', () => {
    const readers = files.filter((name) =>
      /from '[./]+catalogue\.ts'/.test(readFileSync(new URL(name, FUNCTIONS), 'utf8')),
    );
    expect(readers.toSorted()).toEqual(['api/default.ts', 'api/document.ts']);
  });

  test('has entries of at most thirty lines', () => {
    const long = entries.filter((name) => readFileSync(new URL(name, FUNCTIONS), 'utf8').split('\n').length > 31);
    expect(long).toEqual([]);
  });

  test('names only known rights, each only once', () => {
    for (const { id, uses } of [...endpoints, ...triggers]) {
      expect([id, uses.filter((right) => !Object.hasOwn(RIGHTS, right))]).toEqual([id, []]);
      expect(new Set(uses).size).toBe(uses.length);
    }
  });
});

const segments = (path: string): readonly string[] => path.split('/').slice(1);
const isParameter = (segment: string | undefined): boolean => segment?.startsWith('{') === true;
const parameters = (path: string): readonly string[] =>
  segments(path)
    .filter(isParameter)
    .map((segment) => segment.slice(1, -1).replace(/\+$/, ''));

/** True if one request could match both routes. */
const overlap = (one: Endpoint, other: Endpoint): boolean => {
  const [a, b] = [segments(one.path), segments(other.path)];
  const meets = (segment: string, index: number) =>
    segment === b[index] || isParameter(segment) || isParameter(b[index]);
  return one.method === other.method && a.length === b.length && a.every(meets);
};
/** True if every segment of one route is equal to or a special case of the other route's segment. */
const isSpecial = (one: Endpoint, other: Endpoint): boolean =>
  segments(one.path).every((segment, index) => segment === segments(other.path)[index] || !isParameter(segment));
/**
 * True if this route refuses the other route's fixed words as its parameters. Then no served request matches both
 * routes.
 */
const refusesPathOf = (one: Endpoint, other: Endpoint): boolean => {
  const pairs = segments(one.path).flatMap((segment, index) =>
    isParameter(segment) ? [[segment.slice(1, -1), segments(other.path)[index]]] : [],
  );
  return pairs.every(([, value]) => !isParameter(value)) && !one.params.safeParse(Object.fromEntries(pairs)).success;
};

describe('the access of platform admins', () => {
  const withRule = endpoints.flatMap((spec) => (spec.access ? [{ ...spec, access: spec.access }] : []));
  const idsOf = (isMeant: (spec: (typeof withRule)[number]) => boolean) => withRule.filter(isMeant).map(({ id }) => id);

  test('includes reads on every GET route, and on no other route', () => {
    expect(idsOf(({ access, method }) => (access.action === 'read') !== (method === 'GET'))).toEqual([]);
  });

  test('includes actions on another owner’s record only to sync, to cancel and to change a subscription', () => {
    const acts = idsOf(
      ({ id, access }) => !['read', 'merchant'].includes(access.action) && scopesOfRoute(id)?.merchant !== undefined,
    );
    expect(acts.toSorted()).toEqual([
      ...['payments.cancel-intent', 'payments.sync', 'subscriptions.cancel'],
      ...['subscriptions.change', 'subscriptions.preview-change', 'subscriptions.withdraw-change'],
    ]);
  });

  test('has the auth platform-admin on every route with the action merchant', () => {
    expect(idsOf(({ access, auth }) => access.action === 'merchant' && auth !== 'platform-admin')).toEqual([]);
  });
});

describe('the routes of the catalogue', () => {
  test('are each declared once', () => {
    const routes = endpoints.map(({ method, path }) => `${method} ${path.replaceAll(/\{[^}]+\}/g, '{}')}`);
    expect(routes.filter((route, index) => routes.indexOf(route) !== index)).toEqual([]);
  });

  test('match a request unambiguously', () => {
    const pairs = endpoints.flatMap((one, index) => endpoints.slice(index + 1).map((other) => [one, other] as const));
    const doubtful = pairs
      .filter(([one, other]) => overlap(one, other) && isSpecial(one, other) === isSpecial(other, one))
      .filter(([one, other]) => !refusesPathOf(one, other) && !refusesPathOf(other, one))
      .map(([one, other]) => `${one.id} and ${other.id}`);
    expect(doubtful).toEqual([]);
  });

  test.each(endpoints.map((spec) => [spec.id, spec] as const))(
    '%s has a well-formed path, whose parameters it checks',
    (_, spec) => {
      expect(spec.path).toMatch(/^(\/([a-z0-9_.-]+|\{[a-zA-Z0-9_]+\+?\}))+$/);
      const declared = spec.params instanceof z.ZodObject ? Object.keys(spec.params.shape) : [];
      expect(declared.toSorted()).toEqual(parameters(spec.path).toSorted());
    },
  );
});

/** POST routes whose repetition has no further effect, with the reason. */
const NATURAL_POSTS = {
  'admin.clear-cache': 'a cache that is cleared again is clear',
  'admin.import': 'a record that has the provider’s id is known',
  'subscriptions.preview-change': 'it stores nothing',
  'discounts.check': 'it stores nothing',
  'payments.link': 'a link that is made again opens the same page',
  'subscriptions.link': 'a link that is made again opens the same page',
};
/** POST routes without a write. Their bodies are too large for a query or name a guest. */
const READING_POSTS = ['subscriptions.preview-change', 'discounts.check'];
/** GET routes that may write, because the read repairs a default that names a missing record. */
const MENDING_READS = ['payment-methods.list', 'addresses.list'];

describe.each(endpoints.map((spec) => [spec.id, spec] as const))('%s', (_, spec) => {
  const writes = (['table:put', 'table:receive', 'table:keys'] as const).some((right) => spec.uses.includes(right));

  test('has a short summary of its purpose', () => {
    expect(spec.summary).toMatch(/^[A-Z][^\n.]{5,80}$/);
  });

  test('accepts a guest token in a GET exactly if guests may see its record as an included record', () => {
    if (spec.method !== 'GET' || !spec.access?.record) return;
    expect(spec.auth === 'session-or-token').toBe(spec.access.record.guestsRead === true);
  });

  test('declares how it avoids a second effect of a repeated request', () => {
    if (spec.method !== 'POST') {
      expect(spec.idempotent).toBe('natural');
    } else if (spec.idempotent === 'natural') {
      // A provider's event is deduplicated by its own id. Any other POST needs a reason in NATURAL_POSTS.
      expect(spec.auth === 'provider-signature' || Object.hasOwn(NATURAL_POSTS, spec.id)).toBe(true);
    } else {
      expect(writes).toBe(true);
      // The status 202 means that the record is a job that continues after the response.
      if (spec.idempotent === 'create') expect([201, 202]).toContain(spec.status);
      if (spec.status === 200) expect(['stored', 'noted']).toContain(spec.idempotent);
    }
  });

  test('writes exactly if its method is not GET, apart from the listed exceptions', () => {
    // The right table:count lets a function count rate windows.
    if (spec.limits.length > 0) expect(spec.uses).toContain('table:count');
    if (spec.method === 'GET') expect(writes).toBe(MENDING_READS.includes(spec.id));
    else expect(writes).toBe(!READING_POSTS.includes(spec.id));
  });

  test('has the rights that its callers and records require', () => {
    const needs: readonly (readonly [boolean, Right])[] = [
      [spec.auth === 'session-or-guest' || spec.auth === 'session-or-token', 'secrets:guest-tokens'],
      // The id of a refund gives no access, so a plain id is enough.
      [spec.idempotent === 'create' && spec.id !== 'refunds.create', 'secrets:ids'],
      // Records, standings and the cache epoch of sessions are read from the table.
      [spec.auth !== 'public' && spec.auth !== 'provider-signature', 'table:read'],
      [spec.access !== undefined, 'table:read'],
    ];
    expect(needs.filter(([needed, right]) => needed && !spec.uses.includes(right)).map(([, right]) => right)).toEqual(
      [],
    );
  });

  test('has only the rights to read the signature secret, to receive events and to count if a provider calls it', () => {
    if (spec.auth !== 'provider-signature') return;
    expect(spec.uses).toEqual(['table:receive', 'table:count', `signatures:${spec.path.split('/').at(-1)}`]);
  });

  test('returns a body exactly if its status allows a body', () => {
    expect(spec.response === null).toBe(spec.status === 204);
    if (spec.method === 'GET') expect([spec.status, spec.body]).toEqual([200, null]);
  });

  test('names only known errors, each only once', () => {
    expect(spec.errors.filter((code) => !(code in ERRORS))).toEqual([]);
    expect(new Set(spec.errors).size).toBe(spec.errors.length);
  });

  test('ends before the gateway’s timeout', () => {
    expect(spec.timeoutSeconds).toBeLessThanOrEqual(29);
  });
});

const DECLINES = {
  ...{ 'declined-user': '20/3600', 'declined-ip': '10/3600', 'declined-guest': '10/3600' },
  ...{ 'declined-key-payer': '10/3600', 'declined-key': 'KEY_DECLINES_PER_HOUR/3600' },
};

/** The limit for checks of discount codes, and for refused codes in creates and updates. */
const CODES = { 'discount-check': '20/60' };

/** The limit for requests of a service key without a payer, on every route that accepts keys. */
const KEY = { key: '600/60' };

describe('the rate limits of the routes', () => {
  test('count declines on every route of payers that can return a decline', () => {
    const declining = endpoints.filter(
      ({ errors, access }) => errors.includes('PAYMENT_DECLINED') && access?.action !== 'merchant',
    );
    expect(declining.length).toBeGreaterThan(5);
    for (const { limits } of declining) {
      expect(limits.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(DECLINES)));
    }
  });

  test('have unique names, unless they are the same limit', () => {
    const limits = endpoints.flatMap((spec) => spec.limits);
    const byName = Map.groupBy(limits, ({ name }) => name);
    const mixed = [...byName].filter(
      ([, same]) => new Set(same.map(({ max, windowSeconds }) => `${max}/${windowSeconds}`)).size > 1,
    );
    expect(mixed).toEqual([]);
    expect(limits.every(({ max, windowSeconds }) => max !== 0 && windowSeconds > 0)).toBe(true);
  });

  test.each([
    ['payments.create', { ...KEY, create: '300/60', 'guest-create-ip': '10/60', ...CODES }],
    ['payments.create-intent', { ...KEY, create: '300/60', 'guest-create-ip': '10/60', ...CODES }],
    ['payments.update-intent', { ...KEY, write: '60/60', ...CODES }],
    ['discounts.check', { ...KEY, ...CODES }],
    [
      'payments.confirm',
      {
        ...KEY,
        write: '60/60',
        'confirm-user': '20/60',
        'confirm-ip': '20/60',
        'confirm-payment': '10/3600',
        'declined-payment': '5/3600',
        ...DECLINES,
      },
    ],
    ['subscriptions.create', { ...KEY, create: '300/60', 'guest-create-ip': '10/60', ...DECLINES, ...CODES }],
    ['subscriptions.update', { ...KEY, write: '60/60', ...DECLINES }],
    ['subscriptions.resume', { ...KEY, write: '60/60', ...DECLINES }],
    ['subscriptions.reactivate', { ...KEY, write: '60/60', ...DECLINES }],
    ['subscriptions.pause', { ...KEY, write: '60/60' }],
    ['organizations.create', { ...KEY, create: '300/60', 'create-organization': '20/3600' }],
    [
      'payment-methods.create',
      {
        ...KEY,
        create: '300/60',
        'guest-create-ip': '10/60',
        'save-method-guest': '20/3600',
        'save-method': '20/3600',
        'save-method-user': '60/3600',
        'save-method-ip': '60/3600',
        ...DECLINES,
      },
    ],
    ['organizations.add-member', { ...KEY, write: '60/60', 'add-member': '30/3600' }],
    ['webhooks.replay-log', { ...KEY, write: '60/60', 'webhook-replay': '60/60' }],
    ['payments.sync', { ...KEY, write: '60/60', 'sync-payment': '10/60' }],
    ['webhooks.send-test', { ...KEY, 'webhook-test': '10/60' }],
    ['payments.list-guest', { 'guest-payments-ip': '10/60', 'guest-payments-email': '5/60' }],
  ])('have the documented values: %s', (id, expected) => {
    const limits = endpoints.find((spec) => spec.id === id)?.limits ?? [];
    expect(Object.fromEntries(limits.map(({ name, max, windowSeconds }) => [name, `${max}/${windowSeconds}`]))).toEqual(
      expected,
    );
  });
});

describe.each(triggers.map((trigger) => [trigger.id, trigger] as const))('%s', (_, trigger) => {
  test('declares its effect, and the impact of its failure', () => {
    expect(trigger.summary).toMatch(/^[A-Z][^\n.]{5,80}$/);
    expect(trigger.impact).toMatch(/^[A-Z][^\n]{10,160}\.$/);
  });

  test('does not receive a message again while it processes the message', () => {
    if (trigger.kind !== 'queue') return;
    expect(trigger.visibilitySeconds).toBeGreaterThanOrEqual(trigger.timeoutSeconds);
    expect(trigger.maxReceives).toBeGreaterThan(1);
    // SQS requires a maximum concurrency of at least 2 per event source.
    expect(trigger.maxConcurrency).toBeGreaterThanOrEqual(2);
  });

  test('ends before its next run is due', () => {
    if (trigger.kind === 'schedule') expect(trigger.timeoutSeconds).toBeLessThanOrEqual(trigger.everyMinutes * 60);
  });
});

describe('the triggers of the catalogue', () => {
  test('include at most two consumers of the stream, which is its limit', () => {
    expect(triggers.filter(({ kind }) => kind === 'stream').length).toBeLessThanOrEqual(2);
  });

  test('each read a separate queue, and their rules have unique names', () => {
    const queues = triggers.flatMap((trigger) => (trigger.kind === 'queue' ? [trigger.queue] : []));
    const rules = triggers.flatMap((trigger) =>
      trigger.kind === 'queue' ? trigger.rules.map(({ name }) => name) : [],
    );
    expect([new Set(queues).size, new Set(rules).size]).toEqual([queues.length, rules.length]);
  });

  test('exist for every queue that receives messages', () => {
    const queues: readonly string[] = triggers.flatMap((trigger) => (trigger.kind === 'queue' ? [trigger.queue] : []));
    const sendsTo = [...endpoints, ...triggers]
      .flatMap(({ uses }) => [...uses])
      .filter((right) => right.startsWith('queue:send:'))
      .map((right) => right.slice('queue:send:'.length));
    expect(sendsTo.filter((queue) => !queues.includes(queue))).toEqual([]);
  });
});

describe('the timeout of a provider call', () => {
  const LONGEST_MS = 15_000;
  const LEFT_SECONDS = 5;
  const callers: readonly { readonly id: string; readonly uses: readonly Right[]; readonly timeoutSeconds: number }[] =
    [...endpoints, ...triggers].filter(({ uses }: { readonly uses: readonly Right[] }) => callsProviders(uses));

  test('can be at most 15 s', () => {
    expect(parseSettings({ PROVIDER_TIMEOUT_MS: String(LONGEST_MS) })).toMatchObject({
      PROVIDER_TIMEOUT_MS: LONGEST_MS,
    });
    expect(() => parseSettings({ PROVIDER_TIMEOUT_MS: String(LONGEST_MS + 1) })).toThrow(
      /^PROVIDER_TIMEOUT_MS: [^\n]+$/,
    );
  });

  test.each(callers)('leaves at least 5 s to $id', ({ timeoutSeconds }) => {
    expect(timeoutSeconds).toBeGreaterThanOrEqual(LONGEST_MS / 1_000 + LEFT_SECONDS);
  });
});

describe('an unmatched request', () => {
  const hosted = (env: Environment) => setHost({ env, now: Date.now });
  beforeEach(() => hosted({}));

  const ask = async (method: string, path: string) => {
    const { statusCode, headers, body } = await unmatched(apiEvent({ method, path }));
    return {
      status: statusCode,
      allow: headers['allow'],
      body: z.looseObject({ code: z.string() }).parse(JSON.parse(body)),
    };
  };

  test.each([
    '/',
    '/nothing',
    '/payment',
    '/payments/a/b/c',
    '/payments.',
    '/payments/',
    '/xpayments/intents/a/b',
    '/v1/payments',
    '/nowhere/payments',
    '//payments',
  ])('is not found for GET %s', async (path) => {
    expect(await ask('GET', path)).toMatchObject({
      status: 404,
      allow: undefined,
      body: { success: false, code: 'ROUTE_NOT_FOUND', request_id: 'req-1' },
    });
  });

  test.each(endpoints.map(({ path }) => path.replaceAll(/\{[^}]+\}/g, 'a')))(
    'gets the status 405 and the allowed methods for another method on %s',
    async (path) => {
      const { status, allow = '', body } = await ask('TRACE', path);
      expect([status, body.code]).toEqual([405, 'METHOD_NOT_ALLOWED']);
      expect(allow).toMatch(/^(GET|POST|PUT|PATCH|DELETE)(, (GET|POST|PUT|PATCH|DELETE))*$/);
    },
  );

  test('is not found if the decoded path has a route for the method, which the gateway did not match', async () => {
    expect(await ask('GET', '/payments/pay_1')).toMatchObject({ status: 404, allow: undefined });
  });

  test('gets the status 405 only under the configured prefix', async () => {
    hosted({ BASE_PATH: '/pay/v1/' });
    expect(await ask('DELETE', '/pay/v1/payments')).toMatchObject({ status: 405, allow: 'POST, GET' });
    for (const path of ['/payments', '/pay/v1', '/pay/v2/payments', '/pay/v1payments', '/pay/v1//payments']) {
      expect(await ask('DELETE', path)).toMatchObject({ status: 404, allow: undefined });
    }
  });
});
