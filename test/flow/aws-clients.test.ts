import { expect, test } from 'vitest';
import { onDynoxide } from '../engine/engine-database.ts';
import { withHost } from './host.ts';

/** The functions use the AWS SDK for the table of a separate engine, and for the host's bus and queues. */
const host = withHost({
  openDatabase: onDynoxide,
  env: { EXTERNAL_WEBHOOKS_ENABLED: 'true', LOG_LEVEL: 'silent' },
});

test('the functions store a payment, publish its events and deliver them through the AWS SDK', async () => {
  const { baseUrl, env } = host.host();
  expect(env['AWS_ENDPOINT_URL_DYNAMODB']).not.toContain(baseUrl);
  const { session_id: session } = await host.session();
  const body = { total_cents: 2_500, currency: 'USD', payment_method_id: 'pm_card_visa' };
  const created = await host.post('/payments/intents', body, { session });
  expect(created.status).toBe(201);
  const confirmed = await host.post(`/payments/confirm/${created.body.id}`, {}, { session });
  expect(confirmed.body).toMatchObject({ id: created.body.id, status: 'succeeded' });
  await host.settle();
  const delivered = (await host.sink()).map(
    ({ headers }: { readonly headers: Readonly<Record<string, string>> }) => headers['webhook-event'],
  );
  expect(delivered).toEqual(expect.arrayContaining(['payment.created', 'payment.succeeded']));
});
