import { expect, test } from 'vitest';
import { PATIENT, read } from './flow.ts';
import { capture, heldPayment, release } from './holders.ts';
import type { TestAnswer, TestHost } from './host.ts';
import { addMember, newOrganization, newPerson, type UserWithEmail } from './organization-steps.ts';
import { plan } from './plan-changes.ts';
import { paidPayment, refund, refundsAtProvider } from './refunders.ts';
import { withStops } from './stops.ts';
import { OWN_BILLING, payer, readSubscription, subscribe } from './subscribers.ts';

/** Between the check and the claim of an admin's decision, an owner adds the admin to the paying organization. */
const stoppable = withStops({ ...PATIENT, ...OWN_BILLING });

interface Team {
  readonly organization_id: string;
  readonly owner: UserWithEmail;
  readonly admin: UserWithEmail;
}

interface Act {
  readonly run: () => Promise<TestAnswer>;
  /** The state that the decision would change. */
  readonly state: () => Promise<unknown>;
}

type Prepare = (service: TestHost, team: Team) => Promise<Act>;

const CASES: readonly (readonly [string, Prepare])[] = [
  [
    'a refund',
    async (service, { organization_id, owner, admin }) => {
      const { id } = await paidPayment(service, owner, { organization_id });
      return { run: () => refund(service, id, admin.options), state: () => refundsAtProvider(service, id) };
    },
  ],
  ...[capture, release].map((end): readonly [string, Prepare] => [
    end === capture ? 'a capture' : 'a release',
    async (service, { organization_id, owner, admin }) => {
      const { id } = await heldPayment(service, owner, { organization_id });
      return { run: () => end(service, id, admin.options), state: () => read(service, id, owner.options) };
    },
  ]),
  [
    'a change of metadata',
    async (service, { organization_id, owner, admin }) => {
      const { id } = await paidPayment(service, owner, { organization_id });
      const body = { metadata: { shipped: true } };
      return {
        run: () => service.request('PATCH', `/payments/${id}`, { ...admin.options, body }),
        state: () => read(service, id, owner.options),
      };
    },
  ],
  ...['now', 'period_end'].map((when): readonly [string, Prepare] => [
    `a lower price, ${when}`,
    async (service, { organization_id, owner, admin }) => {
      const who = await payer(service, owner.options, { fields: { organization_id } });
      const { id } = await subscribe(service, who, { organization_id, product_id: await plan(service, 1_900) });
      const body = { total_cents: 900, when };
      return {
        run: () => service.post(`/subscriptions/${id}/change`, body, admin.options),
        state: () => readSubscription(service, who, id),
      };
    },
  ]),
];

const ready = async (prepare: Prepare) => {
  const { service } = stoppable();
  const [owner, admin] = [await newPerson(service), await newPerson(service, { is_admin: true })];
  const team = { organization_id: await newOrganization(service, owner), owner, admin };
  const act = await prepare(service, team);
  const { organization_id: organizationId } = team;
  return { ...act, join: () => addMember(service, owner, { organizationId, email: admin.email }) };
};

test.each(CASES)('%s is refused if the admin joins at any call between check and claim', async (_, prepare) => {
  const { service, watch, overtaken } = stoppable();
  const first = await ready(prepare);
  const calls = await watch(async () => expect((await first.run()).status).toBeLessThan(300));
  const claim = calls.indexOf('TransactWriteItems') + 1;
  expect(claim).toBeGreaterThan(1);
  for (let at = 1; at < claim; at += 1) {
    const { run, state, join } = await ready(prepare);
    await service.settle();
    const before = await state();
    const { status, body } = await overtaken(at, join, run);
    await service.settle();
    const where = `at ${at} of ${calls.join(', ')}`;
    expect({ where, status, details: body.details, state: await state() }).toEqual({
      where,
      status: 403,
      details: { reason: 'own_payment' },
      state: before,
    });
  }
});
