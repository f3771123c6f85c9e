import { describe, expect, test } from 'vitest';
import { withHost } from './host.ts';

/** The bus and the queues of the host are reached by both clients of AWS, and the table of another engine too. */
describe.each(['thin', 'sdk'])('the functions with the client %s', (AWS_CLIENT) => {
  const host = withHost({
    env: { AWS_CLIENT, DYNAMODB_ENGINE: 'dynoxide', EXTERNAL_WEBHOOKS_ENABLED: 'true', LOG_LEVEL: 'silent' },
  });

  test('store a payment, publish its events and deliver them', async () => {
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
});
