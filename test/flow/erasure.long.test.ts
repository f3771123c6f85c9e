import { beforeEach, describe, expect, test, vi } from 'vitest';
import { comparableText } from '../../shared/core/text.ts';
import { freePort } from '../builders/free-port.ts';
import { intentBody } from '../builders/intent.ts';
import { present } from '../builders/present.ts';
import { MINUTE_SECONDS } from '../builders/seconds.ts';
import {
  findPlanted,
  guestLife,
  plantedIn,
  plantedRefund,
  planter,
  platformAdmin,
  readErasure,
  requestErasure,
  sendPersonalEvents,
  textOf,
  untilErased,
  userLife,
} from './erasures.ts';
import { confirm, createIntent, itemsOf, read, signIn, storedPayment } from './flow.ts';
import { withHost } from './host.ts';
import { addMember, newOrganization } from './organization-steps.ts';
import { storedRecord } from './payers.ts';
import { paidPayment } from './refunders.ts';
import type { PaymentBody } from './routes.ts';
import { deliveredTo, nodesAt } from './targets.ts';

/** The erasure of a person, with the erased values, the kept records, and late events. */
const port = await freePort();
const lines: string[] = [];
const service = withHost({
  port,
  frozen: true,
  env: { LOG_LEVEL: 'INFO', ...nodesAt(port, { canonical: {}, raw: { EVENT_MODE: 'raw' } }) },
  log: (line) => lines.push(line),
});

beforeEach(() => {
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((chunk) => {
      lines.push(String(chunk));
      return true;
    });
  }
});

const SINKS = ['canonical', 'raw'];
const sentSoFar = async () => (await Promise.all(SINKS.map((sink) => deliveredTo(service, sink)))).flat();

/** The deliveries to the targets, except the known deliveries. */
const sentAfter = async (known: readonly unknown[]): Promise<string> => {
  const all = await sentSoFar();
  const before = new Set(known.map((one) => JSON.stringify(one)));
  return JSON.stringify(all.filter((one) => !before.has(JSON.stringify(one))));
};

const FIXED = ['id', 'status', 'total_cents', 'currency', 'created_at', 'completed_at', 'provider_payment_id'] as const;
const fixed = (payment: PaymentBody | undefined) =>
  Object.fromEntries(FIXED.map((name) => [name, present(payment)[name]]));

describe('an erasure by e-mail address', () => {
  const STORED = '\u01f0oe@mail.example.com';

  test.each(['J\u030coe@mail.example.com', ' \u01f0OE@mail.example.com'])(
    'finds every form of the address when requested as %j',
    async (asked) => {
      const admin = await platformAdmin(service);
      const guest = (email: string) => ({ guest_data: { email, name: 'Joe' } });
      const first = await service.post('/payments/intents', intentBody(guest('J\u030cOE@Mail.Example.com')));
      const second = await service.post('/payments/intents', intentBody(guest('j\u030coe@mail.example.com')));
      expect([first.status, second.status]).toEqual([201, 201]);
      // An event that belongs to no record, with the address as a provider may write it.
      const note = 'mail to J\u030cOE@mail.example.com';
      await service.sendEvent({ type: 'customer.updated', object: { id: 'cus_none', object: 'customer', note } });
      await service.settle();
      const { id } = await requestErasure(service, admin.options, { email: asked });
      await untilErased(service, admin.options, { id });
      const left = (await itemsOf(service)).filter((item) => comparableText(textOf(item)).includes(STORED));
      expect(left.map(({ pk, sk }) => [pk, sk])).toEqual([]);
    },
  );
});

