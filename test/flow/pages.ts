/** @module Helpers for tests of hosted pages. A refused call fails the test. */

import { expect } from 'vitest';
import { YEAR_SECONDS } from '../builders/seconds.ts';
import { signIn } from './flow.ts';
import type { TestHost } from './host.ts';
import type { ParsedJson } from './routes.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The headers of a page's requests. */
export const withToken = (token: string) => ({ headers: { 'x-link-token': token } });

export const tokenIn = (url: string): string => url.slice(url.indexOf('#') + 1);

/** The token of the link to a payment's or subscription's page. */
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

export const createLink = async (service: TestHost, fields: Fields = {}) => {
  const admin = await signIn(service, { is_admin: true, expires_in: YEAR_SECONDS });
  const body = { total_cents: 2_500, currency: 'USD', ...fields };
  const answer: ParsedJson = await service.request('POST', '/payment-links', { ...admin.options, body });
  expect(answer).toMatchObject({ status: 201 });
  const link = answer.body.data;
  const read = async () => {
    await service.settle();
    const shown: ParsedJson = await service.get(`/payment-links/${link.id}`, admin.options);
    expect(shown).toMatchObject({ status: 200 });
    return shown.body.data;
  };
  return { ...link, token: tokenIn(link.url), admin, read };
};

let starts = 0;

/** Starts a payment from a link. Each start has another payer, unless `fields` override the payer. */
export const startLink = (service: TestHost, token: string, fields: Fields = {}, key?: string): Promise<ParsedJson> => {
  starts += 1;
  return service.request('POST', '/pay/start', {
    headers: { ...withToken(token).headers, 'idempotency-key': key ?? `start number ${starts} of a test` },
    body: { email: `payer.${starts}@example.com`, name: 'Pia Payer', ...fields },
  });
};
