import { gunzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { fingerprint } from '../../shared/core/ids.ts';
import { present } from '../builders/present.ts';
import { MINUTE_SECONDS, YEAR_SECONDS } from '../builders/seconds.ts';
import { itemsOf, signIn, type User } from './flow.ts';
import type { RequestOptions, TestHost } from './host.ts';
import type { CustomerBody, MethodBody, ParsedJson, PaymentBody, SubscriptionBody } from './routes.ts';

/** Steps of tests about the erasure of a person. */
export const platformAdmin = async (service: TestHost): Promise<User> =>
  signIn(service, { is_admin: true, email: 'admin@platform.example.com', expires_in: YEAR_SECONDS });

export const requestErasure = async (
  service: TestHost,
  options: RequestOptions,
  body: Readonly<Record<string, unknown>>,
) => {
  const answer = await service.post('/admin/erasures', body, options);
  expect(answer).toMatchObject({ status: 202, body: { success: true } });
  return answer.body.data;
};

export const readErasure = async (service: TestHost, options: RequestOptions, id: string) => {
  const answer = await service.get(`/admin/erasures/${id}`, options);
  expect(answer).toMatchObject({ status: 200, body: { success: true } });
  return answer.body.data;
};

/** Lets due work run until the erasure is done. @returns the erasure, and the minutes that it took */
export const untilErased = async (
  service: TestHost,
  options: RequestOptions,
  { id, maxMinutes = 40 }: { readonly id: string; readonly maxMinutes?: number },
) => {
  for (let minutes = 0; minutes <= maxMinutes; minutes += 5) {
    const job = await readErasure(service, options, id);
    if (job.status === 'done') return { job, minutes };
    await service.advance(5 * MINUTE_SECONDS);
    await service.settle();
  }
  throw new Error(`not done: ${JSON.stringify(await readErasure(service, options, id))}`);
};

/** An item as text, with the provider's event decompressed. */
export const textOf = (item: ParsedJson): string =>
  JSON.stringify(item, (name, value) => (name === 'raw' ? gunzipSync(Buffer.from(bytesOf(value))).toString() : value));

const bytesOf = (value: ParsedJson): Uint8Array =>
  value instanceof Uint8Array ? value : Uint8Array.from(Object.values(value));

/** The planted values that a text contains, whatever their case. */
export const plantedIn = (text: string, values: readonly string[]): readonly string[] => {
  const lower = text.toLowerCase();
  return values.filter((value) => lower.includes(value.toLowerCase()));
};

/** Every item that holds a planted value, with up to three of the values. */
export const findPlanted = async (service: TestHost, values: readonly string[]) => {
  const items = await itemsOf(service);
  return items.flatMap((item) => {
    const found = plantedIn(textOf(item), values);
    return found.length === 0 ? [] : [{ pk: item.pk, sk: item.sk, found: found.slice(0, 3) }];
  });
};

/** Makes unique values of one person, and collects them in `values`. */
export const planter = (word: string) => {
  const values: string[] = [];
  const keep = (value: string): string => {
    values.push(value);
    return value;
  };
  const next = (): string => `${word}${values.length}x`;
  return {
    values,
    email: () => keep(`${next()}@mail.example.com`),
    name: () => keep(`${next()} Person`),
    phone: () => keep(`+34 ${digitsOf(word)} ${String(values.length).padStart(4, '0')}`),
    line: () => keep(`${next()} Planted Street`),
  };
};
const digitsOf = (word: string): string => String(Number.parseInt(fingerprint(word).slice(0, 6), 16)).padStart(8, '0');

type Planter = ReturnType<typeof planter>;

/** Fields of a payment or subscription with a planted value in every text. */
export const plantedTexts = (plant: Planter) => ({
  description: `for ${plant.name()}`,
  concept: plant.line(),
  reference_code: plant.email(),
  category: plant.name(),
  tags: `${plant.name()},${plant.email()}`,
  metadata: { who: plant.name(), [plant.email().slice(0, 40)]: plant.phone(), deep: { street: plant.line() } },
});

const plantedPayer = (plant: Planter) => ({
  billing_details: {
    name: plant.name(),
    email: plant.email(),
    phone: plant.phone(),
    address: { line1: plant.line(), city: plant.name(), postal_code: '28001', country: 'ES' },
  },
  receipt_email: plant.email(),
  description: plant.line(),
});

/** Events of the provider about a payment and its customer, with the payer's data as providers send it. */
export const sendPersonalEvents = async (
  service: TestHost,
  plant: Planter,
  about: { readonly intentId: string; readonly customerId?: string },
): Promise<void> => {
  const { intentId, customerId } = about;
  const object = { id: intentId, amount: 2_500, currency: 'usd', status: 'succeeded' };
  await service.sendEvent({ type: 'payment_intent.succeeded', object: { ...object, ...plantedPayer(plant) } });
  const charge = { id: 'ch_unseen_000001', object: 'charge', payment_intent: intentId, ...plantedPayer(plant) };
  await service.sendEvent({ type: 'charge.updated', object: charge, vocabulary: 'native' });
  if (customerId === undefined) return;
  const customer = { id: customerId, email: plant.email(), name: plant.name(), phone: plant.phone() };
  await service.sendEvent({ type: 'customer.updated', object: { ...customer, shipping: plantedPayer(plant) } });
};

interface Life {
  readonly user: User;
  readonly customer: CustomerBody;
  readonly method: MethodBody;
  readonly payments: readonly [PaymentBody, ...PaymentBody[]];
  readonly subscription: SubscriptionBody;
}

const must = async (answer: Promise<{ status: number; body: ParsedJson }>, status = 201) => {
  const { status: found, body } = await answer;
  expect({ status: found, body }).toMatchObject({ status });
  return body;
};

/** A signed-in person with a customer, a method, addresses, payments in several states and a live subscription. */
export const userLife = async (service: TestHost, plant: Planter, rounds = 1): Promise<Life> => {
  const user = await signIn(service, { email: plant.email(), expires_in: YEAR_SECONDS });
  const { options } = user;
  const customer = await must(
    service.post(
      '/customers',
      {
        provider_id: 'provider_a',
        ...{ email: plant.email(), name: plant.name(), phone: plant.phone() },
        metadata: { note: plant.line() },
      },
      options,
    ),
  );
  const card = { provider_id: 'provider_a', provider_payment_method_token: 'pm_card_visa', alias: plant.name() };
  const method = await must(service.post('/payment-methods', card, options));
  if (method.setup_status !== 'succeeded') {
    await service.authenticateMethod(method.id);
    await service.settle();
  }
  const address = {
    country: 'US',
    ...{ line1: plant.line(), line2: plant.line(), city: plant.name(), state: plant.name(), postal_code: '02108' },
    name: plant.name(),
    alias: plant.name(),
    is_default: true,
  };
  const { id: billingAddress } = await must(service.post('/addresses', address, options));
  const named = {
    ...{ customer_id: customer.id, payment_method_id: method.id, provider_id: 'provider_a' },
    billing_address_id: billingAddress,
  };
  const price = { subtotal_cents: 1_900, total_cents: 1_900, currency: 'USD', billing_interval: 'monthly' };
  const subscription = await must(
    service.post('/subscriptions', { ...price, ...named, ...plantedTexts(plant) }, options),
  );
  const payments: PaymentBody[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const body = { total_cents: 2_500, currency: 'USD', ...plantedTexts(plant) };
    const paid = await must(service.post('/payments/intents', { ...body, ...named }, options));
    await must(service.post(`/payments/confirm/${paid.id}`, {}, options), 200);
    const returnUrl = `https://shop.example.com/back?who=${plant.email()}`;
    const open = await must(
      service.post('/payments/intents', { ...body, ...plantedTexts(plant), return_url: returnUrl }, options),
    );
    const canceled = await must(service.post('/payments/intents', { ...body, ...plantedTexts(plant) }, options));
    const cancel = { ...options, idempotencyKey: `cancel-${canceled.id}` };
    await must(service.post(`/payments/intents/${canceled.id}/cancel`, {}, cancel), 200);
    payments.push(paid, open, canceled);
    await sendPersonalEvents(service, plant, {
      intentId: paid.provider_intent_id,
      customerId: customer.provider_customer_id,
    });
  }
  await service.settle();
  return { user, customer, method, payments: [present(payments[0]), ...payments.slice(1)], subscription };
};

/** A refund by an admin, with values of the person in its texts. */
export const plantedRefund = async (
  service: TestHost,
  plant: Planter,
  { paymentId, admin }: { readonly paymentId: string; readonly admin: User },
) => {
  const body = { amount_cents: 100, description: `for ${plant.name()}`, metadata: { who: plant.email() } };
  const made = await must(service.post(`/payments/${paymentId}/refunds`, body, admin.options));
  await service.settle();
  return made;
};

interface GuestLife {
  readonly email: string;
  readonly token: string;
  readonly payments: readonly [PaymentBody, ...PaymentBody[]];
}

/** A paying guest with a saved method and address. */
export const guestLife = async (service: TestHost, plant: Planter): Promise<GuestLife> => {
  const email = plant.email();
  const guest = { email, name: plant.name(), phone: plant.phone() };
  const body = { total_cents: 2_500, currency: 'USD', payment_method_id: 'pm_card_visa' };
  const paid = await must(service.post('/payments/intents', { ...body, guest_data: guest, ...plantedTexts(plant) }));
  const options = { guestToken: paid.guest_token };
  await must(service.post(`/payments/confirm/${paid.id}`, {}, options), 200);
  const address = { country: 'US', line1: plant.line(), city: plant.name(), postal_code: '02108', name: plant.name() };
  const { id: billingAddress } = await must(service.post('/addresses', address, options));
  const addressed = { ...body, billing_address_id: billingAddress };
  const open = await must(service.post('/payments/intents', { ...addressed, ...plantedTexts(plant) }, options));
  const card = { provider_id: 'provider_a', provider_payment_method_token: 'pm_card_visa', alias: plant.name() };
  await must(service.post('/payment-methods', card, options));
  await sendPersonalEvents(service, plant, { intentId: paid.provider_intent_id });
  await service.settle();
  return { email, token: paid.guest_token, payments: [paid, open] };
};
