/** @module What a deployment reads from AWS before it changes anything, with simulated AWS clients. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  CloudFormationClient,
  DeleteChangeSetCommand,
  DescribeChangeSetCommand,
  DescribeStacksCommand,
  GetTemplateCommand,
} from '@aws-sdk/client-cloudformation';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { readBuiltStacks } from '../../infra/deploy/stage/built-stacks.ts';
import { takeChangeSet } from '../../infra/deploy/stage/change-sets.ts';
import { compareStage } from '../../infra/deploy/stage/deployed-stacks.ts';
import { accountOf, identifyCaller, requireRegion } from '../../infra/deploy/stage/identity.ts';
import { parseTemplate } from '../../infra/deploy/stage/template.ts';
import { temporaryFolder } from './synthesized.ts';

const region = 'eu-west-1';
const cloudFormation = mockClient(CloudFormationClient);
const sts = mockClient(STSClient);
beforeEach(() => {
  cloudFormation.reset();
  sts.reset();
});
afterAll(() => {
  cloudFormation.restore();
  sts.restore();
});
const client = new CloudFormationClient({ region });
const named = (name: string, message = name): Error => Object.assign(new Error(message), { name });

const TEMPLATE = JSON.stringify({ Resources: { Topic: { Type: 'AWS::SNS::Topic' } } });
const builtStack = (name: string, isProtected = false) => ({ name, isProtected, template: parseTemplate(TEMPLATE) });

const stackOf = (StackName: string, StackStatus: string, more: object = {}) => ({
  StackName,
  StackId: `arn:${StackName}`,
  StackStatus: StackStatus as 'CREATE_COMPLETE',
  CreationTime: new Date(0),
  Tags: [
    { Key: 'service', Value: 'payments' },
    { Key: 'stage', Value: 'prod' },
  ],
  ...more,
});

describe('the comparison with the deployed stage', () => {
  const DATA = 'payments-prod-data';

  test('compares deployed templates, and treats a missing stack as new', async () => {
    cloudFormation.on(DescribeStacksCommand).resolves({ Stacks: [stackOf(DATA, 'UPDATE_COMPLETE')] });
    cloudFormation.on(GetTemplateCommand, { StackName: `arn:${DATA}` }).resolves({ TemplateBody: TEMPLATE });
    const stage = await compareStage(client, 'prod', [builtStack(DATA), builtStack('payments-prod-api')]);
    expect(stage.changes.map(({ name, isNew, resources }) => [name, isNew, resources.length])).toEqual([
      [DATA, false, 0],
      ['payments-prod-api', true, 1],
    ]);
    expect([stage.failed, stage.blocked, stage.protectionChanges]).toEqual([[], [], []]);
  });

  test('fails at the first unreadable template, and names its stack', async () => {
    cloudFormation.on(DescribeStacksCommand).resolves({ Stacks: [stackOf(DATA, 'UPDATE_COMPLETE')] });
    cloudFormation.on(GetTemplateCommand).rejectsOnce(named('AccessDenied')).resolves({ TemplateBody: TEMPLATE });
    await expect(compareStage(client, 'prod', [builtStack(DATA)])).rejects.toThrow(
      'the deployed template of payments-prod-data cannot be read: AccessDenied',
    );
  });

  test.each([['ROLLBACK_COMPLETE'], ['ROLLBACK_FAILED']])(
    'reports a stack with the status %s as failed, with its termination protection',
    async (status) => {
      const stack = stackOf(DATA, status, { EnableTerminationProtection: true });
      cloudFormation.on(DescribeStacksCommand).resolves({ Stacks: [stack] });
      const { failed, changes, blocked } = await compareStage(client, 'prod', [builtStack(DATA, true)]);
      expect(failed).toEqual([{ name: DATA, id: `arn:${DATA}`, status, isProtected: true }]);
      expect([changes[0]?.isNew, blocked]).toEqual([true, []]);
    },
  );

  test.each([
    ['ROLLBACK_COMPLETE', { Tags: [] }, 'is not of this stage'],
    ['UPDATE_IN_PROGRESS', {}, 'wait until that change has ended'],
    ['UPDATE_ROLLBACK_FAILED', {}, 'aws cloudformation continue-update-rollback --stack-name payments-prod-data'],
  ])('is blocked by a stack with the status %s and the fields %o', async (status, more, words) => {
    cloudFormation.on(DescribeStacksCommand).resolves({ Stacks: [stackOf(DATA, status, more)] });
    cloudFormation.on(GetTemplateCommand).resolves({ TemplateBody: TEMPLATE });
    const { blocked, failed } = await compareStage(client, 'prod', [builtStack(DATA)]);
    expect([blocked.length, failed]).toEqual([1, []]);
    expect(blocked[0]).toContain(words);
  });

  test('reports a change of the termination protection', async () => {
    cloudFormation.on(DescribeStacksCommand).resolves({ Stacks: [stackOf(DATA, 'CREATE_COMPLETE')] });
    cloudFormation.on(GetTemplateCommand).resolves({ TemplateBody: TEMPLATE });
    const { protectionChanges } = await compareStage(client, 'prod', [builtStack(DATA, true)]);
    expect(protectionChanges).toEqual([DATA]);
  });
});

describe('the built stacks', () => {
  test('are in the order of their dependencies', () => {
    const folder = temporaryFolder();
    const stack = (file: string, ...dependencies: string[]) => ({
      type: 'aws:cloudformation:stack',
      dependencies,
      properties: { templateFile: file, terminationProtection: file === 'b.json' },
    });
    const artifacts = { a: stack('a.json', 'b', 'assets'), assets: { type: 'cdk:asset-manifest' }, b: stack('b.json') };
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ artifacts }));
    for (const file of ['a.json', 'b.json']) writeFileSync(join(folder, file), TEMPLATE);
    expect(readBuiltStacks(folder).map(({ name, isProtected }) => [name, isProtected])).toEqual([
      ['b', true],
      ['a', false],
    ]);
  });
});

describe('a planned change set', () => {
  const change = (Action: 'Add' | 'Modify', LogicalResourceId: string, Replacement?: 'True') => ({
    ResourceChange: { Action, LogicalResourceId, ResourceType: 'AWS::SNS::Topic', Replacement },
  });

  test('is summarized from all pages with its replacements, and then deleted', async () => {
    cloudFormation.on(DescribeChangeSetCommand).resolves({ Changes: [change('Add', 'New')], NextToken: 'more' });
    cloudFormation
      .on(DescribeChangeSetCommand, { NextToken: 'more' })
      .resolves({ Changes: [change('Modify', 'Alarms', 'True')] });
    cloudFormation.on(DeleteChangeSetCommand).resolves({});
    expect(await takeChangeSet(client, 'payments-dev-data', false)).toEqual([
      'payments-dev-data: CloudFormation would add 1, modify 1',
      '  modify: Alarms (AWS::SNS::Topic), replaced',
    ]);
    expect(cloudFormation.commandCalls(DeleteChangeSetCommand).map(({ args }) => args[0].input)).toEqual([
      { StackName: 'payments-dev-data', ChangeSetName: 'payments-plan' },
    ]);
  });

  test('is missing if nothing changes', async () => {
    cloudFormation.on(DescribeChangeSetCommand).rejects(named('ChangeSetNotFoundException'));
    cloudFormation.on(DeleteChangeSetCommand).rejects(named('ChangeSetNotFoundException'));
    expect(await takeChangeSet(client, 'payments-dev-data', false)).toEqual([
      'payments-dev-data: CloudFormation would change nothing',
    ]);
  });
});

describe('the account of a deployment', () => {
  // Several test files share one process, so each test restores the environment.
  afterEach(() => vi.unstubAllEnvs());
  const config = join(temporaryFolder(), 'config');
  writeFileSync(
    config,
    '[default]\noutput = json\n[profile prod]\nregion = eu-north-1\n\n[profile dev]\nregion = eu-west-2\n[profile bare]\noutput = json\n',
  );
  const files = { AWS_CONFIG_FILE: config, AWS_SHARED_CREDENTIALS_FILE: '/dev/null' };

  test.each([
    [{ profile: 'prod', region: 'us-west-2' }, { AWS_PROFILE: 'dev', AWS_REGION: 'eu-west-1' }, 'prod', 'us-west-2'],
    [{}, { AWS_PROFILE: 'dev', AWS_REGION: 'eu-west-1', AWS_DEFAULT_REGION: 'eu-west-3' }, 'dev', 'eu-west-1'],
    [{}, { AWS_DEFAULT_PROFILE: 'dev', AWS_DEFAULT_REGION: 'eu-west-3' }, 'dev', 'eu-west-3'],
    [{}, { AWS_REGION: 'eu-west-1' }, undefined, 'eu-west-1'],
    [{ profile: 'prod' }, {}, 'prod', 'eu-north-1'],
  ])('comes from options %o, else variables %o, else the profile', async (...[given, variables, profile, wanted]) => {
    vi.stubEnv('AWS_CONFIG_FILE', config).stubEnv('AWS_REGION', undefined);
    expect(await accountOf(given, { ...variables, ...files })).toEqual({ ...(profile && { profile }), region: wanted });
  });

  test('is refused without a region, and with an unknown profile', async () => {
    vi.stubEnv('AWS_CONFIG_FILE', config).stubEnv('AWS_REGION', undefined);
    await expect(accountOf({ profile: 'bare' }, files)).rejects.toThrow('no region; set --region or AWS_REGION');
    await expect(accountOf({ profile: 'prd' }, files)).rejects.toThrow(
      'no AWS profile prd; known: bare, default, dev, prod',
    );
  });

  test('is refused in a region that does not exist', () => {
    expect(() => requireRegion('eu-west-9')).toThrow(/^eu-west-9 is not an AWS region.*eu-west-1/);
    expect(requireRegion('eu-west-1')).toBeUndefined();
  });

  test('is shown with its number and the caller', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'id').stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
    sts.on(GetCallerIdentityCommand).resolves({ Account: '1', Arn: 'arn:me' });
    expect(await identifyCaller({ region })).toBe('account 1 as arn:me');
  });

  test.each([
    ['ExpiredToken', 'the AWS credentials of the environment have expired; sign in again'],
    ['InvalidClientTokenId', 'AWS refuses the credentials of the environment: InvalidClientTokenId: x'],
    ['TimeoutError', 'AWS cannot be reached in eu-west-1: x'],
  ])('causes a one-line error for AWS’s reply %s', async (name, words) => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'id').stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
    sts.on(GetCallerIdentityCommand).rejects(named(name, 'x\nmore'));
    await expect(identifyCaller({ region })).rejects.toThrow(new Error(words));
  });
});

describe('npm run deploy', () => {
  const DEPLOY = resolve(import.meta.dirname, '../../infra/deploy/deploy.ts');
  const NO_AWS = {
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EC2_METADATA_DISABLED: 'true',
  };
  const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    new Promise<{ code: unknown; stdout: string; stderr: string }>((done) =>
      execFile(process.execPath, [DEPLOY, ...args], { env: { ...NO_AWS, ...env } }, (error, stdout, stderr) =>
        done({ code: error?.code ?? 0, stdout, stderr }),
      ),
    );

  test.each([
    [['--profle', 'prod'], "error: unknown option '--profle'"],
    [['prod'], 'error: too many arguments'],
    [['--require-approval', 'no'], "argument 'no' is invalid"],
    [['--removed-stacks', 'yes'], "argument 'yes' is invalid"],
  ])('deploys nothing for the unknown argument %o', async (args, message) => {
    const { code, stdout, stderr } = await run(args);
    expect(stderr).toContain(message);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  });

  test.each([
    [['--region', region], { STAGE: 'live' }, 'STAGE: must be dev, staging or prod\n'],
    [['--region', region, '--profile', 'prd'], {}, 'no AWS profile prd; this machine has no profiles\n'],
    [[], {}, 'no region; set --region or AWS_REGION, or a region in the profile\n'],
  ])('stops with one line for the arguments %o and the variables %o', async (args, env, stderr) => {
    expect(await run(args, env)).toEqual({ code: 1, stdout: '', stderr });
  });

  test('stops before the build without credentials', async () => {
    const { code, stdout, stderr } = await run(['--region', region]);
    expect([code, stdout.split('\n')[0]]).toEqual([1, 'dev in eu-west-1, by the credentials that the SDK finds']);
    expect(stderr).toBe(
      'no AWS credentials; set --profile or AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY\n',
    );
  });

  test('stops before any AWS call for a prod stage without settings, and names each setting', async () => {
    const { code, stdout } = await run(['--region', region], { STAGE: 'prod' });
    const lines = stdout.trim().split('\n');
    expect(lines.slice(1, -1).filter((line) => !line.startsWith('refused: '))).toEqual([]);
    expect([code, lines.at(-1)]).toEqual([
      1,
      'nothing is deployed; to deploy in spite of these findings: npm run deploy -- --force',
    ]);
  });
});
