import { describe, expect, test } from 'vitest';
import { DAY_SECONDS, HOUR_SECONDS } from '../builders/seconds.ts';
import { atStripe } from './at-stripe.ts';
import { platformAdmin, requestErasure, textOf, untilErased } from './erasures.ts';
import { confirm, confirmInBrowser, createIntent, itemsOf, PATIENT, read, signIn } from './flow.ts';
import type { TestHost } from './host.ts';
import { company, createCustomer, saveReadyMethod, storedRecord } from './payers.ts';
import { expectAgreement, PAYING_METHODS, paidPayment } from './refunders.ts';
import { withStops } from './stops.ts';

/** An erasure keeps the content of a provider's event until the event is applied to its record. */
const stoppable = withStops(PATIENT);

const REFUND = { amount: 700, status: 'succeeded' };

const failReads = (service: TestHost, path: string) =>
  service.fault({ provider: 'provider_a', method: 'GET', path, action: 'error_500' });

describe.each(PAYING_METHODS)('a refund at %s whose event is applied after its payer is erased', (...paying) => {
  test('is recorded, and its event then contains no personal data', async () => {
    const { service, losing } = stoppable();
    const admin = await platformAdmin(service);
    const user = await signIn(service);
    const payment = await paidPayment(service, user, { paying });
    await losing({ call: 'GetItem', executed: false }, async () => {
      await service.control('POST', `/simulator/payments/${payment.id}/refunds`, REFUND);
      await service.settle();
    });
    const { id } = await requestErasure(service, admin.options, { user_id: user.userId });
    await untilErased(service, admin.options, { id });
    await service.advance(HOUR_SECONDS);
    expect(await read(service, payment.id, admin.options)).toMatchObject({ refunded_cents: REFUND.amount });
    await expectAgreement(service, payment.id, admin);
    const events = (await itemsOf(service, 'EVT#')).filter(({ rawType }) => /refund/i.test(rawType));
    expect(events.length).toBeGreaterThan(0);
    expect(events.filter(({ isBlanked }) => !isBlanked)).toEqual([]);
  });
});

describe('a payment failed here but confirmed at Stripe', () => {
  test('becomes requires_capture after its payer is erased', async () => {
    const { service } = stoppable();
    const admin = await platformAdmin(service);
    const user = await signIn(service);
    const { client_secret, ...intent } = await createIntent(service, user, {
      ...{ capture_method: 'manual', payment_method_id: 'pm_card_visa' },
    });
    await service.fault({ provider: 'provider_a', path: '/confirm', method: 'POST', action: 'error_500' });
    await confirm(service, intent.id, user.options);
    await service.advance(2 * HOUR_SECONDS);
    expect(await read(service, intent.id, admin.options)).toMatchObject({ status: 'failed' });
    await service.clearFaults();
    await failReads(service, '/payment_intents');
    await confirmInBrowser(service, { ...intent, client_secret }, 'pm_card_visa');
    await service.settle();
    const { id } = await requestErasure(service, admin.options, { user_id: user.userId });
    await untilErased(service, admin.options, { id });
    await service.clearFaults();
    await service.advance(DAY_SECONDS);
    expect(await read(service, intent.id, admin.options)).toMatchObject({ status: 'requires_capture' });
  });
});

describe('an organization’s payment with a member’s own card', () => {
  test('contains no name of the erased member after an event is redriven', async () => {
    const { service } = stoppable();
    const admin = await platformAdmin(service);
    const { id: organization_id, billing } = await company(service);
    await createCustomer(service, billing.options, { organization_id: null });
    const method = await saveReadyMethod(service, billing.options, { organization_id: null });
    const { providerMethodId } = await storedRecord(service, 'PM', method.id);
    await atStripe(service, `POST payment_methods/${providerMethodId}`, {
      'billing_details[name]': 'Zelda Planted',
    });
    const intent = await createIntent(service, billing, { organization_id, payment_method_id: method.id });
    expect((await confirm(service, intent.id, billing.options)).body).toMatchObject({ status: 'succeeded' });
    await service.settle();
    await failReads(service, '/v1/refunds');
    await service.control('POST', `/simulator/payments/${intent.id}/refunds`, REFUND);
    await service.advance(2 * HOUR_SECONDS);
    const { id } = await requestErasure(service, admin.options, { user_id: billing.userId });
    await untilErased(service, admin.options, { id });
    await service.clearFaults();
    await service.redrive('apply-provider-event-dlq');
    await service.advance(5 * HOUR_SECONDS);
    expect(await read(service, intent.id, admin.options)).toMatchObject({ refunded_cents: REFUND.amount });
    const left = (await itemsOf(service)).filter((item) => textOf(item).includes('Planted'));
    expect(left.map(({ pk }) => pk)).toEqual([]);
  });
});
