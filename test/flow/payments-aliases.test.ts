/**
 * @module The alias of a provider id is written in parallel with the payment. In these tests, the alias is lost or not
 * visible yet.
 */

import { beforeEach, describe, expect, test } from 'vitest';
import type { Connection } from '../../shared/platform/connection.ts';
import { VISA } from '../builders/intent.ts';
import {
  atProvider,
  confirm,
  confirmInBrowser,
  createIntent,
  eventsOf,
  IMPATIENT,
  read,
  signIn,
  type User,
} from './flow.ts';
import { withHost } from './host.ts';
import type { PaymentBody } from './routes.ts';

let isLost = false;
let isHidden = false;

const isAlias = ({ pk }: { readonly pk?: unknown }): boolean => String(pk).startsWith('REF#');

const withoutAliases = (connection: Connection): Connection => ({
  ...connection,
  getItem: async (key, consistent) => (isHidden && isAlias(key) ? undefined : connection.getItem(key, consistent)),
  putItem: async (item, clauses) => {
    // Only the write of a function is lost. A function writes the alias without a condition, but the projection
    // writes an alias only if it is absent.
    if (isLost && isAlias(item) && clauses.length === 0) throw new Error('the alias is lost');
    return connection.putItem(item, clauses);
  },
});

const service = withHost({ frozen: true, env: IMPATIENT, between: withoutAliases });
beforeEach(() => {
  isLost = false;
  isHidden = false;
});

const sync = (id: string, user: User) => service.post(`/payments/sync/${id}`, {}, user.options);

const approve = (payment: PaymentBody) => service.authenticate(payment.id);
const confirmHere = async (payment: PaymentBody, user: User, method: string): Promise<void> => {
  const answer = await confirm(service, payment.id, { ...user.options, body: { payment_method_id: method } });
  expect(answer).toMatchObject({ status: 200, body: { status: 'succeeded' } });
};

/** One way to pay per provider, with the fields of its intent. */
const WAYS: Readonly<
  Record<
    string,
    { fields: Readonly<Record<string, unknown>>; pay: (payment: PaymentBody, user: User) => Promise<unknown> }
  >
> = {
  Stripe: { fields: {}, pay: (payment) => confirmInBrowser(service, payment, VISA) },
  PayPal: { fields: { provider_id: 'provider_b', return_url: 'https://shop.example/back' }, pay: approve },
  Square: {
    fields: { provider_id: 'provider_c' },
    pay: (payment, user) => confirmHere(payment, user, 'cnon:card-nonce-ok'),
  },
};

describe.each(Object.entries(WAYS))('a payment at %s', (_, { fields, pay }) => {
  test('is created and paid before the projection writes its alias', async () => {
    isLost = true;
    const user = await signIn(service);
    const payment = await createIntent(service, user, fields);
    await service.settle();
    expect(await sync(payment.provider_payment_id, user)).toMatchObject({ status: 200, body: { id: payment.id } });
    await pay(payment, user);
    await service.settle();
    const paid = await read(service, payment.id, user.options);
    expect(paid).toMatchObject({ status: 'succeeded' });
    for (const id of [paid.provider_payment_id, paid.provider_intent_id]) {
      expect(await sync(id, user)).toMatchObject({ status: 200, body: { id: payment.id, status: 'succeeded' } });
    }
    expect((await atProvider(service, payment.id)).charges).toHaveLength(1);
  });

  test('is found by our id in the event while it has no alias', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user, fields);
    await service.settle();
    isHidden = true;
    await pay(payment, user);
    await service.settle();
    expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'succeeded' });
    expect(await eventsOf(service, payment.id)).toEqual(['payment.created', 'payment.succeeded']);
    expect((await atProvider(service, payment.id)).charges).toHaveLength(1);
  });
});
