/**
 * @module No socket connects to a forbidden address. The tests observe the address of each connect call below the
 * service's code, and open no socket.
 */
import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction, Socket } from 'node:net';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { openPost } from '../../shared/webhooks/post-webhook.ts';
import { isPublicAddress } from '../../shared/webhooks/webhook-targets.ts';
import { FORBIDDEN_ADDRESSES, HOSTILE_URLS } from '../builders/hostile-urls.ts';

const PUBLIC = '93.184.215.14';
let opened: string[] = [];

interface ConnectOptions {
  readonly host: string;
  readonly lookup?: LookupFunction;
}

beforeEach(() => {
  opened = [];
  vi.spyOn(Socket.prototype, 'connect').mockImplementation(function (this: Socket, ...args: unknown[]) {
    const [first] = args;
    const { host, lookup } = (Array.isArray(first) ? first[0] : first) as ConnectOptions;
    const end = (error: Error) => void this.destroy(error);
    if (isIP(host) !== 0) {
      opened.push(host);
      end(new Error('no network in tests'));
    } else if (lookup) {
      lookup(host, { all: true }, (error, addresses) => {
        if (!error) opened.push(...(addresses as LookupAddress[]).map(({ address }) => address));
        end(error ?? new Error('no network in tests'));
      });
    } else end(new Error('no resolver is registered for this name'));
    return this;
  });
});

const posted = (url: string) => ({ url, headers: {}, body: Buffer.from('{}') });
const family = (address: string): number => (address.includes(':') ? 6 : 4);
const leadingTo = (...addresses: readonly string[]) => {
  const resolve = vi.fn(async () => addresses.map((address) => ({ address, family: family(address) })));
  return { resolve, post: openPost({ timeoutMs: 5_000, allowPrivate: false, resolve }) };
};

describe('a webhook target', () => {
  test('is refused for each of more than 300 hostile URLs before a socket opens', async () => {
    expect(new Set(HOSTILE_URLS).size).toBeGreaterThan(300);
    const { post, resolve } = leadingTo(PUBLIC);
    for (const url of HOSTILE_URLS) {
      expect([url, await post(posted(url))]).toEqual([
        url,
        { kind: 'failed', reason: 'forbidden_address', detail: expect.any(String), durationMs: expect.any(Number) },
      ]);
    }
    expect(opened).toEqual([]);
    expect(resolve).not.toHaveBeenCalled();
  });

  test.each([
    ['alone', (address: string) => [address]],
    ['after a public address', (address: string) => [PUBLIC, address]],
    ['before a public address', (address: string) => [address, PUBLIC]],
  ])('is refused if its name resolves to a forbidden address, %s', async (_, addresses) => {
    for (const address of FORBIDDEN_ADDRESSES) {
      const { post } = leadingTo(...addresses(address));
      expect([address, await post(posted('https://hooks.example/in'))]).toMatchObject([
        address,
        { reason: 'forbidden_address' },
      ]);
    }
    expect(opened).toEqual([]);
  });

  test('is refused if its name does not resolve', async () => {
    const { post } = leadingTo();
    expect(await post(posted('https://hooks.example/in'))).toMatchObject({ reason: 'forbidden_address' });
    expect(opened).toEqual([]);
  });

  test('is reached at the checked addresses, even if its name resolves to others a moment later', async () => {
    const answers = [[PUBLIC], ['127.0.0.1'], ['169.254.169.254']];
    const resolve = vi.fn(async () => (answers.shift() ?? []).map((address) => ({ address, family: 4 })));
    const post = openPost({ timeoutMs: 5_000, allowPrivate: false, resolve });
    expect(await post(posted('https://rebinding.example/in'))).toMatchObject({ reason: 'unreachable' });
    expect(opened).toEqual([PUBLIC]);
    expect(resolve).toHaveBeenCalledOnce();
    // The next delivery resolves the name again and is refused.
    expect(await post(posted('https://rebinding.example/in'))).toMatchObject({ reason: 'forbidden_address' });
    expect(opened).toEqual([PUBLIC]);
  });

  test.each(['https://93.184.215.14/in', 'https://[2606:2800:21f:cb07::1]/in', 'https://hooks.example/in'])(
    'is reached at a public address: %s',
    async (url) => {
      const { post } = leadingTo(PUBLIC, '2606:2800:21f:cb07::1');
      expect(await post(posted(url))).toMatchObject({ kind: 'failed', reason: 'unreachable' });
      expect(opened.length).toBeGreaterThan(0);
      expect(opened.every(isPublicAddress)).toBe(true);
    },
  );

  test('may have any address if private addresses are allowed, but its URL may not contain credentials', async () => {
    const post = openPost({ timeoutMs: 5_000, allowPrivate: true });
    await post(posted('http://127.0.0.1:1/in'));
    await post(posted('https://[::1]/in'));
    expect(opened).toEqual(['127.0.0.1', '::1']);
    expect(await post(posted('http://user:password@127.0.0.1/in'))).toMatchObject({ reason: 'forbidden_address' });
    expect(await post(posted('ftp://127.0.0.1/in'))).toMatchObject({ reason: 'forbidden_address' });
    expect(opened).toHaveLength(2);
  });
});
