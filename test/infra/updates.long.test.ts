import { describe, test } from 'vitest';
import { endpoints } from '../../functions/api/catalogue.ts';
import { byGroup } from '../../infra/stacks/api.ts';
import type { Environment } from '../../shared/core/setting.ts';
import { templatesOf } from './stage-templates.ts';
import { expectEndpointUpdates, expectUpdates, PROD, SWITCHES } from './update-pairs.ts';

describe.each([...byGroup(endpoints)])('a removed, renamed or added endpoint of %s', (_, members) => {
  test.each(members.map((endpoint) => [endpoint.id, endpoint] as const))(
    'leaves a stage that deploys: %s',
    (__, endpoint) => expectEndpointUpdates(endpoint, members),
  );
});

describe('a deployment setting of a stage with all endpoints', () => {
  const DEV: Environment = {};
  const bases = new Map([DEV, PROD].map((env) => [env, templatesOf({ env })]));

  test.each(SWITCHES)('that changes in either direction leaves a stage that deploys: $name', ({ env, base = DEV }) => {
    expectUpdates(bases.get(base) ?? templatesOf({ env: base }), templatesOf({ env: { ...base, ...env } }));
  });
});
