import { expect, test } from 'vitest';
import { PATIENT } from './flow.ts';
import type { TestHost } from './host.ts';
import { type Company, company, saveMethod } from './payers.ts';
import { plan } from './plan-changes.ts';
import { withStops } from './stops.ts';
import { OWN_BILLING, patch, payer, readSubscription, type Subscriber, subscribe } from './subscribers.ts';

/** A member lends a card between the check and the claim of another admin's change. */
const stoppable = withStops({ ...PATIENT, ...OWN_BILLING });

interface Acme {
  readonly acme: Company;
  readonly id: string;
  readonly who: Subscriber;
  readonly cheaper: string;
  readonly lend: () => Promise<void>;
}

/** A subscription on the organization's own card, with a scheduled change. */
const ready = async (service: TestHost): Promise<Acme> => {
  const acme = await company(service);
  const organization_id = acme.id;
  const who = await payer(service, acme.admin.options, { fields: { organization_id } });
  const { id } = await subscribe(service, who, { organization_id, product_id: await plan(service, 1_900) });
  const scheduled = { product_id: await plan(service, 900), when: 'period_end' };
  expect((await service.post(`/subscriptions/${id}/change`, scheduled, acme.admin.options)).status).toBe(200);
  const card = await saveMethod(service, acme.billing.options, { organization_id: null });
  const lender = { ...who, options: acme.billing.options };
  const lend = async (): Promise<void> => {
    expect((await patch(service, lender, { id, body: { payment_method_id: card.id } })).status).toBe(200);
  };
  return { acme, id, who, lend, cheaper: await plan(service, 800) };
};

const ACTS = {
  'a withdrawal': (service: TestHost, { id, acme }: Acme) =>
    service.request('DELETE', `/subscriptions/${id}/change`, acme.admin.options),
  'a change to a cheaper product': (service: TestHost, { id, acme, cheaper }: Acme) => {
    const body = { product_id: cheaper, when: 'period_end' };
    return service.post(`/subscriptions/${id}/change`, body, acme.admin.options);
  },
} as const;

test.each(Object.entries(ACTS))('%s changes nothing if a member lends a card meanwhile', async (_, act) => {
  const { service, watch, overtaken } = stoppable();
  const first = await ready(service);
  const calls = await watch(async () => expect((await act(service, first)).status).toBe(200));
  const claim = calls.findIndex((name) => /^(PutItem|TransactWriteItems)$/.test(name)) + 1;
  expect(claim).toBeGreaterThan(1);
  for (let at = 1; at < claim; at += 1) {
    const one = await ready(service);
    const { status, body } = await overtaken(at, one.lend, () => act(service, one));
    const where = `at ${at} of ${calls.join(', ')}`;
    expect({ where, status, code: body.code }).toMatchObject(
      status === 409 ? { where, code: 'VERSION_CONFLICT' } : { where, status: 403, code: 'INSUFFICIENT_PERMISSIONS' },
    );
    const { scheduled_change: kept } = await readSubscription(service, one.who, one.id);
    expect(kept).toMatchObject({ total_cents: 900 });
  }
});
