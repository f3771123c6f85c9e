import { describe, expect, test } from 'vitest';
import { withHost } from './host.ts';

describe('a host', () => {
  const service = withHost();

  test('reports that it is healthy, without further data', async () => {
    expect(await service.get('/health')).toMatchObject({ status: 200, body: { status: 'ok' } });
  });

  test('serves the API document, which names the host', async () => {
    const { status, body } = await service.get('/openapi.json');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      openapi: expect.stringMatching(/^3\.1\./),
      servers: [{ url: service.host().baseUrl }],
    });
    expect(body.paths['/payments/{id}'].get.operationId).toBe('payments.get');
  });
});

describe('a host under a prefix', () => {
  const service = withHost({ env: { BASE_PATH: '/pay' } });

  test('accepts health checks with and without the prefix, and names the prefix in the document', async () => {
    for (const path of ['/health', '/pay/health']) {
      expect(await service.get(path)).toMatchObject({ status: 200, body: { status: 'ok' } });
    }
    const { body } = await service.get('/pay/openapi.json');
    expect(body.servers).toEqual([{ url: `${service.host().baseUrl}/pay` }]);
  });

  test('returns 405 for an unsupported method of a route, but 404 without the prefix', async () => {
    expect(await service.request('DELETE', '/pay/payments')).toMatchObject({ status: 405 });
    expect(await service.request('DELETE', '/payments')).toMatchObject({ status: 404 });
    expect(await service.request('DELETE', '/pay/v1/payments')).toMatchObject({ status: 404 });
  });
});
