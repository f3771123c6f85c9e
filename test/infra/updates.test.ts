import { readFileSync } from 'node:fs';
import { describe, expect, inject, test } from 'vitest';
import { endpoints, triggers } from '../../functions/api/catalogue.ts';
import { constructId } from '../../infra/constructs/service-function.ts';
import { byGroup, groupOf } from '../../infra/stacks/api.ts';
import type { Right } from '../../shared/core/rights.ts';
import type { Environment } from '../../shared/core/setting.ts';
import type { Endpoint } from '../../shared/http/endpoint.ts';
import type { Trigger } from '../../shared/platform/trigger.ts';
import { type StageTemplates, type Template, templatesOf } from './stage-templates.ts';
import { parametersReadBy, problemsOf } from './update-problems.ts';

/** All endpoints with `npm run test:long`, one of each group otherwise. */
const isWhole = inject('scale') > 1;
const RESTORED = {
  TABLE_NAME_IN_USE: 'payments-restored',
  TABLE_STREAM_ARN_IN_USE:
    'arn:aws:dynamodb:eu-west-1:123456789012:table/payments-restored/stream/2026-11-26T18:00:00.000',
};
const COPY = { BACKUP_COPY_TO: 'arn:aws:backup:eu-central-1:123456789012:backup-vault:payments-copies' };
const PROD = { STAGE: 'prod', IDENTITY_URL: 'https://id.example.com', ALARM_EMAIL: 'ops@example.com' };

const groups = byGroup(endpoints);
const ofGroups = (...names: readonly string[]): readonly Endpoint[] =>
  endpoints.filter((endpoint) => names.includes(groupOf(endpoint)));

/** Both directions of an update. */
const expectUpdates = (one: StageTemplates, other: StageTemplates, removes: readonly string[] = []): void => {
  expect(problemsOf({ before: one, after: other, removes })).toEqual([]);
  expect(problemsOf({ before: other, after: one, removes })).toEqual([]);
};

describe('a removed, renamed or added endpoint', () => {
  describe.each([...groups.keys()])('of %s', (group) => {
    const members = groups.get(group) ?? [];
    const chosen = isWhole ? members : members.slice(-1);
    const whole = templatesOf({ endpoints: members });

    test.each(chosen.map((endpoint) => [endpoint.id, endpoint] as const))(
      'leaves a stage that deploys: %s',
      (id, endpoint) => {
        const rest = members.filter((member) => member !== endpoint);
        const renamed = { ...endpoint, id: `${id}-renamed`, path: `${endpoint.path}/renamed` as const };
        expectUpdates(whole, templatesOf({ endpoints: rest }));
        expectUpdates(whole, templatesOf({ endpoints: [...rest, renamed] }));
      },
    );
  });
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

  test.each(others.map((worker) => [worker.id, worker] as const))('leaves a stage that deploys: %s', (id, worker) => {
    const removes = worker.kind === 'queue' ? [`${constructId(worker.queue)}Queue`] : [];
    expectUpdates(whole, templatesOf(withoutWorker(worker)), removes);
    const renamed = triggers.map((trigger) => (trigger === worker ? { ...worker, id: `${id}-renamed` } : trigger));
    expectUpdates(whole, templatesOf({ endpoints: ofGroups('webhooks'), triggers: renamed }));
  });

  test('can be any worker except the one whose settings payctl reads', () => {
    const rest = triggers.filter(({ id }) => id !== OPERATED);
    expect(() => templatesOf({ endpoints: [], triggers: rest })).toThrow(/run-due/);
  });
});

interface Switch {
  readonly name: string;
  readonly env: Environment;
  readonly base?: Environment;
}

