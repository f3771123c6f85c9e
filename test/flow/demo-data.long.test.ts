import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { DEMO_DAYS, makeDemoData } from '../../infra/local/demo/demo-data.ts';
import { DAY_MS } from '../../shared/core/time.ts';
import { PATIENT } from './flow.ts';
import { withHost } from './host.ts';
import type { ParsedJson, PaymentBody } from './routes.ts';

const service = withHost({
  daysAgo: DEMO_DAYS,
  env: { ...PATIENT, RATE_LIMITS: 'on', EXTERNAL_WEBHOOKS_ENABLED: 'true' },
});

const list = async (path: string, session: string) => {
  const { body } = await service.get(path, { session });
  return body.data ?? body;
};
const statesOf = (all: readonly ParsedJson[], of: (one: ParsedJson) => string): string[] => all.map(of).sort();
const countsOf = (all: readonly ParsedJson[]): Record<string, number> =>
  Object.fromEntries(
    Object.entries(Object.groupBy(all, ({ status }) => status)).map(([status, of]) => [status, of?.length ?? 0]),
  );

describe('the demo data', () => {
  let ids: ReadonlyMap<string, string>;
  let early: Promise<unknown>;
  let payments: readonly PaymentBody[];

  beforeAll(async () => {
    const { baseUrl, door, clock } = service.host();
    const waiting = service.get('/payments', { session: 'demo-owner' });
    early = Promise.race([waiting.then(() => 'answered'), service.get('/health').then(({ status }) => status)]);
    ids = await makeDemoData({ baseUrl, serviceUrl: baseUrl, pass: door?.pass ?? {}, now: clock.now });
    expect(await service.host().observed.busEvents()).not.toEqual([]);
    door?.open();
    expect((await waiting).status).toBe(200);
    payments = [
      ...(await list('/payments?limit=50', 'demo-owner')),
      ...(await list('/payments?limit=50', 'demo-member')),
    ];
  }, 240_000);

  test('block requests until they are complete, except the health check', async () => {
    expect(await early).toBe(200);
  });

  test('have the ids listed in docs/local.md', () => {
    const page = readFileSync(new URL('../../docs/local.md', import.meta.url), 'utf8');
    const [, table = ''] = page.split(/^### Ids of the demo data$/m);
    const named = [...table.matchAll(/`([a-z]+_[0-9a-f]{24})`/g)].map(([, id]) => id);
    expect(named.filter((id) => id?.startsWith('dsp_'))).toHaveLength(4);
    expect([...ids.values()].filter((id) => !named.includes(id))).toEqual([]);
  });

  test('include refunds and disputes in every state', async () => {
    const refunds = await list('/refunds', 'demo-admin');
    expect(statesOf(refunds, ({ source, status }) => `${source} ${status}`)).toEqual([
      'api failed',
      'api succeeded',
      'api succeeded',
      'provider pending',
      'provider succeeded',
    ]);
    const disputes = await list('/disputes', 'demo-admin');
    expect(statesOf(disputes, ({ status }) => status)).toEqual(['lost', 'needs_response', 'under_review', 'won']);
    const page = readFileSync(new URL('../../docs/local.md', import.meta.url), 'utf8');
    expect([...refunds, ...disputes].filter(({ id }) => !page.includes(id))).toEqual([]);
  });

  test('include many payments over thirty days at three providers, in every lasting state', async () => {
    const { canceled = 0, created, failed = 0, succeeded = 0, ...waiting } = countsOf(payments);
    expect({ created, ...waiting }).toEqual({
      created: 3,
      pending: 1,
      requires_capture: 1,
      requires_payment_method: 1,
    });
    expect(canceled).toBeGreaterThanOrEqual(2);
    expect(failed).toBeGreaterThanOrEqual(4);
    expect(succeeded).toBeGreaterThanOrEqual(20);
    expect(new Set(payments.map(({ provider_id }) => provider_id)).size).toBe(3);
    const days = new Set(payments.map(({ created_at }) => Math.floor((Date.now() - Date.parse(created_at)) / DAY_MS)));
    expect(days.size).toBeGreaterThanOrEqual(20);
    expect(Math.max(...days)).toBe(30);
  });

  test('include subscriptions in each state', async () => {
    const of = async (session: string) => list('/subscriptions', session);
    const subscriptions = [...(await of('demo-owner')), ...(await of('demo-member'))];
    expect([...new Set(statesOf(subscriptions, ({ status }) => status))]).toEqual([
      'active',
      'canceled',
      'past_due',
      'paused',
      'trialing',
    ]);
    expect(await list('/memberships?entity_type=user&entity_id=user_demo_owner', 'demo-owner')).toMatchObject([
      { membership_type_id: 'demo-gold', status: 'active' },
    ]);
  });

  test('include the records of an organization and of a guest', async () => {
    expect((await list('/payments?organization_id=org_demo', 'demo-owner')).length).toBeGreaterThanOrEqual(3);
    const members = await list('/organizations/org_demo/members', 'demo-owner');
    expect(statesOf(members, ({ role }) => role)).toEqual(['billing', 'member', 'owner']);
    expect(await list('/payments/guest/gus@example.com', 'demo-owner')).toMatchObject([{ status: 'succeeded' }]);
    expect(await list('/addresses', 'demo-owner')).toHaveLength(2);
    expect((await list('/webhooks/logs?limit=5', 'demo-admin')).length).toBe(5);
  });

  test('leave the clock at the present, and the webhook target empty', async () => {
    expect(Math.abs(service.now() - Date.now())).toBeLessThan(1_000);
    expect(service.host().clock.frozen()).toBe(false);
    await service.settle();
    expect(await service.sink()).toEqual([]);
  });
});
