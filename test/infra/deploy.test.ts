import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Account, accountOf, concurrencyProblem, deploy, type Given, type Steps } from '../../infra/deploy.ts';
import { readDeploymentSettings } from '../../infra/stage/settings.ts';
import type { Environment } from '../../shared/core/setting.ts';
import { temporaryFolder } from './synthesized.ts';

const ACCOUNT: Account = { profile: 'prod', region: 'eu-west-1' };

interface CommandResults {
  readonly synth?: number;
  readonly diff?: number;
  readonly deploy?: number;
  readonly approves?: boolean | undefined;
  readonly tooMuch?: string;
}

const deployed = async (given: Partial<Given> = {}, account = ACCOUNT, results: CommandResults = {}) => {
  const { synth = 0, diff = 0, deploy: deploys = 0, approves, tooMuch } = results;
  const steps = {
    say: vi.fn(),
    ask: vi.fn(async () => approves),
    cdk: vi.fn(async (...[[command]]: Parameters<Steps['cdk']>) =>
      command === 'synth' ? synth : command === 'diff' ? diff : deploys,
    ),
    webhooks: vi.fn(async () => 'put'),
    concurrency: vi.fn(async () => tooMuch),
  };
  const exitCode = await deploy({ requireApproval: 'broadening', ...given }, account, steps);
  return { exitCode, commands: steps.cdk.mock.calls.map(([args]) => args.join(' ')), ...steps };
};

const SYNTH = 'synth --quiet --profile prod';
const DIFF = 'diff --app cdk.out --method template --fail --security-only --profile prod';
const DEPLOYS = 'deploy --all --app cdk.out --require-approval never --concurrency 6 --profile prod';

describe('a deployment', () => {
  test('uses one profile and one region for the stacks and for the webhooks, and builds once', async () => {
    const { exitCode, commands, cdk, webhooks, ask } = await deployed();
    expect(commands).toEqual([SYNTH, DIFF, DEPLOYS]);
    for (const [, variables] of cdk.mock.calls) expect(variables).toEqual({ AWS_REGION: 'eu-west-1' });
    expect(webhooks).toHaveBeenCalledExactlyOnceWith(ACCOUNT);
    expect(ask).not.toHaveBeenCalled();
    expect(exitCode).toBe(0);
  });

  test('leaves the credentials to both tools without a profile, and shows only changes that need approval', async () => {
    const { commands } = await deployed({ requireApproval: 'never' }, { region: 'eu-west-1' });
    expect(commands).toEqual(['synth --quiet', 'deploy --all --app cdk.out --require-approval never --concurrency 6']);
  });

  test('asks once for all stacks, before it deploys them in parallel', async () => {
    const approved = await deployed({}, ACCOUNT, { diff: 1, approves: true });
    expect(approved.ask).toHaveBeenCalledOnce();
    expect([approved.exitCode, approved.commands]).toEqual([0, [SYNTH, DIFF, DEPLOYS]]);
    const any = await deployed({ requireApproval: 'any-change' }, ACCOUNT, { diff: 1, approves: true });
    expect(any.commands[1]).toBe('diff --app cdk.out --method template --fail --profile prod');
  });

  test.each([[false], [undefined]])('deploys nothing if the operator replies %s', async (approves) => {
    const { exitCode, commands, webhooks } = await deployed({}, ACCOUNT, { diff: 1, approves });
    expect([exitCode, commands]).toEqual([1, [SYNTH, DIFF]]);
    expect(webhooks).not.toHaveBeenCalled();
  });

  test('deploys nothing if the account’s concurrency limit is below the reserved concurrency', async () => {
    const { exitCode, commands, say, webhooks } = await deployed({}, ACCOUNT, { tooMuch: 'too much' });
    expect([exitCode, commands]).toEqual([1, []]);
    expect(say).toHaveBeenCalledWith('too much');
    expect(webhooks).not.toHaveBeenCalled();
  });

  test('does not deploy an earlier build if the current build fails', async () => {
    const { exitCode, commands } = await deployed({}, ACCOUNT, { synth: 2 });
    expect([exitCode, commands]).toEqual([2, [SYNTH]]);
  });

  test('does not store the webhooks if the deployment of the stacks fails', async () => {
    const { exitCode, webhooks } = await deployed({}, ACCOUNT, { deploy: 3 });
    expect(webhooks).not.toHaveBeenCalled();
    expect(exitCode).toBe(3);
  });

  test('leaves the stacks unchanged if only the webhooks are requested', async () => {
    const { cdk, webhooks } = await deployed({ webhooksOnly: true });
    expect(cdk).not.toHaveBeenCalled();
    expect(webhooks).toHaveBeenCalledExactlyOnceWith(ACCOUNT);
  });
});

