import { expect } from 'vitest';
import { PUBLISHABLE_KEY } from '../../infra/local/machine/environment.ts';
import type { Page } from '../../shared/platform/connection.ts';
import type { Key } from '../../shared/platform/keys.ts';
import { intentBody, paidIntentBody } from '../builders/intent.ts';
import { unpackedItem } from '../builders/unpacked-item.ts';
import type { RequestOptions, TestHost } from './host.ts';
import type { ParsedJson } from './routes.ts';

/** Steps that flow tests share. They call the service over HTTP, or use its table and the provider's ledger. */
type Fields = Readonly<Record<string, unknown>>;

/** A deadline for calls to providers, long enough for a busy machine. */
export const PATIENT = { PROVIDER_TIMEOUT_MS: '15000' } as const;
/** A deadline for calls to providers, short for tests that wait for it, but long enough for a busy machine. */
export const IMPATIENT = { PROVIDER_TIMEOUT_MS: '1500' } as const;

/** A signed-in user, with its request options. */
export interface User {
  readonly userId: string;
  readonly session: string;
  readonly token: string;
  readonly options: RequestOptions;
}

export const signIn = async (service: TestHost, session: Parameters<TestHost['session']>[0] = {}): Promise<User> => {
  const { session_id, user_id, token } = await service.session(session);
  return { userId: user_id, session: session_id, token, options: { session: session_id } };
};

/** Creates a payment of the user. */
export const createIntent = async (service: TestHost, user: User, fields: Fields = {}) => {
  const answer = await service.post('/payments/intents', intentBody(fields), user.options);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
};

/** Creates a payment of the user with a card that succeeds. */
export const createPaidIntent = (service: TestHost, user: User, fields: Fields = {}) =>
  createIntent(service, user, paidIntentBody(fields));

export const confirm = (service: TestHost, paymentId: string, { body = {}, ...options }: RequestOptions) =>
  service.post(`/payments/confirm/${paymentId}`, body, options);

/** The payment as its user reads it. */
export const read = async (service: TestHost, paymentId: string, options: RequestOptions) => {
  const answer = await service.get(`/payments/${paymentId}`, options);
  expect(answer).toMatchObject({ status: 200, body: { success: true } });
  return answer.body.data;
};

/** Confirms at the provider like a page in a browser, with the publishable key and the client secret. */
export const confirmInBrowser = (
  service: TestHost,
  payment: { readonly provider_payment_id: string; readonly client_secret: string },
  method: string,
) =>
  service.request('POST', `/_local/providers/stripe/v1/payment_intents/${payment.provider_payment_id}/confirm`, {
    headers: { authorization: `Bearer ${PUBLISHABLE_KEY}`, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ client_secret: payment.client_secret, payment_method: method }).toString(),
  });

/** The provider's ledger of one payment of ours. */
export const atProvider = async (service: TestHost, paymentId: string) => {
  const { charges, payment_intents } = await service.ledger(paymentId);
  return { charges, intents: payment_intents };
};

/** The number of the payment's charges that succeeded or are pending. */
export const timesCharged = async (service: TestHost, paymentId: string): Promise<number> => {
  const { charges } = await atProvider(service, paymentId);
  return charges.filter((charge: ParsedJson) => charge.status === 'succeeded' || charge.status === 'pending').length;
};

/** The names of the canonical events of one payment, in their order on the bus. */
export const eventsOf = async (service: TestHost, paymentId: string): Promise<string[]> =>
  (await service.busEvents())
    .filter((event) => event.source === 'payments' && event.detail.payload.data.payment_id === paymentId)
    .map((event) => event['detail-type']);

const keyOf = ({ pk, sk }: { readonly pk: string; readonly sk: string }): string => `${pk}\n${sk}`;

const allPages = async (read: (after: Page['next']) => Promise<Page>) => {
  const items: ParsedJson[] = [];
  let after: Page['next'];
  do {
    const page = await read(after);
    items.push(...page.items.map(unpackedItem));
    after = page.next;
  } while (after);
  return items.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
};

const ITEMS_AT_ONCE = 5_000;

/** Every item of the table whose partition key begins with the prefix, sorted by key. */
export const itemsOf = async (service: TestHost, prefix = '') => {
  const { connection } = service.host();
  const items = await allPages((after) => connection.scan({ after, limit: ITEMS_AT_ONCE }));
  return items.filter(({ pk }) => pk.startsWith(prefix));
};

/** Every item of one partition, sorted by key. A query costs far less than a scan. */
export const partitionOf = (service: TestHost, partition: string) => {
  const { connection } = service.host();
  return allPages((after) => connection.query({ partition, consistent: true, after }));
};

/** Puts or removes an item directly in the table. */
export const changeTable = async (
  service: TestHost,
  change: { readonly put: ParsedJson } | { readonly remove: Key },
): Promise<void> => {
  const { connection } = service.host();
  if ('put' in change) await connection.putItem(change.put, []);
  else await connection.deleteItem(change.remove, []);
};

export const storedPayment = async (service: TestHost, paymentId: string) =>
  (await partitionOf(service, `PAY#${paymentId}`)).find(({ sk }) => sk === 'PAY');

/** Log entries of inbound events about one payment, oldest first. */
export const logEntriesOf = async (service: TestHost, paymentId: string) =>
  (await itemsOf(service, 'LOG#'))
    .filter((entry) => entry.response.payment_id === paymentId)
    .sort((a, b) => (a.sort < b.sort ? -1 : 1));