describe('an erasure of a user', () => {
  test('removes every value of the user, and keeps the financial records', async () => {
    const plant = planter('ada');
    const other = planter('bob');
    const admin = await platformAdmin(service);
    const life = await userLife(service, plant);
    const neighbour = await userLife(service, other);
    const refund = await plantedRefund(service, plant, { paymentId: life.payments[0].id, admin });
    await plantedRefund(service, other, { paymentId: neighbour.payments[0].id, admin });
    expect((await findPlanted(service, plant.values)).length).toBeGreaterThan(10);
    const before = await Promise.all(life.payments.map(({ id }) => read(service, id, life.user.options)));
    const total = (await service.get('/payments', life.user.options)).body.meta.total;
    const untouched = (await itemsOf(service)).filter((item) => plantedIn(textOf(item), other.values).length > 0);

    const started = await requestErasure(service, admin.options, { user_id: life.user.userId });
    expect(started).toMatchObject({ status: 'pending', counts: { payments: 0 } });
    const { job } = await untilErased(service, admin.options, { id: started.id });
    expect(job).toMatchObject({
      status: 'done',
      completed_at: expect.any(String),
      counts: { subscriptions: 1, payments: 4, refunds: 1, payment_methods: 1, customers: 1, addresses: 1 },
    });

    expect(await findPlanted(service, plant.values)).toEqual([]);
    const after = await Promise.all(life.payments.map(({ id }) => read(service, id, life.user.options)));
    const [paid, open, canceled] = before;
    expect(after.map(fixed)).toEqual([fixed(paid), { ...fixed(open), status: 'canceled' }, fixed(canceled)]);
    expect(after[0]).toMatchObject({ description: null, metadata: {}, tags: null, reference_code: null });
    const refunded = await service.get(`/refunds/${refund.id}`, life.user.options);
    expect(refunded).toMatchObject({
      body: { amount_cents: 100, status: 'succeeded', description: null, metadata: {} },
    });
    const lists = await service.get('/payments', life.user.options);
    expect(lists.body.meta.total).toBe(total);
    const { body: ended } = await service.get(`/subscriptions/${life.subscription.id}`, life.user.options);
    expect(ended).toMatchObject({ status: 'canceled', metadata: {} });
    const timeline = await service.get(`/subscriptions/${life.subscription.id}/timeline`, admin.options);
    const changes = timeline.body.data.filter(({ kind }) => kind === 'change');
    expect(changes.map(({ cause, actor }) => [cause, actor.type, actor.id])).toEqual([
      ['created', 'user', life.user.userId],
      ['canceled', 'system', 'run-due'],
      ['updated', 'system', 'run-due'],
      ['billing_address_changed', 'system', 'run-due'],
    ]);
    expect(plantedIn(JSON.stringify(timeline.body), plant.values)).toEqual([]);
    const ledger = await service.ledger();
    const there = ledger.customers.find(({ id }) => id === life.customer.provider_customer_id);
    expect(there).toMatchObject({ deleted: true });
    const now = new Map((await itemsOf(service)).map((item) => [`${item.pk} ${item.sk}`, item]));
    // Due work may change the record, but not the person's values in it.
    const keyOf = ({ pk, sk }: { readonly pk: string; readonly sk: string }): string => `${pk} ${sk}`;
    const still = untouched.filter(({ due }) => due === undefined);
    expect(still.map((item) => now.get(keyOf(item)))).toEqual(still);
    for (const item of untouched) {
      expect(plantedIn(textOf(now.get(keyOf(item))), other.values)).toEqual(plantedIn(textOf(item), other.values));
    }
    expect(lines.join('')).toContain('admin.request-erasure');
    expect(plantedIn(lines.join(''), plant.values)).toEqual([]);
    expect(await read(service, neighbour.payments[0].id, neighbour.user.options)).toMatchObject({
      description: neighbour.payments[0].description,
    });
  });

  test('keeps values from later events out of the table', async () => {
    const plant = planter('cleo');
    const admin = await platformAdmin(service);
    const life = await userLife(service, plant);
    const { id } = await requestErasure(service, admin.options, { user_id: life.user.userId });
    await untilErased(service, admin.options, { id });
    const sent = await sentSoFar();

    const late = planter('late');
    await sendPersonalEvents(service, late, {
      intentId: life.payments[0].provider_intent_id,
      customerId: life.customer.provider_customer_id,
    });
    await service.settle();
    await service.advance(MINUTE_SECONDS);
    await service.settle();
    expect(await findPlanted(service, late.values)).toEqual([]);
    expect(plantedIn(await sentAfter(sent), [...late.values, ...plant.values])).toEqual([]);

    const logs = await service.get('/webhooks/logs?limit=100', admin.options);
    expect(plantedIn(JSON.stringify(logs.body), [...late.values, ...plant.values])).toEqual([]);
    const outbound = (await itemsOf(service, 'LOG#')).filter(
      ({ direction, userId }) => direction === 'outbound' && userId === life.user.userId,
    );
    expect(outbound.length).toBeGreaterThan(0);
    for (const { id: logId } of outbound) {
      const replayed = await service.post(`/webhooks/logs/${logId}/replay`, {}, admin.options);
      expect(replayed.status).toBe(200);
    }
    await service.settle();
    expect(plantedIn(await sentAfter(sent), [...late.values, ...plant.values])).toEqual([]);
  });

  test('keeps the provider’s ids, so a late event that names only such an id is also blanked', async () => {
    const plant = planter('enid');
    const admin = await platformAdmin(service);
    const { user, customer, method, payments, subscription } = await userLife(service, plant);
    const retried = await createIntent(service, user, { payment_method_id: 'pm_card_chargeDeclined' });
    expect((await confirm(service, retried.id, user.options)).status).toBe(402);
    const again = { payment_method_id: 'pm_card_visa' };
    expect((await confirm(service, retried.id, { ...user.options, body: again })).status).toBe(200);
    const refunded = await plantedRefund(service, plant, { paymentId: retried.id, admin });
    const approved = await paidPayment(service, user, { paying: ['provider_b', 'SIM-OK'] });
    const [paid, captured] = [await storedPayment(service, payments[0].id), await storedPayment(service, approved.id)];
    const twice = await storedPayment(service, retried.id);
    const { providerSubscriptionId } = await storedRecord(service, 'SUB', subscription.id);
    const [invoiced] = (await itemsOf(service, 'PAY#')).filter((item) => item.subscriptionId === subscription.id);
    const ids: Readonly<Record<string, string>> = {
      intent: paid.providerIntentId,
      charge: paid.attemptRef,
      'the declined charge before it': twice.priorAttemptRefs.at(0),
      order: captured.providerIntentId,
      capture: captured.providerPaymentId,
      refund: refunded.provider_refund_id,
      customer: customer.provider_customer_id,
      method: method.provider_payment_method_id,
      subscription: providerSubscriptionId,
      invoice: invoiced?.providerInvoiceId,
    };
    expect(Object.values(ids).filter((known) => typeof known !== 'string')).toEqual([]);
    const { id } = await requestErasure(service, admin.options, { user_id: user.userId });
    await untilErased(service, admin.options, { id });
    const sent = await sentSoFar();

    for (const [about, named] of Object.entries(ids)) {
      const late = planter(`late${about.replaceAll(' ', '')}`);
      const object = { id: 'issfr_00000000000001', actionable: true, about: named, payer: late.name() };
      await service.sendEvent({
        ...{ type: 'radar.early_fraud_warning.created', vocabulary: 'native' },
        object: { ...object, billing_details: { email: late.email(), name: late.name() } },
      });
      await service.settle();
      expect({ about, found: await findPlanted(service, late.values) }).toEqual({ about, found: [] });
      expect({ about, sent: plantedIn(await sentAfter(sent), late.values) }).toEqual({ about, sent: [] });
    }
  });

  test("removes only the user's own data from an organization's records", async () => {
    const plant = planter('dora');
    const admin = await platformAdmin(service);
    const owner = await signIn(service, { email: 'owner@acme.example.com' });
    const email = plant.email();
    const member = await signIn(service, { email });
    const organizationId = await newOrganization(service, owner);
    await addMember(service, owner, { organizationId, email, role: 'billing' });
    const body = { total_cents: 900, currency: 'USD', organization_id: organizationId, description: 'Licences' };
    const made = await service.post('/payments/intents', body, member.options);
    expect(made.status).toBe(201);
    await service.settle();
    const { id } = await requestErasure(service, admin.options, { user_id: member.userId });
    await untilErased(service, admin.options, { id });
    expect(await storedPayment(service, made.body.id)).toMatchObject({
      description: 'Licences',
      organizationId,
      userId: member.userId,
      status: 'requires_payment_method',
    });
    expect(await findPlanted(service, plant.values)).toEqual([]);
  });
});

