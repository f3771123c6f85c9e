import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type Account, accountOf, deploy, type Given, type Steps } from '../../infra/deploy/deploy.ts';
import type { RemovedStack } from '../../infra/deploy/stage/removed-stacks.ts';
import { temporaryFolder } from './synthesized.ts';

const ACCOUNT: Account = { profile: 'prod', region: 'eu-west-1' };

interface CommandResults {
  readonly synth?: number;
  readonly diff?: number;
  readonly deploy?: number;
  readonly approves?: boolean | undefined;
  readonly refused?: string;
  readonly warning?: string;
  readonly removed?: readonly RemovedStack[];
}

const CONSOLE: RemovedStack = {
  name: 'payments-prod-api-console',
  id: 'arn:console',
  isProtected: true,
  kept: ['log group Logs'],
  lost: [],
};

const deployed = async (given: Partial<Given> = {}, account = ACCOUNT, results: CommandResults = {}) => {
  const { synth = 0, diff = 0, deploy: deploys = 0, approves, refused, warning = '', removed = [] } = results;
  const order: string[] = [];
  const done = (name: string): void => void order.push(name);
  const steps = {
    say: vi.fn(),
    ask: vi.fn(async () => approves),
    cdk: vi.fn(async (...[[command = '']]: Parameters<Steps['cdk']>) => {
      done(command);
      return command === 'synth' ? synth : command === 'diff' ? diff : deploys;
    }),
    webhooks: vi.fn(async () => {
      done('webhooks');
      return 'put';
    }),
    check: vi.fn(async () => ({ refused: refused !== undefined, text: refused ?? warning })),
    removedStacks: vi.fn(async () => removed),
    destroy: vi.fn(async () => done('destroy')),
    deleteRouteSettings: vi.fn(async (...[, of]: Parameters<Steps['deleteRouteSettings']>) => {
      done(`limits of ${of} routes`);
      return [];
    }),
  };
  const exitCode = await deploy({ requireApproval: 'broadening', removedStacks: 'ask', ...given }, account, steps);
  return { exitCode, order, commands: steps.cdk.mock.calls.map(([args]) => args.join(' ')), ...steps };
};

const SYNTH = 'synth --quiet --profile prod';
const DIFF = 'diff --app cdk.out --method template --fail --security-only --profile prod';
const DEPLOYS = 'deploy --all --app cdk.out --require-approval never --profile prod';

describe('a deployment', () => {
  test('uses one profile and one region for the stacks and for the webhooks, and builds once', async () => {
    const { exitCode, commands, cdk, webhooks, ask } = await deployed();
    expect(commands).toEqual([SYNTH, DIFF, DEPLOYS]);
    for (const [, variables] of cdk.mock.calls) expect(variables).toEqual({ AWS_REGION: 'eu-west-1', CHECKS: 'off' });
    expect(webhooks).toHaveBeenCalledExactlyOnceWith(ACCOUNT);
    expect(ask).not.toHaveBeenCalled();
    expect(exitCode).toBe(0);
  });

  test('leaves the credentials to both tools without a profile, and shows only changes that need approval', async () => {
    const { commands } = await deployed({ requireApproval: 'never' }, { region: 'eu-west-1' });
    expect(commands).toEqual(['synth --quiet', 'deploy --all --app cdk.out --require-approval never']);
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

  test('deploys nothing if a check refuses the stage, and names every finding with the way to go on', async () => {
    const { exitCode, commands, say, webhooks } = await deployed({}, ACCOUNT, { refused: 'refused: too much' });
    expect([exitCode, commands]).toEqual([1, [SYNTH]]);
    expect(say).toHaveBeenCalledWith('refused: too much');
    expect(say).toHaveBeenCalledWith(expect.stringContaining('npm run deploy -- --force'));
    expect(webhooks).not.toHaveBeenCalled();
  });

  test('shows warnings and continues', async () => {
    const { exitCode, commands, say } = await deployed({}, ACCOUNT, { warning: 'warning: low' });
    expect([exitCode, commands]).toEqual([0, [SYNTH, DIFF, DEPLOYS]]);
    expect(say).toHaveBeenCalledWith('warning: low');
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

describe('stacks that the build no longer has', () => {
  const removed = { removed: [CONSOLE] };

  test('are named with their data, and destroyed after the other stacks are deployed', async () => {
    const { exitCode, order, say, ask, destroy } = await deployed({}, ACCOUNT, { ...removed, approves: true });
    expect(ask).toHaveBeenCalledExactlyOnceWith('Destroy these stacks after the deployment?');
    expect(say).toHaveBeenCalledWith(
      'payments-prod-api-console is no longer part of the stage; kept without a stack: log group Logs',
    );
    expect(order).toEqual([
      'synth',
      'diff',
      'limits of removed routes',
      'deploy',
      'webhooks',
      'limits of unlimited routes',
      'destroy',
    ]);
    expect(destroy).toHaveBeenCalledExactlyOnceWith(ACCOUNT, [CONSOLE]);
    expect(exitCode).toBe(0);
  });

  test.each([[false], [undefined]])('stop the deployment if the operator replies %s', async (approves) => {
    const { exitCode, commands, destroy, deleteRouteSettings } = await deployed({}, ACCOUNT, { ...removed, approves });
    expect([exitCode, commands]).toEqual([1, [SYNTH, DIFF]]);
    expect(destroy).not.toHaveBeenCalled();
    expect(deleteRouteSettings).not.toHaveBeenCalled();
  });

  test('need an option without a terminal', async () => {
    const { say } = await deployed({}, ACCOUNT, { ...removed, approves: undefined });
    expect(say).toHaveBeenCalledWith(expect.stringContaining('--removed-stacks destroy or keep'));
    const destroyed = await deployed({ removedStacks: 'destroy' }, ACCOUNT, removed);
    expect(destroyed.destroy).toHaveBeenCalledExactlyOnceWith(ACCOUNT, [CONSOLE]);
    const kept = await deployed({ removedStacks: 'keep' }, ACCOUNT, removed);
    expect([kept.exitCode, kept.destroy.mock.calls]).toEqual([0, [[ACCOUNT, []]]]);
  });

  test('stay if the deployment of the others fails', async () => {
    const { destroy } = await deployed({ removedStacks: 'destroy' }, ACCOUNT, { ...removed, deploy: 3 });
    expect(destroy).not.toHaveBeenCalled();
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
  const DEPLOY = resolve(import.meta.dirname, '../../infra/deploy/deploy.ts');
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
    [['--removed-stacks', 'yes'], "argument 'yes' is invalid"],
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
