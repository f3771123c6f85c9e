import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Account, accountOf, deploy, type Given } from '../../infra/deploy.ts';
import { temporaryFolder } from './synthesized.ts';

const ACCOUNT: Account = { profile: 'prod', region: 'eu-west-1' };

const deployed = async (given: Partial<Given> = {}, account = ACCOUNT, code = 0) => {
  const steps = { say: vi.fn(), cdk: vi.fn(async () => code), webhooks: vi.fn(async () => 'put') };
  const exitCode = await deploy({ requireApproval: 'broadening', ...given }, account, steps);
  return { exitCode, ...steps };
};

describe('a deployment', () => {
  it('uses one profile and one region for the stacks and for the webhooks', async () => {
    const { exitCode, cdk, webhooks } = await deployed();
    const args = ['deploy', '--all', '--require-approval', 'broadening', '--profile', 'prod'];
    expect(cdk).toHaveBeenCalledExactlyOnceWith(args, { AWS_REGION: 'eu-west-1' });
    expect(webhooks).toHaveBeenCalledExactlyOnceWith(ACCOUNT);
    expect(exitCode).toBe(0);
  });

  it('leaves the search for credentials to both where no profile is named', async () => {
    const { cdk } = await deployed({ requireApproval: 'never' }, { region: 'eu-west-1' });
    const args = ['deploy', '--all', '--require-approval', 'never'];
    expect(cdk).toHaveBeenCalledExactlyOnceWith(args, { AWS_REGION: 'eu-west-1' });
  });

  it('puts no webhooks where the stacks failed', async () => {
    const { exitCode, webhooks } = await deployed({}, ACCOUNT, 3);
    expect(webhooks).not.toHaveBeenCalled();
    expect(exitCode).toBe(3);
  });

  it('leaves the stacks alone where only the webhooks are asked for', async () => {
    const { cdk, webhooks } = await deployed({ webhooksOnly: true });
    expect(cdk).not.toHaveBeenCalled();
    expect(webhooks).toHaveBeenCalledExactlyOnceWith(ACCOUNT);
  });
});

describe('the account that is deployed to', () => {
  // The files of this kind of test share their process.
  afterEach(() => vi.unstubAllEnvs());
  const config = join(temporaryFolder(), 'config');
  writeFileSync(config, '[profile prod]\nregion = eu-north-1\n\n[profile bare]\noutput = json\n');

  it.each([
    [{ profile: 'prod', region: 'us-west-2' }, { AWS_PROFILE: 'dev', AWS_REGION: 'eu-west-1' }, 'prod', 'us-west-2'],
    [{}, { AWS_PROFILE: 'dev', AWS_REGION: 'eu-west-1', AWS_DEFAULT_REGION: 'eu-west-3' }, 'dev', 'eu-west-1'],
    [{}, { AWS_DEFAULT_PROFILE: 'dev', AWS_DEFAULT_REGION: 'eu-west-3' }, 'dev', 'eu-west-3'],
    [{}, { AWS_REGION: 'eu-west-1' }, undefined, 'eu-west-1'],
    [{ profile: 'prod' }, {}, 'prod', 'eu-north-1'],
  ])('follows from %o before %o, then from the profile', async (...[given, variables, profile, region]) => {
    vi.stubEnv('AWS_CONFIG_FILE', config).stubEnv('AWS_REGION', undefined);
    expect(await accountOf(given, variables)).toEqual({ ...(profile && { profile }), region });
  });

  it('is refused where nobody says the region', async () => {
    vi.stubEnv('AWS_CONFIG_FILE', config).stubEnv('AWS_REGION', undefined);
    await expect(accountOf({ profile: 'bare' }, {})).rejects.toThrow('no region: say --region or AWS_REGION');
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

  it.each([
    [['--profle', 'prod'], "error: unknown option '--profle'"],
    [['prod'], 'error: too many arguments'],
    [['--require-approval', 'no'], "argument 'no' is invalid"],
  ])('deploys nothing where it is told %o, which it does not know', async (args, message) => {
    const { code, stdout, stderr } = await run(args);
    expect(stderr).toContain(message);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  });

  it('deploys nothing where a setting is wrong', async () => {
    const { code, stdout, stderr } = await run(['--region', 'eu-west-1'], { STAGE: 'live' });
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: 'STAGE: dev, staging or prod is wanted\n',
    });
  });
});
