import { expect } from 'vitest';
import type { TestHost } from './host.ts';

const AT = '/_local/providers/paypal';

/** A call to PayPal that bypasses the service, with the client's token. It stands for a click on PayPal's site. */
export const atPayPal = async (service: TestHost, route: `${'GET' | 'POST' | 'PATCH'} ${string}`, body?: object) => {
  const { env } = service.host();
  const client = `${env['PROVIDER_B_CLIENT_ID']}:${env['PROVIDER_B_CLIENT_SECRET']}`;
  const granted = await service.request('POST', `${AT}/v1/oauth2/token`, {
    headers: {
      authorization: `Basic ${Buffer.from(client).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: 'grant_type=client_credentials',
  });
  const [method = '', path] = route.split(' ');
  const answer = await service.request(method, `${AT}/${path}`, {
    bearer: granted.body.access_token,
    ...(body && { body }),
  });
  expect({ ok: answer.status < 300, body: answer.body }).toMatchObject({ ok: true });
  return answer.body;
};
