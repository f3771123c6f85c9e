import { describe, expect, test } from 'vitest';
import type { Connection } from '../../shared/platform/connection.ts';
import { intentBody } from '../builders/intent.ts';
import { createIntent, signIn } from './flow.ts';
import { type RequestOptions, withHost } from './host.ts';
import { createKey, forUser, newAdmin } from './keys.ts';

/**
 * A request by key needs at most one read more than a request by session, and no extra read while the key is cached.
 */
let reads = 0;
/** The number of reads of key items. */
let keyReads = 0;
const counted = (connection: Connection): Connection => {
  const note =
    <A extends readonly unknown[], R>(call: (...args: A) => R) =>
    (...args: A): R => {
      reads += 1;
      return call(...args);
    };
  const { getBatch, query, count } = connection;
  const getItem: Connection['getItem'] = (key, consistent) => {
    if (key.sk === 'KEY') keyReads += 1;
    return connection.getItem(key, consistent);
  };
  return { ...connection, getItem: note(getItem), getBatch: note(getBatch), query: note(query), count: note(count) };
};

const service = withHost({ frozen: true, between: counted });

const CACHE_SECONDS = 5;

describe('the reads of a request by key', () => {
  const ROUTES = [
    ['GET', '/payments/:id', undefined],
    ['GET', '/payments/:id/timeline', undefined],
    ['GET', '/payments', undefined],
    ['GET', '/payments/summary', undefined],
    ['GET', '/payment-methods', undefined],
    ['GET', '/customers', undefined],
    ['GET', '/subscriptions', undefined],
    ['GET', '/organizations', undefined],
    ['POST', '/payments/intents', intentBody()],
    ['PUT', '/payments/intents/:id', { concept: 'x' }],
    ['POST', '/addresses', { country: 'US', is_partial: true, type: 'billing' }],
  ] as const;

  test.each(ROUTES)('are one more than by session at first, and then no more: %s %s', async (method, path, body) => {
    const user = await signIn(service);
    const key = await createKey(service, await newAdmin(service));
    const payment = await createIntent(service, user);
    const readsOf = async (options: RequestOptions): Promise<number> => {
      await service.settle();
      reads = 0;
      const sent = body === undefined ? {} : { body };
      const answer = await service.request(method, path.replace(':id', payment.id), { ...options, ...sent });
      expect([200, 201]).toContain(answer.status);
      return reads;
    };
    const bySession = async () => {
      await readsOf(user.options);
      return readsOf(user.options);
    };
    const warm = await bySession();
    // Once the caches have expired, the next request also reads their epochs. Make that request here, so that its reads
    // are not counted.
    await service.advance(CACHE_SECONDS);
    await readsOf(user.options);
    const first = await readsOf(forUser(key, user));
    expect({ path, more: first - warm }).toEqual({ path, more: 1 });
    expect({ path, more: (await readsOf(forUser(key, user))) - warm }).toEqual({ path, more: 0 });
  });

  test('include the key again after five seconds, but not before', async () => {
    const user = await signIn(service);
    const key = await createKey(service, await newAdmin(service));
    const readsAfter = async (seconds: number): Promise<number> => {
      await service.advance(seconds);
      keyReads = 0;
      expect((await service.get('/payments', forUser(key, user))).status).toBe(200);
      return keyReads;
    };
    expect(await readsAfter(0)).toBe(1);
    expect(await readsAfter(CACHE_SECONDS - 0.001)).toBe(0);
    expect(await readsAfter(0.001)).toBe(1);
    expect(await readsAfter(CACHE_SECONDS - 1)).toBe(0);
  });
});
