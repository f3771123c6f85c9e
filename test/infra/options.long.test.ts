import { describe, expect, test } from 'vitest';
import { endpoints, triggers } from '../../functions/api/catalogue.ts';
import { reservedInAll } from '../../infra/deploy/constructs/bulkheads.ts';
import { packs } from '../../infra/deploy/stacks/service.ts';
import { readDeploymentSettings } from '../../infra/deploy/stage/settings.ts';
import { withOperatorSettings } from '../../shared/platform/trigger.ts';
import { type Synthesized, synthesize } from './synthesized.ts';

const plain = synthesize({ env: { HEALTH_CHECK: 'on' } });
const PAYMENT_PATH = [
  'payments.confirm',
  'payments.create',
  'payments.create-intent',
  'subscriptions.change',
  'subscriptions.create',
];
const RECEIVERS = ['webhooks.provider-a', 'webhooks.provider-b', 'webhooks.provider-c'];

const violations = ({ app }: Synthesized): readonly string[] =>
  packs(app).flatMap((pack) => pack.validateScope(app).violations.map(({ ruleName }) => ruleName));

describe('the memory of a function', () => {
  const memoryOf = (id: string): number => plain.functionOf(id).Properties.MemorySize;

  test('is 1,024 MB on the payment path and for the sweep of due work, and nowhere else', () => {
    const large = [...endpoints, ...triggers].map(({ id }) => id).filter((id) => memoryOf(id) === 1_024);
    const onPages = ['pay.start', 'pay.confirm', 'pay.method'];
    expect(large.toSorted()).toEqual([...PAYMENT_PATH, ...onPages, 'workers.sweep-due'].toSorted());
  });

  test('is 256 MB if no caller waits, else 512 MB', () => {
    const small = endpoints.map(({ id }) => id).filter((id) => memoryOf(id) === 256);
    expect(small.toSorted()).toEqual([
      'api.config',
      'api.health',
      'api.openapi',
      'console.file',
      'console.page',
      'pay-page.file',
      'pay-page.page',
      ...RECEIVERS,
    ]);
  });
});

describe('the console', () => {
  const routesOf = ({ ofType }: Synthesized): readonly string[] =>
    ofType('AWS::ApiGatewayV2::Route')
      .map(({ Properties }) => String(Properties.RouteKey))
      .filter((key) => key.includes('/console'));
  const PROD = { STAGE: 'prod', IDENTITY_URL: 'https://id.example.com' };

  test('is deployed by default', () => {
    expect(routesOf(plain).toSorted()).toEqual(['GET /console', 'GET /console/{path+}']);
  });

  test.each([
    ['production', PROD],
    ['an installation that turns it off', { CONSOLE: 'off' }],
  ])('is not part of %s', (_, env) => {
    expect(routesOf(synthesize({ env }))).toEqual([]);
  });

  test('is part of production if it is turned on', () => {
    expect(routesOf(synthesize({ env: { ...PROD, CONSOLE: 'on' } }))).toHaveLength(2);
  });
});

describe('the hosted page', () => {
  const routesOf = ({ ofType }: Synthesized): readonly string[] =>
    ofType('AWS::ApiGatewayV2::Route')
      .map(({ Properties }) => String(Properties.RouteKey))
      .filter((key) => /^GET \/pay($|\/assets)/.test(key));

  test('is deployed by default, and not in production', () => {
    expect(routesOf(plain).toSorted()).toEqual(['GET /pay', 'GET /pay/assets/{file}']);
    expect(routesOf(synthesize({ env: { STAGE: 'prod', IDENTITY_URL: 'https://id.example.com' } }))).toEqual([]);
  });
});

