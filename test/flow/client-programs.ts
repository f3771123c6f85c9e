/** @module Programs of client users. Wrong programs must not compile, and right programs must. */

const HEAD = `import { constructEvent, createPaymentsClient, PaymentsError, unwrap } from '@your-company/payments-client';
import type { ActFor, ApiError, CreatePayment, Payment, Refund, Subscription, WebhookEvent } from '@your-company/payments-client';
declare const client: ReturnType<typeof createPaymentsClient>;
declare const payment: Payment;
declare const subscription: Subscription;
declare const event: ReturnType<typeof constructEvent>;
const path = { id: 'pay_1' };
`;

const programs = (bodies: readonly string[]): readonly string[] => bodies.map((body) => `${HEAD}${body}\nexport {};\n`);

export const WRONG_PROGRAMS = programs([
  `export const isPaid = payment.state === 'succeeded';`,
  `export const isPaid = payment.status === 'paid';`,
  `export const cents: number = payment.amount;`,
  `export const renews = subscription.current_period_ends;`,
  `await client.POST('/payments/intents', { body: { total_cents: 2500, currency: 'USD', amount: 1 } });`,
  `await client.POST('/payments/intents', { body: { total_cents: '2500', currency: 'USD' } });`,
  `await client.POST('/payments/intents', { body: { total_cents: 2500, currency: 'USD' }, query: { a: 1 } });`,
  `await client.POST('/payments/{id}/refunds', { params: { path }, body: { amount: 500 } });`,
  `await client.POST('/payments/confirm/{id}', { body: {} });`,
  `await client.POST('/payments/confirm/{id}', { params: { path: { payment_id: 'pay_1' } }, body: {} });`,
  `await client.GET('/payments', { params: { query: { state: 'succeeded' } } });`,
  `await client.GET('/payment/{id}', { params: { path } });`,
  `await client.GET('/payments/{id}', { params: { path, query: { expand: 'card' } } });`,
  `await client.DELETE('/payments/{id}', { params: { path } });`,
  `for await (const one of client.paginate('/payments')) console.log(one.state);`,
  `for await (const one of client.paginate('/payments/{id}', { params: { path } })) console.log(one);`,
  `client.paginate('/admin/payments', { params: { query: { min: 5 } } });`,
  `export const id: number = (await unwrap(client.GET('/payments/{id}', { params: { path } }))).data.id;`,
  `export const state = (await unwrap(client.POST('/payments', { body: { total_cents: 1, currency: 'USD', payment_method_id: 'pm_1' } }))).state;`,
  `if (event.event === 'payment.paid') console.log(event.data);`,
  `if (event.event === 'payment.succeeded') console.log(event.data.refund.amount);`,
  `constructEvent({ event: 'payment.succeeded' }, {}, 'whsec_1');`,
  `export const secret = constructEvent('{}', {}).event;`,
  `try { await unwrap(client.GET('/me')); } catch (error) { if (error instanceof PaymentsError && error.code === 'NO_MONEY') throw error; }`,
  `export const payer: ActFor = 'customer:cust_1';`,
  `export const body: CreatePayment = { total_cents: 2500, currency: 'USD', metadata: 'order-1' };`,
  `createPaymentsClient({ baseUrl: 'http://127.0.0.1:1', retry: 3 });`,
  `createPaymentsClient({ key: 'psk_1' });`,
]);

export const RIGHT_PROGRAMS = programs([
  `export const isPaid = payment.status === 'succeeded';`,
  `export const cents: number = payment.total_cents - payment.tax_cents;`,
  `export const mine = payment.metadata;`,
  `export const renews: string | null = subscription.current_period_end;`,
  `await client.POST('/payments/intents', { body: { total_cents: 2500, currency: 'USD', metadata: { order: '1' } } });`,
  `await client.POST('/payments/intents', { params: { header: { 'Idempotency-Key': 'order-1' } }, body: { total_cents: 1, currency: 'USD' } });`,
  `await client.POST('/payments/intents', { params: { header: { 'X-Act-For': 'user:u_1' } }, body: { total_cents: 1, currency: 'USD' } });`,
  `export const made: Refund = await unwrap(client.POST('/payments/{id}/refunds', { params: { path }, body: { amount_cents: 500 } }));`,
  `const { data, error, response } = await client.POST('/payments/confirm/{id}', { params: { path }, body: {} });
   console.log(data?.status, error?.code, response.headers.get('X-Request-Id'));`,
  `await client.GET('/payments', { params: { query: { status: 'succeeded', limit: 5 } } });`,
  `await client.GET('/payments', { signal: AbortSignal.timeout(1000), headers: { 'X-Session-ID': 's' } });`,
  `export const read: Payment = (await unwrap(client.GET('/payments/{id}', { params: { path } }))).data;`,
  `await unwrap(client.DELETE('/customers/{id}', { params: { path: { id: 'cust_1' } } }));`,
  `for await (const one of client.paginate('/payments')) console.log(one.status);`,
  `for await (const one of client.paginate('/admin/payments', { params: { query: { disputed: true } } })) console.log(one.id);`,
  `for await (const one of client.paginate('/customers', { params: { query: { limit: 10 } } })) console.log(one.email);`,
  `for await (const one of client.paginate('/organizations')) console.log(one.id);`,
  `for await (const one of client.paginate('/payments/{id}/timeline', { params: { path } })) console.log(one.kind);`,
  `if (event.event === 'payment.refunded') console.log(event.data.refund.amount);`,
  `switch (event.event) { case 'payment.succeeded': console.log(event.data.amount); break; default: console.log(event.event); }`,
  `export const handle = async (request: Request) => constructEvent(await request.text(), request.headers, 'whsec_1');`,
  `export const handle = (body: Buffer, headers: import('node:http').IncomingHttpHeaders) => constructEvent(body, headers, 'whsec_1');`,
  `try { await unwrap(client.GET('/me')); } catch (error) { if (error instanceof PaymentsError && error.code === 'RATE_LIMITED') console.log(error.status); }`,
  `export const why = (error: ApiError) => (error.code === 'PAYMENT_DECLINED' ? error.details?.decline_code : error.error);`,
  `export const payer: ActFor = 'organization:org_1';`,
  `export const on = (one: WebhookEvent): string => one.event;`,
  `createPaymentsClient({ baseUrl: 'http://127.0.0.1:1', retries: 0, key: 'psk_1', actFor: 'guest:guest_1' });`,
  `client.use({ onRequest: ({ request }) => void request.headers.set('X-Session-ID', 's') });`,
]);
