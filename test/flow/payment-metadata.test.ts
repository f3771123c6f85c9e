/** @module The merchant updates the metadata of a final payment. */

import { beforeAll, describe, expect, test } from 'vitest';
import { platformAdmin, requestErasure, untilErased } from './erasures.ts';
import { confirm, createIntent, createPaidIntent, eventsOf, read, signIn, type User } from './flow.ts';
import { withHost } from './host.ts';
import { createKey } from './keys.ts';

const service = withHost({ frozen: true });

let payer: User;
let admin: User;
let support: User;
beforeAll(async () => {
  payer = await signIn(service);
  admin = await platformAdmin(service);
  support = await signIn(service, { staff_role: 'support' });
});

const paid = async (user = payer) => {
  const payment = await createPaidIntent(service, user, { metadata: { cart: 'c1', old: 1 } });
  await confirm(service, payment.id, user.options);
  return payment;
};
const change = (id: string, body: object, options: User['options']) =>
  service.request('PATCH', `/payments/${id}`, { ...options, body });

describe('PATCH /payments/:id', () => {
  test('merges and replaces the metadata, and publishes one event per change', async () => {
    const { id } = await paid();
    await service.clearProviderRequests();
    const merged = await change(id, { metadata: { shipped: true, old: null } }, support.options);
    expect(merged).toMatchObject({ status: 200, body: { id, status: 'succeeded' } });
    expect(merged).toHaveProperty('body.metadata', { cart: 'c1', shipped: true });
    expect((await change(id, { metadata: { shipped: true } }, support.options)).status).toBe(200);
    const replaced = await change(id, { metadata: { a: 1 }, metadata_mode: 'replace' }, admin.options);
    expect(replaced).toHaveProperty('body.metadata', { a: 1 });
    expect((await read(service, id, payer.options)).metadata).toEqual({ a: 1 });
    expect(await service.providerRequests()).toEqual([]);
    const events = (await service.busEvents('payment.updated')).map(({ detail }) => detail.payload.data);
    expect(events.map(({ reason, metadata }) => [reason, metadata])).toEqual([
      ['metadata', { cart: 'c1', shipped: true }],
      ['metadata', { a: 1 }],
    ]);
    expect((await eventsOf(service, id)).filter((name) => name === 'payment.succeeded')).toHaveLength(1);
  });

  test('accepts a key with payments:write, and refuses other scopes and roles', async () => {
    const { id } = await paid();
    const keyed = async (scopes: string[]) => {
      const { secret } = await createKey(service, admin, { scopes });
      return change(id, { metadata: { by: 'key' } }, { bearer: secret });
    };
    expect(await keyed(['payments:write'])).toMatchObject({ status: 200, body: { metadata: { by: 'key' } } });
    const refused = await keyed(['payments:read', 'payments:operate']);
    expect(refused).toMatchObject({ status: 403, body: { details: { required_scope: 'payments:write' } } });
    const finance = await signIn(service, { staff_role: 'finance' });
    expect((await change(id, { metadata: {} }, finance.options)).status).toBe(403);
    expect((await change(id, { metadata: {} }, payer.options)).status).toBe(403);
  });

  test('refuses the payer, even if the payer is staff or an admin', async () => {
    for (const who of [support, admin]) {
      const { id } = await paid(who);
      expect(await change(id, { metadata: { a: 1 } }, who.options)).toMatchObject({
        status: 403,
        body: { details: { reason: 'own_payment' } },
      });
    }
  });

  test('refuses a payment that is not final, unknown fields, and an erased payer', async () => {
    const open = await createIntent(service, payer);
    expect(await change(open.id, { metadata: {} }, admin.options)).toMatchObject({
      status: 409,
      body: { code: 'INVALID_STATE' },
    });
    const guest = await signIn(service);
    const { id } = await paid(guest);
    expect((await change(id, { metadata: {}, meta: 1 }, admin.options)).status).toBe(400);
    const { id: erasure } = await requestErasure(service, admin.options, { user_id: guest.userId });
    await untilErased(service, admin.options, { id: erasure });
    expect(await change(id, { metadata: { name: 'Jane' } }, admin.options)).toMatchObject({
      status: 409,
      body: { details: { reason: 'erased' } },
    });
  });
});
