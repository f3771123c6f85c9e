import { expect, onTestFinished, test } from 'vitest';
import type { Catalogue } from '../../infra/local/host/assemble.ts';
import type { Handler } from '../../infra/local/machine/invoke.ts';
import type { Right } from '../../shared/core/rights.ts';
import { publishDeps } from '../../shared/host.ts';
import { moneyDeps, receiverDeps, replayDeps, webDeps } from '../../shared/runtime.ts';
import { startTestHost } from './host.ts';
import { QUEUE } from './local-fake.ts';

const KEY = { pk: 'PAY#1', sk: 'PAY' };
const EVENT = { id: '1', source: 'payments', type: 'payment.created', detail: {} } as const;
const GUEST = { email: 'ada@example.com', guestId: 'gst_1' };

/** Runs one function with these rights. @returns its result or the name of its error, and the host's log */
const run = async (uses: readonly Right[], work: () => Promise<unknown>) => {
  const refused: string[] = [];
  const handler: Handler = () => work().catch((error: Error) => error.name);
  const catalogue: Catalogue = {
    endpoints: [{ id: 'fake.one', method: 'GET', path: '/one', timeoutSeconds: 5, uses }],
    triggers: [{ ...QUEUE, queue: 'webhook-delivery', rules: [] }],
    load: async () => handler,
  };
  const service = await startTestHost({ catalogue, log: (line) => refused.push(line) });
  onTestFinished(() => service.stop());
  return { result: await service.host().invoke('fake.one', {}), refused };
};

const ACCESS_DENIED = 'AccessDeniedException';

test.each<[string, string, { readonly uses: readonly Right[]; readonly work: () => Promise<unknown> }]>([
  ['reads', 'dynamodb:GetItem', { uses: ['table:put'], work: () => webDeps().table.get(KEY) }],
  ['puts', 'dynamodb:PutItem', { uses: ['table:read', 'table:delete'], work: () => webDeps().table.put(KEY) }],
  [
    'updates',
    'dynamodb:UpdateItem',
    { uses: ['table:read'], work: () => webDeps().table.update(KEY, { set: { n: 1 } }) },
  ],
  ['deletes', 'dynamodb:DeleteItem', { uses: ['table:read', 'table:put'], work: () => webDeps().table.remove(KEY) }],
  [
    'deletes within a transaction',
    'dynamodb:DeleteItem',
    {
      uses: ['table:read', 'table:put'],
      work: () => webDeps().table.transact([{ put: KEY }, { delete: { ...KEY, sk: 'B' } }]),
    },
  ],
  [
    'checks within a transaction',
    'dynamodb:ConditionCheckItem',
    {
      uses: ['table:put'],
      work: () => webDeps().table.transact([{ put: KEY }, { check: { ...KEY, sk: 'B' }, if: [{ absent: true }] }]),
    },
  ],
  [
    'sends to a queue',
    'sqs:SendMessage on webhook-delivery',
    { uses: ['table:read', 'queue:send:run-due'], work: () => replayDeps().queues.send('webhook-delivery', ['{}']) },
  ],
  [
    'puts off a message of a queue that is not its own',
    'sqs:ChangeMessageVisibility on webhook-delivery',
    {
      uses: ['queue:send:webhook-delivery'],
      work: () => replayDeps().queues.retryAfter('webhook-delivery', 'receipt', 60),
    },
  ],
  ['publishes an event', 'events:PutEvents', { uses: ['table:read'], work: () => publishDeps().bus.publish([EVENT]) }],
  [
    'reads the depth of a queue',
    'sqs:GetQueueAttributes on webhook-delivery',
    { uses: ['queue:send:webhook-delivery'], work: () => replayDeps().queues.depth('webhook-delivery') },
  ],
])('a function that %s without the right is refused', async (_, action, { uses, work }) => {
  const { result, refused } = await run(uses, work);
  expect(result).toBe(ACCESS_DENIED);
  expect(refused).toContain(`fake.one declares no right for ${action}`);
});

const SERVICE_KEY = { pk: 'KEY#key_1', sk: 'KEY' };
const EVERY_RIGHT: readonly Right[] = ['table:read', 'table:put', 'table:delete', 'table:count', 'table:receive'];

