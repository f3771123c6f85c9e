import { describe, expect, test } from 'vitest';
import { guestIntentBody } from '../builders/intent.ts';
import { present } from '../builders/present.ts';
import { confirm, createIntent, read, signIn } from './flow.ts';
import { AT_STRIPE, capture, heldPayment, holdsAtProvider, manualBody, release } from './holders.ts';
import { type RequestOptions, withHost } from './host.ts';
import { asMerchant, createKey, forUser, newAdmin } from './keys.ts';

/** The payer can neither capture nor release a hold. */
const service = withHost({ frozen: true });

const ended = async (id: string) => {
  const [hold] = await holdsAtProvider(service, id);
  return { captured: present(hold).captured, released: present(hold).released };
};

describe('the hold of a payer', () => {
  test('cannot be ended by the payer, a key for the payer, the organization’s owner, or another user', async () => {
    const [user, stranger, admin] = [await signIn(service), await signIn(service), await newAdmin(service)];
    const key = await createKey(service, admin);
    const { id } = await heldPayment(service, user);
    const organization = await service.post('/organizations', { name: 'Engines' }, user.options);
    const ofOrganization = await heldPayment(service, user, { organization_id: organization.body.data.id });
    const tries: readonly (readonly [string, RequestOptions, number])[] = [
      [id, user.options, 403],
      [ofOrganization.id, user.options, 403],
      [id, forUser(key, user), 403],
      [id, stranger.options, 404],
    ];
    for (const [payment, options, cancelStatus] of tries) {
      const captured = await capture(service, payment, options);
      expect([403, 404]).toContain(captured.status);
      expect((await release(service, payment, options)).status).toBe(cancelStatus);
      expect(await ended(payment)).toEqual({ captured: 0, released: 0 });
    }
  });

  test('cannot be captured or released by a guest', async () => {
    const body = guestIntentBody({ ...manualBody(AT_STRIPE) });
    const made = await service.post('/payments/intents', body);
    const guest = { guestToken: made.body.guest_token };
    expect(await confirm(service, made.body.id, guest)).toMatchObject({ body: { status: 'requires_capture' } });
    for (const tried of [capture(service, made.body.id, guest), release(service, made.body.id, guest)]) {
      expect([401, 403]).toContain((await tried).status);
    }
    expect(await ended(made.body.id)).toEqual({ captured: 0, released: 0 });
  });

  test('can be ended only by another admin if the payer is an admin', async () => {
    const [payer, other] = [await newAdmin(service), await newAdmin(service)];
    const { id } = await heldPayment(service, payer);
    for (const end of [capture, release]) {
      expect(await end(service, id, payer.options)).toMatchObject({
        status: 403,
        body: { code: 'INSUFFICIENT_PERMISSIONS' },
      });
    }
    expect(await capture(service, id, other.options)).toMatchObject({ status: 200 });
  });
});

describe('the merchant’s staff and keys', () => {
  const missing = (required_scope: string) => ({
    status: 403,
    body: { code: 'INSUFFICIENT_PERMISSIONS', details: { required_scope } },
  });

  test.each(['finance', 'operations'])('capture and release holds in the role %s', async (staff_role) => {
    const [user, staff] = [await signIn(service), await signIn(service, { staff_role })];
    const one = await heldPayment(service, user);
    expect(await capture(service, one.id, staff.options)).toMatchObject({ status: 200 });
    const two = await heldPayment(service, user);
    expect(await release(service, two.id, staff.options)).toMatchObject({ status: 200 });
  });

  test('can neither capture nor release as support, but can cancel an unconfirmed payment', async () => {
    const [user, support] = [await signIn(service), await signIn(service, { staff_role: 'support' })];
    const { id } = await heldPayment(service, user);
    expect(await capture(service, id, support.options)).toMatchObject(missing('payments:capture'));
    expect(await release(service, id, support.options)).toMatchObject(missing('payments:capture'));
    const unconfirmed = await createIntent(service, user, manualBody(AT_STRIPE));
    expect(await release(service, unconfirmed.id, support.options)).toMatchObject({
      status: 200,
      body: { status: 'canceled', cancellation_reason: null },
    });
  });

  test('cannot cancel an unconfirmed payment as finance', async () => {
    const [user, finance] = [await signIn(service), await signIn(service, { staff_role: 'finance' })];
    const unconfirmed = await createIntent(service, user, manualBody(AT_STRIPE));
    expect(await release(service, unconfirmed.id, finance.options)).toMatchObject(missing('payments:operate'));
    expect(await read(service, unconfirmed.id, user.options)).toMatchObject({ status: 'created' });
  });

  test('need the scope payments:capture to capture or release with a key', async () => {
    const [user, admin] = [await signIn(service), await newAdmin(service)];
    const key = asMerchant(await createKey(service, admin, { scopes: ['payments:capture'] }));
    const other = asMerchant(await createKey(service, admin, { scopes: ['payments:read', 'payments:operate'] }));
    const one = await heldPayment(service, user);
    expect(await capture(service, one.id, other)).toMatchObject(missing('payments:capture'));
    expect(await release(service, one.id, other)).toMatchObject(missing('payments:capture'));
    expect(await capture(service, one.id, key)).toMatchObject({ status: 200 });
    expect(await release(service, one.id, key)).toMatchObject({
      status: 409,
      body: { code: 'INVALID_STATE', details: { reason: 'captured', captured_cents: 1_000 } },
    });
    const two = await heldPayment(service, user);
    expect(await release(service, two.id, key)).toMatchObject({ status: 200 });
  });
});
