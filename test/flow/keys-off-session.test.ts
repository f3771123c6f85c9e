import { describe, expect, test } from 'vitest';
import { intentBody, THREE_D_SECURE, VISA } from '../builders/intent.ts';
import { confirm, createIntent, read, signIn } from './flow.ts';
import { withHost } from './host.ts';
import { createKey, forOrganization, forUser, newAdmin } from './keys.ts';
import { company, saveMethod, saveReadyMethod } from './payers.ts';

/** A service key charges a saved method while its payer is absent. */
const service = withHost({ frozen: true });

const OFF_SESSION = { off_session: true };

describe('an off_session confirmation', () => {
  test('charges the saved method of a user by key', async () => {
    const user = await signIn(service);
    const key = await createKey(service, await newAdmin(service));
    const method = await saveMethod(service, user.options);
    const payment = await createIntent(service, user, { payment_method_id: method.id });
    const confirmed = await confirm(service, payment.id, { ...forUser(key, user), body: OFF_SESSION });
    expect(confirmed).toMatchObject({ status: 200, body: { status: 'succeeded' } });
  });

  test('charges the method of an organization by key', async () => {
    const acme = await company(service);
    const key = await createKey(service, await newAdmin(service));
    const method = await saveMethod(service, acme.billing.options, { organization_id: acme.id });
    const options = forOrganization(key, acme.id);
    const made = await service.post('/payments/intents', intentBody({ payment_method_id: method.id }), options);
    const confirmed = await confirm(service, made.body.id, { ...options, body: OFF_SESSION });
    expect(confirmed).toMatchObject({ status: 200, body: { status: 'succeeded' } });
  });

  test('is declined if the bank requires the payer, but the payer may then confirm', async () => {
    const user = await signIn(service);
    const key = await createKey(service, await newAdmin(service));
    const fields = { provider_payment_method_token: THREE_D_SECURE };
    const method = await saveReadyMethod(service, user.options, fields);
    const payment = await createIntent(service, user, { payment_method_id: method.id });
    const declined = await confirm(service, payment.id, { ...forUser(key, user), body: OFF_SESSION });
    expect(declined).toMatchObject({
      status: 402,
      body: { code: 'PAYMENT_DECLINED', details: { decline_code: 'authentication_required' } },
    });
    await service.settle();
    expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'failed' });
    const again = await confirm(service, payment.id, user.options);
    expect(again.status).toBe(200);
    expect(again.body.next_action).toBeTruthy();
  });

  test('needs a saved method', async () => {
    const user = await signIn(service);
    const key = await createKey(service, await newAdmin(service));
    const needed = { status: 400, body: { code: 'PAYMENT_METHOD_REQUIRED' } };
    for (const fields of [{}, { payment_method_id: VISA }]) {
      const payment = await createIntent(service, user, fields);
      const options = { ...forUser(key, user), body: OFF_SESSION };
      expect(await confirm(service, payment.id, options)).toMatchObject(needed);
    }
  });

  test('charges in a session like any other confirmation', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user, { payment_method_id: VISA });
    const confirmed = await confirm(service, payment.id, { ...user.options, body: OFF_SESSION });
    expect(confirmed).toMatchObject({ status: 200, body: { status: 'succeeded' } });
  });
});
