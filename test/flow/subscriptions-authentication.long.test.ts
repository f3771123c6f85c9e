/** @module Cards that require strong customer authentication for every charge, or only off-session. */

import { beforeEach, describe, expect, test } from 'vitest';
import { present } from '../builders/present.ts';
import { DAY_SECONDS, HOUR_SECONDS } from '../builders/seconds.ts';
import { confirm, IMPATIENT, signIn } from './flow.ts';
import { withHost } from './host.ts';
import { addMember, newOrganization, newPerson } from './organization-steps.ts';
import type { ParsedJson } from './routes.ts';
import {
  BILLERS,
  command,
  OWN_BILLING,
  patch,
  payer,
  paymentsOf,
  readSubscription,
  type Subscriber,
  subscribe,
  subscriber,
  trySubscribe,
} from './subscribers.ts';

const ALWAYS = 'pm_card_authenticationRequired';

describe.each(BILLERS)('a subscription billed by %s whose card requires authentication', (...[, env]) => {
  const service = withHost({ frozen: true, env: { ...env, ...IMPATIENT } });
  beforeEach(async () => {
    await service.webhookMode('normal');
    await service.clearFaults();
  });

  const paid = async (who: Subscriber, id: string): Promise<number> => {
    const ids = (await paymentsOf(service, who, id)).map((payment) => payment.id);
    const { charges } = await service.ledger();
    return charges.filter(({ payment_id, status }) => status === 'succeeded' && ids.includes(payment_id)).length;
  };
  const pending = async (): Promise<{ readonly who: Subscriber; readonly made: ParsedJson }> => {
    const who = await subscriber(service, ALWAYS);
    return { who, made: await subscribe(service, who) };
  };
  const active = async () => {
    const { who, made } = await pending();
    await service.authenticate(made.latest_payment_id);
    await service.settle();
    return { who, made: await readSubscription(service, who, made.id) };
  };
  const unpaidRenewal = async () => {
    const { who, made } = await active();
    await service.advance(32 * DAY_SECONDS);
    return { who, made: await readSubscription(service, who, made.id) };
  };

  test('is pending after its creation, with the authentication data for the payer’s browser', async () => {
    const { who, made } = await pending();
    expect(made).toMatchObject({
      status: 'past_due',
      billing_status: 'pending',
      next_action: { type: 'use_provider_sdk' },
      client_secret: expect.stringMatching(/^pi_.*_secret_/),
    });
    const [payment] = await paymentsOf(service, who, made.id);
    expect(payment).toMatchObject({ id: made.latest_payment_id, status: 'pending' });
    expect(await readSubscription(service, who, made.id)).toMatchObject({
      open_payment: {
        id: made.latest_payment_id,
        status: 'pending',
        next_action: made.next_action,
        client_secret: made.client_secret,
      },
    });
    expect(await paid(who, made.id)).toBe(0);
  });

  test('is active and charged once after the payer authenticates', async () => {
    const { who, made } = await active();
    expect(made).toMatchObject({ status: 'active', billing_status: 'active' });
    expect(made).not.toHaveProperty('open_payment');
    expect(await paid(who, made.id)).toBe(1);
  });

  test('is active after a read from its provider if every event was lost', async () => {
    const who = await subscriber(service, ALWAYS);
    await service.webhookMode('drop');
    const made = await subscribe(service, who);
    await service.authenticate(made.latest_payment_id);
    await service.advance(2 * HOUR_SECONDS);
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'active' });
    expect(await paid(who, made.id)).toBe(1);
  });

  test('is canceled after 23 hours without authentication, and never charged', async () => {
    const { who, made } = await pending();
    await service.advance(24 * HOUR_SECONDS);
    const canceled = await readSubscription(service, who, made.id);
    expect(canceled).toMatchObject({ status: 'canceled' });
    expect(canceled).not.toHaveProperty('open_payment');
    await service.advance(40 * DAY_SECONDS);
    expect(await paid(who, made.id)).toBe(0);
  });

  test('is canceled after 23 hours if the payer fails to authenticate', async () => {
    const { who, made } = await pending();
    await service.authenticate(made.latest_payment_id, 'failure');
    await service.settle();
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'past_due' });
    await service.advance(24 * HOUR_SECONDS);
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'canceled' });
    expect(await paid(who, made.id)).toBe(0);
  });

  test('is created once if any response of its creation is lost', async () => {
    for (const action of ['timeout_after', 'timeout_before', 'reset']) {
      const who = await subscriber(service, ALWAYS);
      const path = env === OWN_BILLING ? '/confirm' : '/v1/subscriptions';
      await service.fault({ provider: 'provider_a', path, action, times: 1 });
      await trySubscribe(service, who);
      await service.advance(2 * HOUR_SECONDS);
      const { body } = await service.get('/subscriptions', who.options);
      expect({ action, statuses: body.map(({ status }) => status) }).toEqual({
        action,
        statuses: ['past_due'],
      });
      const [made] = body;
      await service.authenticate(present(made).latest_payment_id);
      await service.settle();
      expect(await readSubscription(service, who, present(made).id)).toMatchObject({ status: 'active' });
      expect(await paid(who, present(made).id)).toBe(1);
    }
  });

  test('is past due if a renewal requires authentication, and shows the payment to permitted callers', async () => {
    const { who, made } = await unpaidRenewal();
    expect(made).toMatchObject({ status: 'past_due', billing_status: 'retrying' });
    expect(made.open_payment).toMatchObject({
      status: 'failed',
      client_secret: expect.stringMatching(/^pi_.*_secret_/),
    });
    const payments = await paymentsOf(service, who, made.id);
    expect(payments.at(-1)).toMatchObject({
      id: made.open_payment.id,
      status: 'failed',
      failure_code: 'authentication_required',
    });
    expect(await paid(who, made.id)).toBe(1);
  });

  test('is active again after the payer confirms the open payment and authenticates', async () => {
    const { who, made } = await unpaidRenewal();
    const { id } = made.open_payment;
    expect(await confirm(service, id, who.options)).toMatchObject({
      status: 200,
      body: { status: 'pending', next_action: { type: 'use_provider_sdk' } },
    });
    expect(await readSubscription(service, who, made.id)).toMatchObject({
      status: 'past_due',
      open_payment: { id, status: 'pending', next_action: { type: 'use_provider_sdk' } },
    });
    await service.authenticate(id);
    await service.settle();
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'active', billing_status: 'active' });
    expect(await paid(who, made.id)).toBe(2);
    await service.advance(25 * DAY_SECONDS);
    expect(await paid(who, made.id)).toBe(2);
  });

  test('is active again after another card pays the open payment', async () => {
    const { who, made } = await unpaidRenewal();
    const other = await payer(service, who.options, { token: 'pm_card_visa' });
    const body = { payment_method_id: other.names.payment_method_id };
    const before = await paid(who, made.id);
    await confirm(service, made.open_payment.id, { ...who.options, body });
    await service.settle();
    const after = await readSubscription(service, who, made.id);
    expect({ status: after.status, paid: (await paid(who, made.id)) - before }).toEqual({ status: 'active', paid: 1 });
  });

  test('is charged once if the payer and the dunning retry pay concurrently', async () => {
    const { who, made } = await unpaidRenewal();
    const other = await payer(service, who.options, { token: 'pm_card_visa' });
    await Promise.all([
      patch(service, who, { id: made.id, body: { payment_method_id: other.names.payment_method_id } }),
      confirm(service, made.open_payment.id, {
        ...who.options,
        body: { payment_method_id: other.names.payment_method_id },
      }),
    ]);
    await service.settle();
    await service.advance(2 * HOUR_SECONDS);
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'active' });
    expect(await paid(who, made.id)).toBe(2);
  });

  test('waits for the payer again if another card for the amount due requires authentication', async () => {
    const who = await subscriber(service, 'pm_sim_ok_1_then_decline');
    const made = await subscribe(service, who);
    await service.advance(32 * DAY_SECONDS);
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'past_due' });
    const asking = await payer(service, who.options, { token: ALWAYS });
    const changed = await patch(service, who, {
      id: made.id,
      body: { payment_method_id: asking.names.payment_method_id },
    });
    expect(changed).toMatchObject({ status: 200, body: { status: 'past_due' } });
    await service.settle();
    const { open_payment: open } = await readSubscription(service, who, made.id);
    expect(open).toMatchObject({ client_secret: expect.stringMatching(/^pi_.*_secret_/) });
    await service.authenticate(open.id);
    await service.settle();
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'active' });
    expect(await paid(who, made.id)).toBe(2);
  });

  test('waits for the payer if it is reactivated after its period', async () => {
    const { who, made } = await active();
    await command(service, who, { id: made.id, name: 'cancel', body: { cancel_at_period_end: false } });
    await service.advance(40 * DAY_SECONDS);
    const back = await command(service, who, { id: made.id, name: 'reactivate' });
    expect(back).toMatchObject({ status: 200, body: { status: 'past_due', billing_status: 'pending' } });
    const { open_payment: open } = await readSubscription(service, who, made.id);
    await service.authenticate(open.id);
    await service.settle();
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'active' });
    expect(await paid(who, made.id)).toBe(2);
  });

  test('accepts no payment after it is canceled', async () => {
    const { who, made } = await unpaidRenewal();
    await command(service, who, { id: made.id, name: 'cancel', body: { cancel_at_period_end: false } });
    expect(await confirm(service, made.open_payment.id, who.options)).toMatchObject({ status: 409 });
    await service.settle();
    expect(await paid(who, made.id)).toBe(1);
  });

  test('shows its open payment to members who may pay, but not to readers', async () => {
    const owner = await newPerson(service);
    const reader = await newPerson(service);
    const organizationId = await newOrganization(service, owner);
    await addMember(service, owner, { organizationId, email: reader.email, role: 'member' });
    const asOwner = await payer(service, owner.options, {
      token: ALWAYS,
      fields: {
        provider_id: 'provider_a',
        organization_id: organizationId,
      },
    });
    const made = await subscribe(service, asOwner, { organization_id: organizationId });
    expect(await readSubscription(service, asOwner, made.id)).toHaveProperty('open_payment');
    const asReader = { ...asOwner, options: reader.options };
    expect(await readSubscription(service, asReader, made.id)).not.toHaveProperty('open_payment');
    expect((await confirm(service, made.latest_payment_id, reader.options)).status).toBe(403);
    const stranger = await signIn(service);
    expect((await confirm(service, made.latest_payment_id, stranger.options)).status).toBe(403);
  });
});
