import { request as httpRequest } from 'node:http';
import { describe, expect, test } from 'vitest';
import { withHost } from './host.ts';

describe('the files of the hosted page', () => {
  const service = withHost();
  const named = async (): Promise<string[]> => {
    const { body } = await service.get('/pay');
    return [...String(body).matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path ?? '');
  };

  const bytesOf = (path: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const options = { headers: { 'accept-encoding': 'gzip' } };
      httpRequest(`${service.host().baseUrl}${path}`, options, async (message) =>
        resolve(Buffer.concat(await message.toArray()).length),
      )
        .on('error', reject)
        .end();
    });

  test('total less than 45 KB compressed', async () => {
    const sizes = await Promise.all(['/pay', ...(await named())].map(bytesOf));
    expect(sizes).toHaveLength(3);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(45_000);
  });

  test('need no token, and ignore PayPal’s token in the address', async () => {
    for (const path of ['/pay', '/pay?token=OMX31J0UV00000001']) {
      const { status, headers, body } = await service.request('GET', path);
      expect(status).toBe(200);
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(headers.get('cache-control')).toBe('no-cache');
      expect(String(body)).not.toMatch(/<style|style=|<script(?![^>]* src=)|\son\w+=/);
    }
    const unknown = await service.request('GET', '/pay/assets/nothing.js');
    expect([unknown.status, unknown.body.code]).toEqual([404, 'ROUTE_NOT_FOUND']);
  });

  test('cannot be embedded in a frame', async () => {
    const policy = (await service.get('/pay')).headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
  });
});

describe.each([{ HOSTED_PAGES: 'off' }, { GUEST_TOKEN_SECRET: '' }])('a host with %o', (env) => {
  const off = withHost({ env });

  test('serves no hosted page', async () => {
    const { status, body } = await off.request('GET', '/pay');
    expect([status, body.code]).toEqual([404, 'ROUTE_NOT_FOUND']);
  });
});
