import { expect } from 'vitest';
import { YEAR_SECONDS } from '../builders/seconds.ts';
import { signIn } from './flow.ts';
import type { TestHost } from './host.ts';
import type { ParsedJson } from './routes.ts';

/** Steps of tests about hosted pages; a refused step fails the test. */
type Fields = Readonly<Record<string, unknown>>;

/** How a page sends its requests. */
export const withToken = (token: string) => ({ headers: { 'x-link-token': token } });

export const tokenIn = (url: string): string => url.slice(url.indexOf('#') + 1);

/** The token of a link to the page of a payment or a subscription. */
export const pageToken = async (service: TestHost, id: string, body: Fields = {}): Promise<string> => {
  const admin = await signIn(service, { is_admin: true, expires_in: YEAR_SECONDS });
  const kind = id.startsWith('subs_') ? 'subscriptions' : 'payments';
  const answer: ParsedJson = await service.request('POST', `/${kind}/${id}/link`, { ...admin.options, body });
  expect(answer).toMatchObject({ status: 201 });
  return tokenIn(answer.body.url);
};

export const pageOf = async (service: TestHost, token: string) => {
  const answer: ParsedJson = await service.request('GET', '/pay/state', withToken(token));
  expect(answer).toMatchObject({ status: 200 });
  return answer.body;
};