const SWITCHES: readonly Switch[] = [
  { name: 'FUNCTION_URLS', env: { FUNCTION_URLS: 'off' } },
  { name: 'CONSOLE', env: { CONSOLE: 'off' } },
  { name: 'BULKHEADS', env: { BULKHEADS: 'on' } },
  { name: 'DEPLOY', env: { DEPLOY: 'canary' } },
  { name: 'CUSTOM_DOMAIN', env: { CUSTOM_DOMAIN: 'pay.example.com' } },
  { name: 'CUSTOM_DOMAIN with BASE_PATH', env: { CUSTOM_DOMAIN: 'pay.example.com', BASE_PATH: '/pay' } },
  { name: 'PUBLIC_BASE_URL', env: { PUBLIC_BASE_URL: 'https://pay.example.com' } },
  { name: 'ALARM_EMAIL', env: { ALARM_EMAIL: 'ops@example.com' } },
  { name: 'ALLOWED_ORIGINS', env: { ALLOWED_ORIGINS: 'https://shop.example.com' } },
  { name: 'LOG_RETENTION_DAYS', env: { LOG_RETENTION_DAYS: '365' } },
  { name: 'PROVIDER_B', env: { PROVIDER_B: 'paypal' } },
  {
    name: 'outbound webhooks',
    env: { EXTERNAL_WEBHOOK_TIMEOUT: '45000', EXTERNAL_WEBHOOK_MAX_RETRIES: '6' },
  },
  { name: 'the table in use', env: RESTORED },
  { name: 'the console of prod', env: { CONSOLE: 'on' }, base: PROD },
  { name: 'the table in use of prod', env: RESTORED, base: PROD },
  { name: 'the table in use of prod with canaries', env: RESTORED, base: { ...PROD, DEPLOY: 'canary' } },
  { name: 'BACKUP_COPY_TO', env: COPY, base: PROD },
];

describe('a deployment setting', () => {
  const served = isWhole ? endpoints : ofGroups('webhooks', 'console', 'payments');
  const stageOf = (env: Environment): StageTemplates => {
    const known = made.get(env);
    if (known) return known;
    const stage = templatesOf({ env, endpoints: served });
    made.set(env, stage);
    return stage;
  };
  const made = new Map<Environment, StageTemplates>();
  const DEV: Environment = {};

  test.each(SWITCHES)('that changes in either direction leaves a stage that deploys: $name', ({ env, base = DEV }) => {
    expectUpdates(stageOf(base), templatesOf({ env: { ...base, ...env }, endpoints: served }));
  });
});