test.each<[string, string, () => Promise<unknown>]>([
  ['puts', 'PutItem', () => webDeps().table.put(SERVICE_KEY)],
  ['updates', 'UpdateItem', () => webDeps().table.update(SERVICE_KEY, { set: { scopes: ['refunds:write'] } })],
  ['deletes', 'DeleteItem', () => webDeps().table.remove(SERVICE_KEY)],
  ['uses a transaction to put', 'PutItem', () => webDeps().table.transact([{ put: KEY }, { put: SERVICE_KEY }])],
])(
  'a function that %s a service key is refused without table:keys, even with all other rights',
  async (_, action, work) => {
    const { result, refused } = await run(EVERY_RIGHT, work);
    expect(result).toBe(ACCESS_DENIED);
    expect(refused).toContain(`fake.one declares no right for dynamodb:${action} on KEY#*`);
  },
);

test.each<[Right, readonly string[]]>([
  ['table:keys', ['put KEY#1']],
  ['table:receive', ['put EVT#1', 'put LOG#1']],
  ['table:count', ['update RATE#1', 'update KEYUSE#1']],
])('a function with only %s writes only %j', async (right, expected) => {
  const { result } = await run([right], async () => {
    const { table } = webDeps();
    const done: string[] = [];
    for (const pk of ['KEY#1', 'EVT#1', 'LOG#1', 'RATE#1', 'KEYUSE#1', 'PAY#1', 'IDEM#1']) {
      const key = { pk, sk: 'x' };
      const note = (name: string) => (written: unknown) => {
        if (written !== undefined) done.push(`${name} ${pk}`);
      };
      await table.put(key).then(note('put'), () => undefined);
      await table.update(key, { add: { n: 1 } }).then(note('update'), () => undefined);
      await table.remove(key).then(note('delete'), () => undefined);
      await table.get(key).then(note('get'), () => undefined);
    }
    return done;
  });
  expect(result).toEqual(expected);
});

test('a function with declared rights can use them', async () => {
  const { result } = await run(['table:read', 'table:put', 'table:delete'], async () => {
    const { table } = webDeps();
    const second = { ...KEY, sk: 'B' };
    await table.transact([{ put: KEY }, { check: second, if: [{ absent: true }] }]);
    await table.put(second);
    const found = await table.getMany([KEY, second]);
    const removed = await table.transact([{ delete: KEY }, { delete: second }]);
    return [found.length, removed.ok, await table.get(KEY)];
  });
  expect(result).toEqual([2, true, undefined]);
});

test('a function finds only the provider slots whose keys it may read', async () => {
  const { result } = await run(['secrets:provider_b'], () =>
    Promise.all(
      (['provider_a', 'provider_b', 'provider_c', 'provider_d'] as const).map(
        async (slot) => (await moneyDeps().providers.find(slot))?.slot,
      ),
    ),
  );
  expect(result).toEqual([undefined, 'provider_b', undefined, undefined]);
});

test.each<[readonly Right[], readonly [boolean, boolean]]>([
  [['secrets:provider_a'], [true, false]],
  [['signatures:provider_a'], [false, true]],
  [
    ['signatures:provider_b', 'secrets:provider_b'],
    [false, false],
  ],
])('a function with the rights %j can or cannot call provider_a and verify its events: %j', async (uses, expected) => {
  const { result } = await run(uses, async () => [
    (await moneyDeps().providers.find('provider_a')) !== undefined,
    (await receiverDeps().receivers.find('provider_a')) !== undefined,
  ]);
  expect(result).toEqual(expected);
});

test.each<[readonly Right[], boolean]>([
  [['secrets:guest-tokens'], true],
  [['table:read'], false],
])('a function with the rights %j issues guest tokens: %s', async (uses, issues) => {
  const { result } = await run(uses, () => webDeps().guestTokens.issue(GUEST));
  expect(result !== undefined).toBe(issues);
});

test.each<[readonly Right[], string]>([
  [['secrets:ids'], 'pay_'],
  [['table:read', 'secrets:guest-tokens'], 'Error'],
])('a function with the rights %j makes keyed ids: %s', async (uses, made) => {
  const { result } = await run(uses, () => webDeps().ids.idOf('payment', 'scope'));
  expect(result).toEqual(expect.stringMatching(new RegExp(`^${made}`)));
});

test('an expired item needs no right to delete, and counts as absent immediately', async () => {
  const { result } = await run(['table:read', 'table:put'], async () => {
    const { table } = webDeps();
    await table.put(KEY);
    await table.expire(KEY, [{ exists: true }]);
    const again = await table.expire(KEY, [{ exists: true }]);
    const found = await table.get(KEY);
    const created = await table.put({ ...KEY, n: 2 }, [{ absent: true }]);
    return [again.ok, found, created.ok];
  });
  expect(result).toEqual([false, undefined, true]);
});