describe('an erasure of the guests of an e-mail address', () => {
  test('empties their lists, invalidates their tokens, and keeps the payments', async () => {
    const plant = planter('gus');
    const other = planter('gil');
    const admin = await platformAdmin(service);
    const life = await guestLife(service, plant);
    const neighbour = await guestLife(service, other);
    const refund = await plantedRefund(service, plant, { paymentId: life.payments[0].id, admin });
    const { id } = await requestErasure(service, admin.options, { email: life.email.toUpperCase() });
    const { job } = await untilErased(service, admin.options, { id });
    expect(job).toMatchObject({ counts: { payments: 2, refunds: 1, payment_methods: 1, customers: 1, addresses: 1 } });
    expect(await findPlanted(service, plant.values)).toEqual([]);
    const list = await service.get(`/payments/guest/${encodeURIComponent(life.email)}`);
    expect(list).toMatchObject({ status: 200, body: { data: [] } });
    const [paid] = life.payments;
    expect(await service.get(`/payments/${paid.id}`, { guestToken: life.token })).toMatchObject({ status: 404 });
    expect(await service.get(`/refunds/${refund.id}`, { guestToken: life.token })).toMatchObject({ status: 404 });
    expect(await storedPayment(service, paid.id)).toMatchObject({
      status: 'succeeded',
      totalCents: 2_500,
      providerIntentId: paid.provider_intent_id,
    });
    const theirs = await service.get(`/payments/guest/${encodeURIComponent(neighbour.email)}`);
    expect(theirs.body.data).toHaveLength(2);

    const late = planter('later');
    await sendPersonalEvents(service, late, { intentId: paid.provider_intent_id });
    await service.settle();
    expect(await findPlanted(service, late.values)).toEqual([]);
    expect(plantedIn(lines.join(''), [...plant.values, ...late.values])).toEqual([]);
  });
});

