import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { argv, env, execPath, exit, stderr, stdout } from 'node:process';
import { fileURLToPath } from 'node:url';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { Command, Option } from 'commander';
import { putWebhooks } from './put-webhooks.ts';
import { type DeploymentSettings, readDeploymentSettings } from './stage/settings.ts';

/** Options of `npm run deploy`, beside the settings. */
export interface Given {
  readonly profile?: string;
  readonly region?: string;
  readonly requireApproval: string;
  readonly webhooksOnly?: boolean;
}

/** The AWS profile and region, the same for both steps. */
export interface Account {
  /** undefined: the SDK searches itself. */
  readonly profile?: string;
  readonly region: string;
}

export interface Steps {
  readonly say: (line: string) => void;
  /** Runs CDK with these variables beside the environment. @returns its exit code. */
  readonly cdk: (args: readonly string[], variables: Readonly<Record<string, string>>) => Promise<number>;
  readonly webhooks: (account: Account) => Promise<string>;
}

/** Deploys the stacks, then the webhook targets into the secret that the stacks hold. @returns the exit code. */
export const deploy = async (given: Given, account: Account, { say, cdk, webhooks }: Steps): Promise<number> => {
  const { profile, region } = account;
  if (given.webhooksOnly !== true) {
    const args = ['deploy', '--all', '--require-approval', given.requireApproval];
    const code = await cdk([...args, ...(profile === undefined ? [] : ['--profile', profile])], { AWS_REGION: region });
    if (code !== 0) {
      say('the stacks are not deployed; the webhooks stay as they are');
      return code;
    }
  }
  say(await webhooks(account));
  return 0;
};

type Variables = Readonly<Record<string, string | undefined>>;

/** @throws where no region is found: CDK would use us-east-1, and the SDK fails. */
export const accountOf = async ({ profile, region }: Partial<Given>, variables: Variables): Promise<Account> => {
  const named = profile || variables['AWS_PROFILE'] || variables['AWS_DEFAULT_PROFILE'];
  const by = named ? { profile: named } : {};
  const asked = region || variables['AWS_REGION'] || variables['AWS_DEFAULT_REGION'];
  return { ...by, region: asked || (await regionOf(by)) };
};

const regionOf = (by: { readonly profile?: string }): Promise<string> =>
  new SecretsManagerClient(by).config.region().catch((cause: unknown) => {
    throw new Error('no region: say --region or AWS_REGION, or give the profile one', { cause });
  });

const CDK = fileURLToPath(import.meta.resolve('aws-cdk/bin/cdk'));

const steps = (settings: DeploymentSettings): Steps => ({
  say: (line) => stdout.write(`${line}\n`),
  cdk: (args, variables) =>
    new Promise((done, fail) => {
      const child = spawn(execPath, [CDK, ...args], {
        cwd: resolve(import.meta.dirname, '..'),
        env: { ...env, ...variables },
        stdio: 'inherit',
      });
      child.on('error', fail);
      child.on('close', (code) => done(code ?? 1));
    }),
  webhooks: (account) => putWebhooks(new SecretsManagerClient(account), settings),
});

const command = new Command('deploy')
  .description('Deploys every stack of the stage, then stores the webhook targets in their secret.')
  .option('--profile <name>', 'the AWS profile; without it AWS_PROFILE, then what the SDK finds')
  .option('--region <name>', 'the AWS region; without it AWS_REGION, AWS_DEFAULT_REGION, then the profile’s')
  .addOption(
    new Option('--require-approval <changes>', 'which changes of rights need approval first')
      .choices(['never', 'any-change', 'broadening'])
      .default('broadening'),
  )
  .option('--webhooks-only', 'deploy no stack')
  .action(async (given: Given) => {
    const settings = readDeploymentSettings();
    const account = await accountOf(given, env);
    const { profile, region } = account;
    stdout.write(`${settings.stage} in ${region}, by ${profile ? `the profile ${profile}` : 'what the SDK finds'}\n`);
    exit(await deploy(given, account, steps(settings)));
  });

if (import.meta.filename === resolve(argv[1] ?? '')) {
  await command.parseAsync().catch((error: unknown) => {
    stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    exit(1);
  });
}
