import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { LogFields } from '../../shared/core/log-line.ts';
import { metricsOf } from '../../shared/core/metrics.ts';
import { fetchOverHttp } from '../../shared/platform/fetch.ts';
import { probeHealth } from '../../shared/workers/probe-health.ts';
import { freePort } from '../builders/free-port.ts';

interface Served {
  readonly status: number;
  readonly body?: string;
  readonly location?: string;
}

const servedAt = async ({ status, body = '{"status":"ok"}', location }: Served) => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(status, location === undefined ? {} : { location }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { asked, baseUrl: `http://127.0.0.1:${port}/pay` };
};

const probe = async (baseUrl: string): Promise<LogFields> => {
  const lines: LogFields[] = [];
  const note = (_: string, fields: LogFields) => lines.push(fields);
  await probeHealth({ fetch: fetchOverHttp, baseUrl, log: { info: note, warn: note, error: note } });
  expect(lines).toHaveLength(1);
  return lines[0] ?? {};
};

describe('the health probe', () => {
  test('requests the health route under the configured prefix, and counts a healthy stage as 0', async () => {
    const { asked, baseUrl } = await servedAt({ status: 200 });
    const fields = await probe(baseUrl);
    await probe(`${baseUrl}/`);
    expect(asked).toEqual(['GET /pay/health', 'GET /pay/health']);
    expect(fields).toEqual({ failed: 0 });
    expect(metricsOf({ stage: 'prod', message: 'health probed', fields, at: 0 })).toMatchObject({
      UnhealthyProbes: 0,
      _aws: { CloudWatchMetrics: [{ Namespace: 'Payments/prod' }] },
    });
  });

  test.each([
    ['an error of the gateway', { status: 503 }, 'status 503'],
    ['a route that is missing', { status: 404 }, 'status 404'],
    ['a redirect', { status: 302, location: 'https://example.com' }, 'redirected by status 302'],
    [
      'the page of another server',
      { status: 200, body: '<h1>Parked</h1>' },
      'the response is not that of this service',
    ],
  ])('counts %s as 1, with the reason', async (_, served, reason) => {
    const { baseUrl } = await servedAt(served);
    const fields = await probe(baseUrl);
    expect(fields).toEqual({ failed: 1, reason });
    expect(metricsOf({ stage: 'prod', message: 'health probed', fields, at: 0 })).toMatchObject({ UnhealthyProbes: 1 });
  });

  test('counts an interrupted response as 1, and does not fail itself', async () => {
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"status":', () => response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    expect(await probe(`http://127.0.0.1:${port}`)).toMatchObject({ failed: 1 });
  });

  test('counts an address without a listener as 1, and does not fail itself', async () => {
    expect(await probe(`http://127.0.0.1:${await freePort()}`)).toEqual({ failed: 1, reason: 'ECONNREFUSED' });
  });
});