describe('the table in use', () => {
  const served = ofGroups('payments', 'webhooks');
  const valuesIn = (stage: StageTemplates): Readonly<Record<string, unknown>> =>
    Object.fromEntries(
      stage.flatMap(({ template }) =>
        Object.values(template.Resources)
          .filter(({ Type }) => Type === 'AWS::SSM::Parameter')
          .map(({ Properties }) => [Properties?.['Name'], Properties?.['Value']]),
      ),
    );
  const own = templatesOf({ endpoints: served });
  const restored = templatesOf({ endpoints: served, env: RESTORED });

  test('changes three shared values and nothing else, and keeps the stack’s own table', () => {
    const before = valuesIn(own);
    const changed = Object.entries(valuesIn(restored)).filter(
      ([name, value]) => JSON.stringify(before[name]) !== JSON.stringify(value),
    );
    expect(Object.fromEntries(changed)).toEqual({
      '/payments/dev/data/table-name': 'payments-restored',
      '/payments/dev/data/table-arn': 'arn:aws:dynamodb:eu-west-1:123456789012:table/payments-restored',
      '/payments/dev/data/table-stream-arn': RESTORED.TABLE_STREAM_ARN_IN_USE,
    });
    const withoutValues = (stage: StageTemplates) =>
      stage.map(({ name, template }) => [
        name,
        Object.entries(template.Resources).filter(([, { Type }]) => Type !== 'AWS::SSM::Parameter'),
      ]);
    expect(withoutValues(restored)).toEqual(withoutValues(own));
  });

  test('reaches functions, rights and event sources only by the shared values', () => {
    for (const { name, template } of own.filter((stack) => !stack.name.endsWith('-data'))) {
      expect(JSON.stringify(template.Resources), name).not.toMatch(/"TableCD117FA1|restored/);
    }
    const readers = own.filter(({ template }) => parametersReadBy(template).includes('/payments/dev/data/table-arn'));
    expect(readers.map(({ name }) => name)).toEqual([
      'payments-dev-events',
      'payments-dev-api-payments',
      'payments-dev-api-webhooks',
    ]);
  });

  test('makes new versions of the functions that a canary deploys, because a version keeps its table', () => {
    const versionsOf = (env: Environment): readonly string[] =>
      templatesOf({ env: { ...env, DEPLOY: 'canary' }, endpoints: served }).flatMap(({ template }) =>
        Object.entries(template.Resources).flatMap(([id, { Type }]) => (Type === 'AWS::Lambda::Version' ? [id] : [])),
      );
    const before = versionsOf({});
    expect(before.length).toBeGreaterThan(0);
    expect(versionsOf(RESTORED).filter((version) => before.includes(version))).toEqual([]);
  });
});

describe('the stacks of a stage', () => {
  const stage = templatesOf();

  test('import no export', () => {
    expect(JSON.stringify(stage.map(({ template }) => template))).not.toContain('Fn::ImportValue');
  });

  const imported: readonly string[] = JSON.parse(
    readFileSync(new URL('imports-of-0.1.0.json', import.meta.url), 'utf8'),
  );

  test.each([
    ['without other changes', {}],
    ['while the function URLs are turned off', { FUNCTION_URLS: 'off' }],
    ['while the API gets a domain', { CUSTOM_DOMAIN: 'pay.example.com' }],
    ['while the table changes', RESTORED],
  ])('keep the exports that version 0.1.0 imports, %s', (_, env) => {
    const exported = templatesOf({ env, endpoints: ofGroups('webhooks') }).flatMap(({ template: { Outputs = {} } }) =>
      Object.values(Outputs).flatMap(({ Export }) => (Export ? [Export.Name] : [])),
    );
    expect(imported.filter((name) => !exported.includes(name))).toEqual([]);
  });

  test('that change the HTTP API are deployed in turn', () => {
    const all = new Map(stage.map((stack) => [stack.name, stack]));
    const waitsFor = (name: string, earlier: string): boolean =>
      all.get(name)?.after.some((before) => before === earlier || waitsFor(before, earlier)) ?? false;
    const changing = stage
      .filter(({ template }) =>
        Object.values(template.Resources).some(({ Type }) => Type.startsWith('AWS::ApiGatewayV2::')),
      )
      .map(({ name }) => name);
    expect(changing).toHaveLength(groups.size + 2);
    for (const [at, name] of changing.entries()) {
      const before = changing[at - 1];
      if (before !== undefined) expect(waitsFor(name, before), `${name} after ${before}`).toBe(true);
    }
  });
});

/** A stage with one template changed. */
const withTemplate = (stage: StageTemplates, part: string, change: (template: Template) => Template): StageTemplates =>
  stage.map((stack) => (stack.name.endsWith(part) ? { ...stack, template: change(stack.template) } : stack));

const withoutEntry = <T>(entries: Readonly<Record<string, T>>, gone: (id: string, entry: T) => boolean) =>
  Object.fromEntries(Object.entries(entries).filter(([id, entry]) => !gone(id, entry)));

describe('problemsOf', () => {
  const [first, ...rest] = ofGroups('webhooks');
  if (!first) throw new Error('there is no webhook endpoint');
  const stage = templatesOf({ env: PROD, endpoints: [first, ...rest] });
  const [importedName = ''] = Object.values(stage[0]?.template.Outputs ?? {}).flatMap(
    ({ Export }) => Export?.Name ?? [],
  );
  const withoutResource = (part: string, type: string): StageTemplates =>
    withTemplate(stage, part, (template) => ({
      ...template,
      Resources: withoutEntry(template.Resources, (_, { Type }) => Type === type),
    }));

  test('reports a dropped export that another stack imports', () => {
    const before = withTemplate(stage, '-front', (template) => ({
      ...template,
      Resources: {
        ...template.Resources,
        Importer: { Type: 'AWS::SQS::QueuePolicy', Properties: { A: { 'Fn::ImportValue': importedName } } },
      },
    }));
    const dropped = withTemplate(stage, '-data', ({ Outputs = {}, ...template }) => ({
      ...template,
      Outputs: withoutEntry(Outputs, (_, { Export }) => Export?.Name === importedName),
    }));
    expect(problemsOf({ before, after: dropped })).toEqual([
      `payments-prod-data drops or changes the export ${importedName}, which payments-prod-front imports`,
    ]);
    expect(problemsOf({ before, after: before })).toEqual([]);
    expect(
      problemsOf({
        before: dropped,
        after: withTemplate(before, '-data', () => dropped[0]?.template ?? { Resources: {} }),
      }),
    ).toEqual([`payments-prod-front imports ${importedName}, which no stack exports`]);
  });

  test('reports a parameter that a later stack reads, or an earlier stack reads too early', () => {
    const after = withTemplate(stage, '-data', (template) => ({
      ...template,
      Resources: withoutEntry(
        template.Resources,
        (_, { Properties }) => Properties?.['Name'] === '/payments/prod/data/bus-arn',
      ),
    }));
    expect(problemsOf({ before: stage, after })).toEqual([
      'payments-prod-events reads /payments/prod/data/bus-arn, which no stack before it writes',
    ]);
    expect(problemsOf({ before: stage, after: stage.toReversed() })).toContain(
      'payments-prod-events reads /payments/prod/data/bus-arn, which no stack before it writes',
    );
  });

  test.each([
    ['-data', 'AWS::DynamoDB::Table'],
    ['-data', 'AWS::KMS::Key'],
    ['-data', 'AWS::SecretsManager::Secret'],
    ['-data', 'AWS::Events::EventBus'],
    ['-data', 'AWS::Backup::BackupVault'],
    ['-prod-api', 'AWS::ApiGatewayV2::Api'],
    ['-events', 'AWS::SQS::Queue'],
    ['-events', 'AWS::S3::Bucket'],
  ])('reports that the stack %s loses its %s', (part, type) => {
    const problems = problemsOf({ before: stage, after: withoutResource(part, type) });
    expect(problems.length).toBeGreaterThan(0);
    for (const problem of problems) expect(problem).toMatch(new RegExp(`${part} loses ${type} `));
  });

  test('reports a property whose change replaces the table', () => {
    const after = withTemplate(stage, '-data', ({ Resources, ...template }) => ({
      ...template,
      Resources: Object.fromEntries(
        Object.entries(Resources).map(([id, resource]) => [
          id,
          resource.Type === 'AWS::DynamoDB::Table'
            ? { ...resource, Properties: { ...resource.Properties, TableName: 'payments' } }
            : resource,
        ]),
      ),
    }));
    expect(problemsOf({ before: stage, after })).toEqual([
      expect.stringMatching(/-data replaces AWS::DynamoDB::Table \w+, because its TableName changes/),
    ]);
  });

  test('reports a route that gets another id and keeps its path, because API Gateway refuses the second route', () => {
    const after = templatesOf({ env: PROD, endpoints: [{ ...first, id: `${first.id}-renamed` }, ...rest] });
    expect(problemsOf({ before: stage, after })).toEqual([
      expect.stringContaining(`creates AWS::ApiGatewayV2::Route ${first.method} ${first.path}`),
    ]);
  });

  test('reports a vanished stack with data, or with values that another stack reads', () => {
    const without = (part: string): StageTemplates => stage.filter(({ name }) => !name.endsWith(part));
    expect(problemsOf({ before: stage, after: without('-events') })).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/-events vanishes and holds AWS::SQS::Queue|-events vanishes and holds AWS::S3::Bucket/),
        'payments-prod-events vanishes, but payments-prod-operations reads its values',
      ]),
    );
    expect(problemsOf({ before: stage, after: without('-front') })).toEqual([]);
  });
});
