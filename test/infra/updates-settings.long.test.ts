import { describe, expect, test } from 'vitest';
import type { Environment } from '../../shared/core/setting.ts';
import { type StageTemplates, type Template, type TemplateResource, templatesOf } from './stage-templates.ts';
import { expectUpdates, ofGroups, PROD, RESTORED, SWITCHES } from './update-pairs.ts';
import { parametersReadBy, updateProblemsOf } from './update-problems.ts';

describe('a deployment setting', () => {
  const served = ofGroups('webhooks', 'console', 'payments');
  const DEV: Environment = {};
  const bases = new Map([DEV, PROD].map((env) => [env, templatesOf({ env, endpoints: served })]));

  test.each(SWITCHES)('can change in both directions: $name', ({ env, base = DEV }) => {
    const before = bases.get(base) ?? templatesOf({ env: base, endpoints: served });
    expectUpdates(before, templatesOf({ env: { ...base, ...env }, endpoints: served }));
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

  test('is set by three shared values alone, and the stack’s own table stays', () => {
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

  test('is named in functions, rights and event sources only through the shared parameters', () => {
    for (const { name, template } of own.filter((stack) => !stack.name.endsWith('-data'))) {
      expect(JSON.stringify(template.Resources), name).not.toMatch(/"TableCD117FA1|restored/);
    }
    const readers = own.filter(({ template }) => parametersReadBy(template).includes('/payments/dev/data/table-arn'));
    expect(readers.map(({ name }) => name)).toEqual([
      'payments-dev-api',
      'payments-dev-events',
      'payments-dev-api-webhooks',
    ]);
  });

  test('is the only table in the settings, rights and stream readers of functions', () => {
    const values = valuesIn(restored);
    const resources = restored.flatMap(({ template: { Resources, Parameters = {} } }) =>
      Object.values<TemplateResource>(
        JSON.parse(JSON.stringify(Resources), (_, value) => {
          if (typeof value?.Ref === 'string') return values[Parameters[value.Ref]?.Default ?? ''] ?? value;
          const parts: readonly unknown[] = value?.['Fn::Join']?.[1] ?? [];
          return parts.length > 0 && parts.every((part) => typeof part === 'string') ? parts.join('') : value;
        }),
      ),
    );
    const inUse = 'arn:aws:dynamodb:eu-west-1:123456789012:table/payments-restored';
    const ofType = (type: string): string => JSON.stringify(resources.filter(({ Type }) => Type === type));
    expect(new Set(ofType('AWS::Lambda::Function').match(/"TABLE_NAME":[^,}]+/g))).toEqual(
      new Set(['"TABLE_NAME":"payments-restored"']),
    );
    const statements = ofType('AWS::IAM::ManagedPolicy').match(/\{"Action":[^{}]*"dynamodb:[^{}]*\}/g) ?? [];
    expect(statements.length).toBeGreaterThan(20);
    for (const statement of statements) {
      const [, used = ''] = /"Resource":(.*)\}$/.exec(statement) ?? [];
      for (const arn of [JSON.parse(used)].flat()) expect(String(arn).startsWith(inUse), String(arn)).toBe(true);
    }
    const streams = ofType('AWS::Lambda::EventSourceMapping').match(/"EventSourceArn":"arn:aws:dynamodb:[^"]+"/g);
    expect(streams).toEqual(Array(2).fill(`"EventSourceArn":"${RESTORED.TABLE_STREAM_ARN_IN_USE}"`));
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

  test('import no exports of other stacks', () => {
    expect(JSON.stringify(stage.map(({ template }) => template))).not.toContain('Fn::ImportValue');
  });

  test('are deployed one after another if they change the HTTP API', () => {
    const all = new Map(stage.map((stack) => [stack.name, stack]));
    const waitsFor = (name: string, earlier: string): boolean =>
      all.get(name)?.after.some((before) => before === earlier || waitsFor(before, earlier)) ?? false;
    const changing = stage
      .filter(({ template }) =>
        Object.values(template.Resources).some(({ Type }) => Type.startsWith('AWS::ApiGatewayV2::')),
      )
      .map(({ name }) => name);
    expect(changing).toEqual(['payments-dev-api', 'payments-dev-api-webhooks', 'payments-dev-front']);
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

describe('updateProblemsOf', () => {
  const [first, ...rest] = ofGroups('webhooks');
  if (!first) throw new Error('there is no webhook endpoint');
  const stage = templatesOf({ env: PROD, endpoints: [first, ...rest] });
  const importedName = 'payments-prod-data:Table';
  const exporting = withTemplate(stage, '-data', (template) => ({
    ...template,
    Outputs: { ...template.Outputs, Exported: { Value: 'a', Export: { Name: importedName } } },
  }));
  const withoutResource = (part: string, type: string): StageTemplates =>
    withTemplate(stage, part, (template) => ({
      ...template,
      Resources: withoutEntry(template.Resources, (_, { Type }) => Type === type),
    }));

  test('reports a dropped export that another stack imports', () => {
    const before = withTemplate(exporting, '-front', (template) => ({
      ...template,
      Resources: {
        ...template.Resources,
        Importer: { Type: 'AWS::SQS::QueuePolicy', Properties: { A: { 'Fn::ImportValue': importedName } } },
      },
    }));
    const dropped = stage;
    expect(updateProblemsOf({ before, after: dropped })).toEqual([
      `payments-prod-data drops or changes the export ${importedName}, which payments-prod-front imports`,
    ]);
    expect(updateProblemsOf({ before, after: before })).toEqual([]);
    expect(
      updateProblemsOf({
        before: dropped,
        after: withTemplate(before, '-data', () => dropped[0]?.template ?? { Resources: {} }),
      }),
    ).toEqual([`payments-prod-front imports ${importedName}, which no stack exports`]);
  });

  test('reports a parameter written by no earlier stack', () => {
    const after = withTemplate(stage, '-data', (template) => ({
      ...template,
      Resources: withoutEntry(
        template.Resources,
        (_, { Properties }) => Properties?.['Name'] === '/payments/prod/data/bus-arn',
      ),
    }));
    expect(updateProblemsOf({ before: stage, after })).toEqual([
      'payments-prod-events reads /payments/prod/data/bus-arn, which no stack before it writes',
    ]);
    expect(updateProblemsOf({ before: stage, after: stage.toReversed() })).toContain(
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
    const problems = updateProblemsOf({ before: stage, after: withoutResource(part, type) });
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
    expect(updateProblemsOf({ before: stage, after })).toEqual([
      expect.stringMatching(/-data replaces AWS::DynamoDB::Table \w+, because its TableName changes/),
    ]);
  });

  test('reports a route that gets another id and keeps its path, because API Gateway refuses the second route', () => {
    const after = templatesOf({ env: PROD, endpoints: [{ ...first, id: `${first.id}-renamed` }, ...rest] });
    expect(updateProblemsOf({ before: stage, after })).toEqual([
      expect.stringContaining(`creates AWS::ApiGatewayV2::Route ${first.method} ${first.path}`),
    ]);
  });

  test('reports a vanished stack with data, or with values that another stack reads', () => {
    const without = (part: string): StageTemplates => stage.filter(({ name }) => !name.endsWith(part));
    expect(updateProblemsOf({ before: stage, after: without('-events') })).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/-events vanishes and holds AWS::SQS::Queue|-events vanishes and holds AWS::S3::Bucket/),
        'payments-prod-events vanishes, but payments-prod-operations reads its values',
      ]),
    );
    expect(updateProblemsOf({ before: stage, after: without('-front') })).toEqual([]);
  });
});
