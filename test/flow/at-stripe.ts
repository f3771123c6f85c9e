import { expect } from 'vitest';
import type { TestHost } from './host.ts';

/** A call to Stripe that bypasses the service, with the secret key. It stands for a click in the dashboard. */
export const atStripe = async (
  service: TestHost,
  route: `${'GET' | 'POST' | 'DELETE'} ${string}`,
  fields: Readonly<Record<string, string>> = {},
) => {
  const { env } = service.host();
  const [method = '', path] = route.split(' ');
  const answer = await service.request(method, `/_local/providers/stripe/v1/${path}`, {
    headers: {
      authorization: `Bearer ${env['PROVIDER_A_API_KEY']}`,
      ...(method === 'POST' && { 'content-type': 'application/x-www-form-urlencoded' }),
    },
    ...(method === 'POST' && { body: new URLSearchParams(fields).toString() }),
  });
  expect({ status: answer.status, body: answer.body }).toMatchObject({ status: 200 });
  return answer.body;
};
