import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { PATIENT } from './flow.ts';
import { withHost } from './host.ts';

const SECRET = 'the secret of the edge';
const HEADER = 'cloudfront-viewer-address';
const MAX = 10;

describe('a service behind a trusted proxy', () => {
  const service = withHost({
    frozen: true,
    env: {
      ...PATIENT,
      RATE_LIMITS: 'on',
      TRUSTED_EDGE_HEADER: HEADER,
      TRUSTED_EDGE_SECRET_SHA256: createHash('sha256').update(SECRET).digest('hex'),
    },
  });

  let asked = 0;
  /** A list route with a limit of ten requests per minute per address. */
  const list = async (headers: Readonly<Record<string, string>>): Promise<number> => {
    asked += 1;
    return (await service.get(`/payments/guest/${asked}@edge.example.com`, { headers })).status;
  };
  const listTimes = async (count: number, headersOf: (at: number) => Readonly<Record<string, string>>) => {
    const statuses: number[] = [];
    for (let at = 0; at < count; at += 1) statuses.push(await list(headersOf(at)));
    return statuses;
  };
  const viewer = (host: number) => ({ [HEADER]: `203.0.113.${host}:4711` });

  test('counts requests with a wrong secret by the address of the connection', async () => {
    const statuses = await listTimes(MAX + 2, (at) => ({ ...viewer(at), 'x-trusted-edge-secret': `guess ${at}` }));
    expect(statuses).toEqual([...Array(MAX).fill(200), 429, 429]);
  });

  test('counts requests with the right secret by the address in the header', async () => {
    const proven = { 'x-trusted-edge-secret': SECRET };
    const statuses = await listTimes(MAX + 1, () => ({ ...viewer(100), ...proven }));
    expect(statuses).toEqual([...Array(MAX).fill(200), 429]);
    expect(await list({ ...viewer(101), ...proven })).toBe(200);
  });
});
