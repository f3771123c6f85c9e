import { expect, test } from 'vitest';
import type { Connection } from '../../shared/platform/connection.ts';
import { withHost } from './host.ts';
import { createKey, newAdmin, rotateKey, shownKey, useKey } from './keys.ts';

/**
 * The SDK repeats a write after a lost response. The condition then fails, because the first write took effect. Here
 * every put of a key is made twice, and the caller gets the second result.
 */
const twice = (connection: Connection): Connection => ({
  ...connection,
  putItem: async (item, clauses) => {
    const first = await connection.putItem(item, clauses);
    return String(item['pk']).startsWith('KEY#') ? connection.putItem(item, clauses) : first;
  },
});

const service = withHost({ frozen: true, between: twice });

test('the creation of a key shows its secret even if the SDK repeats the write', async () => {
  const admin = await newAdmin(service);
  const key = await createKey(service, admin);
  const body = { name: 'Once', scopes: ['payments:read'] };
  const made = await service.post('/admin/keys', body, { ...admin.options, idempotencyKey: 'one-key' });
  expect(made).toMatchObject({ status: 201, body: { data: { secret: expect.any(String) } } });
  expect(made.headers.get('idempotent-replayed')).toBeNull();
  for (const one of [key, shownKey(made.body.data, admin.options)]) {
    expect(await useKey(service, one)).toMatchObject({ status: 200 });
  }
});

test('a rotation happens once even if the SDK repeats the write', async () => {
  const keys = [await createKey(service, await newAdmin(service))];
  for (let times = 0; times < 2; times += 1) {
    const [newest] = keys;
    if (!newest) throw new Error('there is no key');
    keys.unshift(shownKey((await rotateKey(service, newest)).body.data, newest.admin));
  }
  await service.advance(5);
  for (const key of keys) expect(await useKey(service, key)).toMatchObject({ status: 200 });
});