describe('reserved concurrency per function', () => {
  const reservedIn = ({ ofType }: Synthesized): Readonly<Record<string, number>> =>
    Object.fromEntries(
      ofType('AWS::Lambda::Function').flatMap(({ Properties }) =>
        Properties.ReservedConcurrentExecutions === undefined
          ? []
          : [[Properties.Description.split(':')[0], Properties.ReservedConcurrentExecutions]],
      ),
    );
  const concurrencyIn = ({ ofType }: Synthesized): readonly number[] =>
    ofType('AWS::Lambda::EventSourceMapping').flatMap(
      ({ Properties }) => Properties.ScalingConfig?.MaximumConcurrency ?? [],
    );
  const sumOf = (reserved: Readonly<Record<string, number>>): number =>
    Object.values(reserved).reduce((sum, one) => sum + one, 0);
  const on = synthesize({ env: { BULKHEADS: 'on' } });

  test('is off by default, because a new account has a limit of 10', () => {
    expect(reservedIn(plain)).toEqual({});
  });

  test('covers receivers of events, the payment path and every worker', () => {
    expect(reservedIn(on)).toEqual({
      ...Object.fromEntries(RECEIVERS.map((id) => [id, 20])),
      ...Object.fromEntries(PAYMENT_PATH.map((id) => [id, 50])),
      'workers.apply-provider-event': 20,
      'workers.deliver-webhook': 100,
      'workers.dispatch-webhooks': 20,
      'workers.follow-payment': 10,
      'workers.project-changes': 20,
      'workers.publish-changes': 20,
      'workers.run-due': 60,
      'workers.sweep-due': 2,
    });
  });

  test('fits an account’s usual limit of 1,000, with the 100 that AWS keeps unreserved', () => {
    const catalogue = { endpoints, triggers: withOperatorSettings(triggers, readDeploymentSettings({}).operated) };
    expect(sumOf(reservedIn(on))).toBe(562);
    expect(reservedInAll(catalogue, readDeploymentSettings({ BULKHEADS: 'on' }).bulkheads)).toBe(562);
    expect(reservedInAll(catalogue, undefined)).toBe(0);
  });

  test('has the operator’s sizes, and limits the polling of consumers', () => {
    const env = { BULKHEADS: 'on', BULKHEAD_WEBHOOKS: '5', BULKHEAD_PAYMENTS: '200', BULKHEAD_WORKERS: '12' };
    const configured = synthesize({ env });
    expect(reservedIn(configured)).toMatchObject({
      'webhooks.provider-b': 5,
      'payments.confirm': 200,
      'workers.deliver-webhook': 12,
      'workers.run-due': 12,
    });
    expect([...concurrencyIn(configured)].sort((one, other) => one - other)).toEqual([10, 12, 12, 12, 12]);
    expect([...concurrencyIn(on)].toSorted()).toEqual([...concurrencyIn(plain)].toSorted());
  });
});

describe('the setting FUNCTION_URLS=off', () => {
  const without = synthesize({ env: { FUNCTION_URLS: 'off', HEALTH_CHECK: 'on' } });

  test('leaves the routes as the only public entry', () => {
    expect(without.ofType('AWS::Lambda::Url')).toEqual([]);
    expect(without.ofType('AWS::Lambda::Permission').filter(({ Properties }) => Properties.Principal === '*')).toEqual(
      [],
    );
    expect(Object.keys(without.outputs).filter((name) => name.endsWith('Url') && name.startsWith('Webhooks'))).toEqual(
      [],
    );
    const keys = without.ofType('AWS::ApiGatewayV2::Route').map(({ Properties }) => Properties.RouteKey);
    expect(keys).toEqual(expect.arrayContaining(['POST /webhooks/provider_a', 'POST /webhooks/provider_c']));
  });

  test('removes only the alarms of the URLs', () => {
    const names = (stage: Synthesized) =>
      stage.ofType('AWS::CloudWatch::Alarm').map(({ Properties }) => Properties.AlarmName);
    expect(names(plain).filter((name) => !names(without).includes(name))).toEqual([
      'payments-dev-urls-fail',
      'payments-dev-url-errors',
    ]);
    expect(violations(without)).toEqual([]);
  });
});

describe('the setting DEPLOY=canary', () => {
  const canary = synthesize({ env: { STAGE: 'prod', DEPLOY: 'canary', ALARM_EMAIL: 'ops@example.com' } });
  const { ofType, functionOf, words } = canary;
  const aliases = ofType('AWS::Lambda::Alias');
  const groups = ofType('AWS::CodeDeploy::DeploymentGroup');

  test('shifts the payment path step by step, and no other function', () => {
    const shifted = aliases.map(({ Properties }) => words(Properties.FunctionName));
    expect(shifted.toSorted()).toEqual(PAYMENT_PATH.map((id) => functionOf(id).logicalId.slice(0, -8)).toSorted());
    expect(groups).toHaveLength(PAYMENT_PATH.length);
    for (const { UpdatePolicy } of aliases) {
      expect(UpdatePolicy?.CodeDeployLambdaAliasUpdate).toMatchObject({ DeploymentGroupName: expect.anything() });
    }
    expect(plain.ofType('AWS::Lambda::Alias')).toEqual([]);
    expect(plain.ofType('AWS::CodeDeploy::DeploymentGroup')).toEqual([]);
  });

  test('rolls a version back when its function fails or the API returns a 5xx', () => {
    const alarms = new Map(
      ofType('AWS::CloudWatch::Alarm').map((alarm) => [alarm.logicalId, alarm.Properties] as const),
    );
    for (const { Properties } of groups) {
      expect(Properties.DeploymentConfigName).toBe('CodeDeployDefault.LambdaCanary10Percent5Minutes');
      expect(Properties.AutoRollbackConfiguration).toMatchObject({
        Enabled: true,
        Events: expect.arrayContaining(['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_ALARM']),
      });
      const watched: readonly { MetricName: string }[] = Properties.AlarmConfiguration.Alarms.map(
        ({ Name }: { Name: { Ref: string } }) => alarms.get(Name.Ref),
      );
      expect(watched.map(({ MetricName }) => MetricName)).toEqual(['Errors', '5xx']);
    }
  });

  test('lets the gateway call the alias of each function on the payment path', () => {
    for (const id of PAYMENT_PATH) {
      const { stack, logicalId } = functionOf(id);
      const alias = aliases.find((each) => each.stack === stack && each.Properties.FunctionName.Ref === logicalId);
      const integrations = ofType('AWS::ApiGatewayV2::Integration').filter((each) => each.stack === stack);
      expect(integrations.map(({ Properties }) => Properties.IntegrationUri)).toContainEqual({ Ref: alias?.logicalId });
      const permitted = ofType('AWS::Lambda::Permission').filter((each) => each.stack === stack);
      expect(permitted.map(({ Properties }) => Properties.FunctionName)).toContainEqual({ Ref: alias?.logicalId });
    }
  });

  test('gives CodeDeploy no right to other functions, and passes the rule packs', () => {
    const [policy] = ofType('AWS::IAM::ManagedPolicy').filter(({ logicalId }) => logicalId.includes('Canary'));
    expect(policy?.Properties.PolicyDocument.Statement).toMatchObject([
      { Action: 'cloudwatch:DescribeAlarms', Resource: '*' },
      { Action: ['lambda:GetAlias', 'lambda:GetProvisionedConcurrencyConfig', 'lambda:UpdateAlias'] },
    ]);
    const roles = ofType('AWS::IAM::Role').filter(({ logicalId }) => logicalId.includes('Canary'));
    expect(roles).toHaveLength(PAYMENT_PATH.length);
    for (const { Properties } of roles) expect(Properties.ManagedPolicyArns).toHaveLength(1);
    expect(violations(canary)).toEqual([]);
  });
});