describe('an erasure request', () => {
  test('needs exactly one of user_id and email', async () => {
    const { options } = await platformAdmin(service);
    for (const body of [{}, { user_id: 'user_1', email: 'a@example.com' }, { email: 'not-an-email' }]) {
      expect(await service.post('/admin/erasures', body, options)).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_ERROR' },
      });
    }
    const user = await signIn(service);
    expect(await service.post('/admin/erasures', { user_id: 'user_1' }, user.options)).toMatchObject({ status: 403 });
    expect(await service.get('/admin/erasures/ers_unknown', options)).toMatchObject({ status: 404 });
  });

  test('returns a running erasure of the same person, and starts another after it ends', async () => {
    const { options } = await platformAdmin(service);
    const body = { email: 'Twice@example.com' };
    const first = await requestErasure(service, options, body);
    expect(await requestErasure(service, options, { email: 'twice@example.com' })).toMatchObject({ id: first.id });
    await untilErased(service, options, { id: first.id });
    const second = await requestErasure(service, options, body);
    expect(second.id).not.toBe(first.id);
    expect(await readErasure(service, options, first.id)).toMatchObject({ status: 'done' });
    await untilErased(service, options, { id: second.id });
    expect(await findPlanted(service, ['twice@example.com'])).toEqual([]);
  });

  test('can be repeated under its Idempotency-Key, and the key is refused for another person', async () => {
    const admin = await platformAdmin(service);
    const options = { ...admin.options, idempotencyKey: 'erase-once' };
    const first = await requestErasure(service, options, { user_id: 'user_gone' });
    const again = await service.post('/admin/erasures', { user_id: 'user_gone' }, options);
    expect(again).toMatchObject({ status: 202, body: { data: { id: first.id } } });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await service.post('/admin/erasures', { user_id: 'user_other' }, options)).toMatchObject({ status: 422 });
  });
});
