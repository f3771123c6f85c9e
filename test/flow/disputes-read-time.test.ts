import { describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, iso } from '../../shared/core/time.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { type Disputed, disputedPayment, loggedOutcomes, readDispute } from './disputers.ts';
import { textOf } from './erasures.ts';
import { itemsOf, PATIENT } from './flow.ts';
import { withHost } from './host.ts';
import { PAYING_METHODS } from './refunders.ts';

/**
 * PayPal dates each change of a dispute. An event counts at the time of its change. A read counts at the time of the
 * read, because it shows every earlier change.
 */
const service = withHost({ frozen: true, env: PATIENT });

/** The dispute as PayPal's first event about it shows it. */
const firstNamed = async ({ id }: Disputed) => {
  const events = await itemsOf(service, 'EVT#provider_b');
  const raws = events.map((item) => JSON.parse(JSON.parse(textOf(item)).raw));
  return raws.find(
    ({ event_type, resource }) => event_type === 'CUSTOMER.DISPUTE.CREATED' && resource.dispute_id === id,
  ).resource;
};

const PAYPAL = PAYING_METHODS.find(([provider]) => provider === 'provider_b') ?? PAYING_METHODS[0];

/** Opens a dispute and advances a day. `reportWon` advances another day, and sends the event of a win. */
const openDispute = async () => {
  const disputed = await disputedPayment(service, PAYPAL);
  const resource = await firstNamed(disputed);
  await service.advance(DAY_SECONDS);
  const reportWon = async (changedAt: number): Promise<string> => {
    await service.advance(DAY_SECONDS);
    const won = { status: 'RESOLVED', dispute_outcome: { outcome_code: 'RESOLVED_SELLER_FAVOUR' } };
    const sent = await service.sendEvent({
      ...{ provider: 'provider_b', vocabulary: 'native', type: 'CUSTOMER.DISPUTE.UPDATED' },
      object: { ...resource, ...won, update_time: iso(changedAt) },
    });
    expect(sent).toMatchObject({ status: 200 });
    await service.settle();
    return (await readDispute(service, disputed)).status;
  };
  return { disputed, reportWon };
};

const sync = async ({ payment, user }: Disputed): Promise<void> => {
  const synced = await service.post(`/payments/sync/${payment.provider_payment_id}`, {}, user.options);
  expect(synced).toMatchObject({ status: 200 });
  await service.settle();
};

describe('an event about a change of a dispute', () => {
  test('is applied if no read followed the change', async () => {
    const { reportWon } = await openDispute();
    expect(await reportWon(service.now() - HOUR_MS)).toBe('won');
  });

  test('is stale if a read followed the change, even if the event arrives after the read', async () => {
    const { disputed, reportWon } = await openDispute();
    await sync(disputed);
    expect(await reportWon(service.now() - HOUR_MS)).toBe('needs_response');
    expect(await loggedOutcomes(service, disputed.payment.id)).toContain('ignored: stale');
  });

  test('is applied if the change followed the read', async () => {
    const { disputed, reportWon } = await openDispute();
    await sync(disputed);
    expect(await reportWon(service.now() + DAY_MS / 2)).toBe('won');
  });
});
