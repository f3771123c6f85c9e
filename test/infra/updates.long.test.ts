import { describe, expect, test } from 'vitest';
import { endpoints, triggers } from '../../functions/api/catalogue.ts';
import { constructId } from '../../infra/deploy/constructs/service-function.ts';
import { routeGroupOf } from '../../infra/deploy/stacks/routes.ts';
import type { Right } from '../../shared/core/rights.ts';
import type { Environment } from '../../shared/core/setting.ts';
import type { Trigger } from '../../shared/platform/trigger.ts';
import { templatesOf } from './stage-templates.ts';
import { expectEndpointUpdates, expectUpdates, ofGroups, PROD, SWITCHES } from './update-pairs.ts';

describe.each([...Map.groupBy(endpoints, routeGroupOf)])('a removed, renamed or added endpoint of %s', (_, members) => {
  test.each(members.map((endpoint) => [endpoint.id, endpoint] as const))(
    'leaves a deployable stage: %s',
    (__, endpoint) => expectEndpointUpdates(endpoint, members),
  );
});

const withoutRight = <T extends { readonly uses: readonly Right[] }>(
  users: readonly T[],
  right: string,
): readonly T[] => users.map((user) => ({ ...user, uses: user.uses.filter((used) => used !== right) }));

/** The catalogue without a worker, and without the rights to its queue. */
const withoutWorker = (worker: Trigger) => {
  const right = worker.kind === 'queue' ? `queue:send:${worker.queue}` : '';
  return {
    endpoints: withoutRight(ofGroups('webhooks'), right),
    triggers: withoutRight(
      triggers.filter((trigger) => trigger !== worker),
      right,
    ),
  };
};

const OPERATED = 'workers.run-due';

describe('a removed, renamed or added worker', () => {
  const whole = templatesOf({ endpoints: ofGroups('webhooks') });
  const others = triggers.filter(({ id }) => id !== OPERATED);

  test.each(others.map((worker) => [worker.id, worker] as const))('leaves a deployable stage: %s', (id, worker) => {
    const removes = worker.kind === 'queue' ? [`${constructId(worker.queue)}Queue`] : [];
    expectUpdates(whole, templatesOf(withoutWorker(worker)), removes);
    const renamed = triggers.map((trigger) => (trigger === worker ? { ...worker, id: `${id}-renamed` } : trigger));
    expectUpdates(whole, templatesOf({ endpoints: ofGroups('webhooks'), triggers: renamed }));
  });

  test('can be any worker except the worker whose settings payctl reads', () => {
    const rest = triggers.filter(({ id }) => id !== OPERATED);
    expect(() => templatesOf({ endpoints: [], triggers: rest })).toThrow(/run-due/);
  });
});

describe('a deployment setting of a stage with all endpoints', () => {
  const DEV: Environment = {};
  const bases = new Map([DEV, PROD].map((env) => [env, templatesOf({ env })]));

  test.each(SWITCHES)('can change in both directions: $name', ({ env, base = DEV }) => {
    expectUpdates(bases.get(base) ?? templatesOf({ env: base }), templatesOf({ env: { ...base, ...env } }));
  });
});
