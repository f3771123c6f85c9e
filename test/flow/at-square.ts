import { expect } from 'vitest';
import type { TestHost } from './host.ts';

/** A call to Square that bypasses the service, with the access token. It stands for a click in the dashboard. */
export const atSquare = async (service: TestHost, route: `${'GET' | 'POST' | 'PUT'} ${string}`, body?: object) => {
  const { env } = service.host();
  const [method = '', path] = route.split(' ');
  const answer = await service.request(method, `/_local/providers/square/v2/${path}`, {
    bearer: env['PROVIDER_C_ACCESS_TOKEN'] ?? '',
    headers: { 'square-version': '2026-09-16' },
    ...(body && { body }),
  });
  expect({ status: answer.status, body: answer.body }).toMatchObject({ status: 200 });
  return answer.body;
};
