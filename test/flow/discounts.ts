import { expect } from 'vitest';
import { discountBody } from '../builders/reference.ts';
import { YEAR_SECONDS } from '../builders/seconds.ts';
import { itemsOf, signIn, type User } from './flow.ts';
import type { TestHost } from './host.ts';
import type { ParsedJson } from './routes.ts';

/** Steps of tests about discount codes; a refused step fails the test. */
type Fields = Readonly<Record<string, unknown>>;

export const signInForYears = (service: TestHost, session: Parameters<typeof signIn>[1] = {}): Promise<User> =>
  signIn(service, { expires_in: YEAR_SECONDS, ...session });

export const putCode = async (service: TestHost, code: string, fields: Fields = {}) => {
  const admin = await signInForYears(service, { is_admin: true });
  const answer = await service.put(`/admin/discounts/${code}`, discountBody(fields), admin.options);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body.data;
};

/** The counts shown to the merchant, after the stream is processed. */
export const codeCounts = async (service: TestHost, code: string) => {
  await service.settle();
  const admin = await signInForYears(service, { is_admin: true });
  const shown: ParsedJson = (await service.get(`/admin/discounts/${code}`, admin.options)).body.data;
  return { reserved: shown.reserved, redeemed: shown.redeemed };
};

/** The number of payments and subscriptions that hold a use of the code, counted from their records. */
export const heldOf = async (service: TestHost, code: string) => {
  await service.settle();
  const held = (await itemsOf(service)).filter(
    ({ sk, discount }) => (sk === 'PAY' || sk === 'SUB') && discount?.code === code && discount.redemption,
  );
  const paid = held.filter(({ status }) => ['succeeded', 'active', 'trialing'].includes(status));
  const open = held.filter(
    ({ status }) => !['succeeded', 'active', 'trialing', 'canceled', 'declined'].includes(status),
  );
  return { reserved: open.length, redeemed: paid.length };
};

/** The uses of the code by all payers. */
export const usesOf = async (service: TestHost, code: string): Promise<number> =>
  (await itemsOf(service, `DISCOUNTUSE#${code}#`)).reduce((sum, { count }) => sum + count, 0);