describe('reserved concurrency', () => {
  const lambda = mockClient(LambdaClient);
  beforeEach(() => lambda.reset());
  afterAll(() => lambda.restore());
  const problem = (env: Environment, limit: number) => {
    lambda.on(GetAccountSettingsCommand).resolves({ AccountLimit: { ConcurrentExecutions: limit } });
    return concurrencyProblem(new LambdaClient({ region: 'eu-west-1' }), readDeploymentSettings(env));
  };

  test('must leave at least 100 instances of the account unreserved', async () => {
    expect(await problem({ BULKHEADS: 'on' }, 612)).toBeUndefined();
    expect(await problem({ BULKHEADS: 'on' }, 611)).toContain('reserves 512 instances');
    expect(await problem({ BULKHEADS: 'on' }, 10)).toContain('the account may run 10; request a higher limit');
  });

  test('calls no AWS service if none is reserved', async () => {
    expect(await problem({}, 10)).toBeUndefined();
    expect(lambda.calls()).toEqual([]);
  });
});

describe('the account of a deployment', () => {
  // The files of this kind of test share their process.
  afterEach(() => vi.unstubAllEnvs());
  const config = join(temporaryFolder(), 'config');
  writeFileSync(config, '[profile prod]\nregion = eu-north-1\n\n[profile bare]\noutput = json\n');

  test.each([
    [{ profile: 'prod', region: 'us-west-2' }, { AWS_PROFILE: 'dev', AWS_REGION: 'eu-west-1' }, 'prod', 'us-west-2'],
    [{}, { AWS_PROFILE: 'dev', AWS_REGION: 'eu-west-1', AWS_DEFAULT_REGION: 'eu-west-3' }, 'dev', 'eu-west-1'],
    [{}, { AWS_DEFAULT_PROFILE: 'dev', AWS_DEFAULT_REGION: 'eu-west-3' }, 'dev', 'eu-west-3'],
    [{}, { AWS_REGION: 'eu-west-1' }, undefined, 'eu-west-1'],
    [{ profile: 'prod' }, {}, 'prod', 'eu-north-1'],
  ])('comes from %o before %o, then from the profile', async (...[given, variables, profile, region]) => {
    vi.stubEnv('AWS_CONFIG_FILE', config).stubEnv('AWS_REGION', undefined);
    expect(await accountOf(given, variables)).toEqual({ ...(profile && { profile }), region });
  });

  test('is refused without a region', async () => {
    vi.stubEnv('AWS_CONFIG_FILE', config).stubEnv('AWS_REGION', undefined);
    await expect(accountOf({ profile: 'bare' }, {})).rejects.toThrow('no region; set --region or AWS_REGION');
  });
});

describe('npm run deploy', () => {
  const DEPLOY = resolve(import.meta.dirname, '../../infra/deploy.ts');
  const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    new Promise<{ code: unknown; stdout: string; stderr: string }>((done) =>
      execFile(process.execPath, [DEPLOY, ...args], { env }, (error, stdout, stderr) =>
        done({ code: error?.code ?? 0, stdout, stderr }),
      ),
    );

  test.each([
    [['--profle', 'prod'], "error: unknown option '--profle'"],
    [['prod'], 'error: too many arguments'],
    [['--require-approval', 'no'], "argument 'no' is invalid"],
  ])('deploys nothing for the unknown argument %o', async (args, message) => {
    const { code, stdout, stderr } = await run(args);
    expect(stderr).toContain(message);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  });

  test('deploys nothing if a setting is wrong', async () => {
    const { code, stdout, stderr } = await run(['--region', 'eu-west-1'], { STAGE: 'live' });
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: 'STAGE: must be dev, staging or prod\n',
    });
  });
});
