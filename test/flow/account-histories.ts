import fc from 'fast-check';
import { expect } from 'vitest';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS, YEAR_SECONDS } from '../builders/seconds.ts';
import { expectAccount, type ProviderAccount } from './accounts.ts';
import { confirm, createIntent, signIn, type User } from './flow.ts';
import { capture, type Holding, manualBody, release } from './holders.ts';
import type { TestHost } from './host.ts';
import { refund, signInAdmin } from './refunders.ts';

/** Random histories of one payment, compared with the provider's ledger after each step. */

const DISPUTE_STATUSES = ['needs_response', 'under_review', 'won', 'lost'] as const;
const cents = fc.integer({ min: 1, max: 1_000 });

const step = fc.oneof(
  fc.record({ do: fc.constant('refund' as const), cents: fc.option(cents), despite: fc.boolean() }),
  fc.record({ do: fc.constant('refund there' as const), cents, status: fc.constantFrom('pending', 'succeeded') }),
  fc.record({ do: fc.constant('move refund' as const), status: fc.constantFrom('succeeded', 'failed') }),
  fc.record({ do: fc.constant('dispute' as const), cents }),
  fc.record({ do: fc.constant('move dispute' as const), status: fc.constantFrom(...DISPUTE_STATUSES) }),
  fc.record({ do: fc.constant('move dispute' as const), status: fc.constantFrom(...DISPUTE_STATUSES) }),
);
type Step = Parameters<Parameters<(typeof step)['map']>[0]>[0];

interface History {
  /** Cents to capture from a hold of 10.00. 0 releases the hold, and null charges 10.00 without a hold. */
  readonly captured: number | null;
  readonly steps: readonly { readonly take: Step; readonly areEventsLost: boolean; readonly waits: number }[];
}

const history: fc.Arbitrary<History> = fc.record({
  captured: fc.option(fc.integer({ min: 0, max: 1_000 })),
  steps: fc.array(
    fc.record({
      take: step,
      areEventsLost: fc.integer({ min: 0, max: 5 }).map((value) => value === 0),
      waits: fc.integer({ min: MINUTE_SECONDS, max: DAY_SECONDS }),
    }),
    { minLength: 3, maxLength: 6 },
  ),
});

/** The seed is fixed, so every run has the same histories. */
export const historiesOf = (count: number): readonly History[] => fc.sample(history, { seed: 30, numRuns: count });

const lastOf = async (service: TestHost, paymentId: string, of: 'refunds' | 'disputes') =>
  (await service.ledger(paymentId))[of].at(-1);

/** Sends a step to the simulator's dashboard. The dashboard may refuse the step, and a refusal changes nothing. */
const onDashboard = (service: TestHost, path: string, body: object): Promise<unknown> =>
  service.request('POST', `/_local/simulator${path}`, { body: JSON.stringify(body) });

interface Lived {
  readonly service: TestHost;
  readonly user: User;
  readonly admin: User;
  readonly id: string;
}

const takeStep = async ({ service, admin, id }: Lived, taken: Step, before: ProviderAccount): Promise<void> => {
  switch (taken.do) {
    case 'refund': {
      const body = { despite_dispute: taken.despite, ...(taken.cents !== null && { amount_cents: taken.cents }) };
      const { status } = await refund(service, id, { ...admin.options, body });
      const isWanted = before.disputed === 0 || taken.despite;
      const most = before.left;
      // Without a call, the service refuses a refund above the rest, or despite a dispute without `despite_dispute`.
      if (!isWanted || most === 0 || (taken.cents ?? 1) > most) expect([400, 409]).toContain(status);
      return;
    }
    case 'refund there':
      await onDashboard(service, `/payments/${id}/refunds`, { amount: taken.cents, status: taken.status });
      return;
    case 'move refund': {
      const last = await lastOf(service, id, 'refunds');
      if (last) await onDashboard(service, `/refunds/${last.id}`, { status: taken.status });
      return;
    }
    case 'dispute':
      await onDashboard(service, `/payments/${id}/disputes`, { amount: taken.cents });
      return;
    case 'move dispute': {
      const last = await lastOf(service, id, 'disputes');
      if (last) await onDashboard(service, `/disputes/${last.id}`, { status: taken.status });
    }
  }
};

const begin = async (service: TestHost, holding: Holding, { captured }: History): Promise<Lived> => {
  const user = await signIn(service, { expires_in: YEAR_SECONDS });
  const admin = await signInAdmin(service);
  const prices = captured === null ? { capture_method: 'automatic' } : {};
  const { id } = await createIntent(service, user, { ...manualBody(holding), ...prices });
  expect((await confirm(service, id, user.options)).status).toBe(200);
  await service.settle();
  const lived = { service, user, admin, id };
  await expectAccount(service, user, id);
  if (captured === null) return lived;
  const body = captured < 100 ? { total_cents: captured, tax_cents: 0 } : { total_cents: captured };
  const ended = captured === 0 ? release(service, id, admin.options) : capture(service, id, { ...admin.options, body });
  expect((await ended).status).toBe(200);
  return lived;
};

export const expectSameAccounts = async (service: TestHost, holding: Holding, lived: History): Promise<void> => {
  const life = await begin(service, holding, lived);
  const { user, admin, id } = life;
  await service.settle();
  let account = await expectAccount(service, user, id);
  for (const { take, areEventsLost, waits } of lived.steps) {
    await service.advance(HOUR_SECONDS + waits);
    if (areEventsLost) await service.webhookMode('drop');
    await takeStep(life, take, account);
    await service.settle();
    if (areEventsLost) {
      await service.webhookMode('normal');
      await service.advance(MINUTE_SECONDS);
      const { provider_payment_id: paymentId } = (await service.get(`/payments/${id}`, user.options)).body.data;
      expect((await service.post(`/payments/sync/${paymentId}`, {}, admin.options)).status).toBe(200);
      await service.settle();
    }
    account = await expectAccount(service, user, id);
  }
};