describe('the setting TRACING=off', () => {
  const without = synthesize({ env: { TRACING: 'off' } });

  test('removes traces and the right to send them from every function, and passes the rule packs', () => {
    const modesIn = ({ ofType }: Synthesized) =>
      new Set(ofType('AWS::Lambda::Function').map(({ Properties }) => Properties.TracingConfig.Mode));
    expect([modesIn(plain), modesIn(without)]).toEqual([new Set(['Active']), new Set(['PassThrough'])]);
    expect(JSON.stringify(plain.ofType('AWS::IAM::ManagedPolicy'))).toContain('xray:');
    expect(JSON.stringify(without.ofType('AWS::IAM::ManagedPolicy'))).not.toContain('xray:');
    expect(violations(without)).toEqual([]);
  });
});

describe('the setting PROVISIONED', () => {
  const warm = synthesize({ env: { PROVISIONED: 'payments.confirm, payments.get' } });
  const { ofType, functionOf } = warm;

  test('keeps one instance of each named route warm, and lets the gateway call its alias', () => {
    const aliases = ofType('AWS::Lambda::Alias');
    expect(aliases.map(({ Properties }) => Properties.FunctionName.Ref).toSorted()).toEqual(
      ['payments.confirm', 'payments.get'].map((id) => functionOf(id).logicalId).toSorted(),
    );
    const called = ofType('AWS::ApiGatewayV2::Integration').map(({ Properties }) => Properties.IntegrationUri);
    for (const { logicalId, Properties } of aliases) {
      expect(Properties.ProvisionedConcurrencyConfig).toEqual({ ProvisionedConcurrentExecutions: 1 });
      expect(called).toContainEqual({ Ref: logicalId });
    }
    expect(ofType('AWS::CodeDeploy::DeploymentGroup')).toEqual([]);
  });

  test('is empty by default, and changes nothing but the named routes', () => {
    const others = ({ ofType: of }: Synthesized) =>
      of('AWS::ApiGatewayV2::Integration').filter(({ Properties }) => Properties.IntegrationUri['Fn::GetAtt']);
    expect(plain.ofType('AWS::Lambda::Alias')).toEqual([]);
    expect(others(warm)).toHaveLength(others(plain).length - 2);
    expect(violations(warm)).toEqual([]);
  });
});

describe('due work', () => {
  const stateOf = ({ ofType }: Synthesized) => ({
    sweep: ofType('AWS::Events::Rule').find(({ logicalId }) => logicalId.startsWith('WorkersSweepDue'))?.Properties
      .State,
    run: ofType('AWS::Lambda::EventSourceMapping').find(({ logicalId }) => logicalId.startsWith('WorkersRunDue'))
      ?.Properties.Enabled,
    others: ofType('AWS::Lambda::EventSourceMapping').filter(({ Properties }) => Properties.Enabled === false).length,
  });

  test('is enabled explicitly in the template, so it resumes after DUE_WORK was off', () => {
    expect(stateOf(plain)).toEqual({ sweep: 'ENABLED', run: true, others: 0 });
  });

  test('is neither queued nor run if DUE_WORK is off, while every other worker runs', () => {
    expect(stateOf(synthesize({ env: { DUE_WORK: 'off' } }))).toEqual({ sweep: 'DISABLED', run: false, others: 1 });
  });
});
