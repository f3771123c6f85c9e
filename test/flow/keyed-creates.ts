import { expect } from 'vitest';
import { paidIntentBody } from '../builders/intent.ts';
import { customerBody, methodBody } from '../builders/payer.ts';
import { present } from '../builders/present.ts';
import { atProvider, eventsOf, type User } from './flow.ts';
import type { TestHost } from './host.ts';
import { customerEventsOf } from './payers.ts';
import type { ParsedJson } from './routes.ts';

/** The kinds of records that a POST under an Idempotency-Key creates here and at the provider. */
interface CreateKind {
  readonly name: 'customer' | 'payment method' | 'payment';
  readonly path: string;
  readonly body: (fields?: Readonly<Record<string, unknown>>) => ParsedJson;
  /** A field of the body that a later request may change. */
  readonly field: string;
  /** The path of a request that changes the record. */
  readonly changePath: (id: string) => string;
  /** The key of the record's item; undefined if the record cannot be deleted. */
  readonly item?: { readonly pk: string; readonly sk: string };
  /** Parts of the paths of the create's calls to Stripe. */
  readonly calls: readonly string[];
  /** The retry delay, in seconds, of a concurrent request under the same key. */
  readonly retryAfter: string;
  /** A failed provider call blocks the Idempotency-Key for these seconds. */
  readonly blockedSeconds: number;
  /** The records that the user sees. */
  readonly listed: (service: TestHost, user: User) => Promise<readonly string[]>;
  /** How many objects the provider has made for the record. */
  readonly made: (service: TestHost, record: ParsedJson) => Promise<number>;
  /** The names of the record's creation events; undefined if a creation publishes no event. */
  readonly events?: (service: TestHost, id: string) => Promise<readonly string[]>;
}

const idsAt = async (service: TestHost, path: string, user: User): Promise<readonly string[]> => {
  const { status, body } = await service.get(path, user.options);
  expect(status).toBe(200);
  return (body.data ?? body).map(({ id }: ParsedJson) => id);
};

const customer: CreateKind = {
  ...{ name: 'customer', path: '/customers', body: customerBody, field: 'name' },
  changePath: (id) => `/customers/${id}`,
  item: { pk: 'CUS', sk: 'CUS' },
  ...{ calls: ['/v1/customers'], retryAfter: '25', blockedSeconds: 0 },
  listed: (service, user) => idsAt(service, '/customers', user),
  made: async (service, { name }) => (await service.ledger()).customers.filter((one) => one.name === name).length,
  events: async (service, id) => (await customerEventsOf(service, id)).map((event) => event['detail-type']),
};

const method: CreateKind = {
  ...{ name: 'payment method', path: '/payment-methods', body: methodBody, field: 'alias' },
  changePath: (id) => `/payment-methods/${id}`,
  item: { pk: 'PM', sk: 'PM' },
  ...{ calls: ['/v1/customers', '/v1/setup_intents'], retryAfter: '34', blockedSeconds: 0 },
  listed: (service, user) => idsAt(service, '/payment-methods', user),
  made: async (service, { provider_payment_method_id: id }) => {
    const { payment_methods } = await service.ledger();
    const { customer: of } = present(payment_methods.find((one) => one.id === id));
    return payment_methods.filter((one) => one.customer === of).length;
  },
};

const payment: CreateKind = {
  ...{ name: 'payment', path: '/payments/intents', body: paidIntentBody, field: 'concept' },
  changePath: (id) => `/payments/intents/${id}`,
  ...{ calls: ['/v1/payment_intents'], retryAfter: '25', blockedSeconds: 25 },
  listed: (service, user) => idsAt(service, '/payments', user),
  made: async (service, { id }) => (await atProvider(service, id)).intents.length,
  events: eventsOf,
};

export const CREATE_KINDS: readonly CreateKind[] = [customer, method, payment];
