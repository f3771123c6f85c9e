import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { argv, env, execPath, exit, stderr, stdin, stdout } from 'node:process';
import { createInterface } from 'node:readline/promises';
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { Command, Option } from 'commander';
import { keysOf } from '../shared/core/rows.ts';
import { cdkProgram } from './cdk-command.ts';
import { reservedInAll } from './constructs/bulkheads.ts';
import { putWebhooks } from './put-webhooks.ts';
import { type DeploymentSettings, readDeploymentSettings } from './stage/settings.ts';

/** Options of `npm run deploy`, in addition to the settings. */
export interface Given {
  readonly profile?: string;
  readonly region?: string;
  readonly requireApproval: keyof typeof APPROVED;
  readonly webhooksOnly?: boolean;
}

/** The AWS profile and region, the same for both steps. */
export interface Account {
  /** If undefined, the SDK finds the credentials itself. */
  readonly profile?: string;
  readonly region: string;
}

export interface Steps {
  readonly say: (line: string) => void;
  /** Asks the operator. @returns undefined if no terminal is attached. */
  readonly ask: (question: string) => Promise<boolean | undefined>;
  /** Runs CDK with these variables added to the environment. @returns its exit code. */
  readonly cdk: (args: readonly string[], variables: Readonly<Record<string, string>>) => Promise<number>;
  readonly webhooks: (account: Account) => Promise<string>;
  /** @returns why the reserved concurrency does not fit the account, if it does not. */
  readonly concurrency: (account: Account) => Promise<string | undefined>;
}

/** Deploys the stacks, then the webhook targets into the secret that the stacks hold. @returns the exit code. */
export const deploy = async (given: Given, account: Account, steps: Steps): Promise<number> => {
  const { say, webhooks } = steps;
  if (given.webhooksOnly !== true) {
    const code = await deployStacks(given, account, steps);
    if (code !== 0) {
      say('the stacks are not deployed; the webhooks stay as they are');
      return code;
    }
  }
  say(await webhooks(account));
  return 0;
};

/** CDK deploys at most this many independent stacks at the same time. */
const SIDE_BY_SIDE = 6;

/** CDK cannot ask while it deploys stacks in parallel, so all changes are shown and approved first. */
const deployStacks = async (given: Given, account: Account, { say, ask, cdk, concurrency }: Steps): Promise<number> => {
  const tooMuch = await concurrency(account);
  if (tooMuch !== undefined) {
    say(tooMuch);
    return 1;
  }
  const run = (args: readonly string[]): Promise<number> =>
    cdk([...args, ...(account.profile === undefined ? [] : ['--profile', account.profile])], {
      AWS_REGION: account.region,
    });
  const built = await run(['synth', '--quiet']);
  if (built !== 0) return built;
  const asks = APPROVED[given.requireApproval];
  if (asks && (await run(['diff', ...BUILT, '--method', 'template', '--fail', ...asks])) !== 0) {
    const approved = await ask('Deploy these changes?');
    if (approved === undefined) say('the changes need approval at a terminal, or --require-approval never');
    if (approved !== true) return 1;
  }
  return run(['deploy', '--all', ...BUILT, '--require-approval', 'never', '--concurrency', String(SIDE_BY_SIDE)]);
};

/** `cdk diff` and `cdk deploy` use the same build, so the operator deploys exactly the changes shown. */
const BUILT = ['--app', 'cdk.out'];

/** The options of `cdk diff` that show the changes that need approval. */
const APPROVED = { never: undefined, 'any-change': [], broadening: ['--security-only'] };

type Variables = Readonly<Record<string, string | undefined>>;

/** @throws Error if no region is found, because CDK would use us-east-1 while the SDK fails. */
export const accountOf = async ({ profile, region }: Partial<Given>, variables: Variables): Promise<Account> => {
  const named = profile || variables['AWS_PROFILE'] || variables['AWS_DEFAULT_PROFILE'];
  const by = named ? { profile: named } : {};
  const asked = region || variables['AWS_REGION'] || variables['AWS_DEFAULT_REGION'];
  return { ...by, region: asked || (await regionOf(by)) };
};

const regionOf = (by: { readonly profile?: string }): Promise<string> =>
  new SecretsManagerClient(by).config.region().catch((cause: unknown) => {
    throw new Error('no region; set --region or AWS_REGION, or a region in the profile', { cause });
  });

const steps = (settings: DeploymentSettings): Steps => ({
  say: (line) => stdout.write(`${line}\n`),
  cdk: (args, variables) =>
    new Promise((done, fail) => {
      const child = spawn(execPath, [cdkProgram(), ...args], {
        cwd: resolve(import.meta.dirname, '..'),
        env: { ...env, ...variables },
        stdio: 'inherit',
      });
      child.on('error', fail);
      child.on('close', (code) => done(code ?? 1));
    }),
  ask: async (question) => {
    if (!stdin.isTTY) return undefined;
    const terminal = createInterface({ input: stdin, output: stdout });
    try {
      return /^y(es)?$/i.test((await terminal.question(`${question} (y/n) `)).trim());
    } finally {
      terminal.close();
    }
  },
  webhooks: (account) => putWebhooks(new SecretsManagerClient(account), settings),
  concurrency: (account) => concurrencyProblem(new LambdaClient(account), settings),
});

/** AWS always keeps this many instances for the functions without a reservation. */
const UNRESERVED = 100;

/** @returns why CloudFormation would refuse the reservations; undefined if they fit the account, or none are made. */
export const concurrencyProblem = async (
  client: LambdaClient,
  { bulkheads }: Pick<DeploymentSettings, 'bulkheads'>,
): Promise<string | undefined> => {
  if (bulkheads === undefined) return undefined;
  const reserved = reservedInAll(await import('../functions/api/catalogue.ts'), bulkheads);
  const { AccountLimit } = await client.send(new GetAccountSettingsCommand({}));
  const limit = AccountLimit?.ConcurrentExecutions ?? 0;
  if (reserved + UNRESERVED <= limit) return undefined;
  return (
    `BULKHEADS=on reserves ${reserved} instances and AWS keeps ${UNRESERVED}, but the account may run ${limit}; ` +
    'request a higher limit (Service Quotas, AWS Lambda, Concurrent executions), or set BULKHEADS=off'
  );
};

const command = new Command('deploy')
  .description('Deploys every stack of the stage, then stores the webhook targets in their secret.')
  .option('--profile <name>', 'the AWS profile; default: AWS_PROFILE, then the credentials that the SDK finds')
  .option('--region <name>', 'the AWS region; default: AWS_REGION, AWS_DEFAULT_REGION, then the region of the profile')
  .addOption(
    new Option('--require-approval <changes>', 'which changes of rights need approval first')
      .choices(keysOf(APPROVED))
      .default('broadening'),
  )
  .option('--webhooks-only', 'deploy no stack')
  .action(async (given: Given) => {
    const settings = readDeploymentSettings();
    const account = await accountOf(given, env);
    const { profile, region } = account;
    stdout.write(
      `${settings.stage} in ${region}, by ${profile ? `the profile ${profile}` : 'the credentials that the SDK finds'}\n`,
    );
    exit(await deploy(given, account, steps(settings)));
  });

if (import.meta.filename === resolve(argv[1] ?? '')) {
  await command.parseAsync().catch((error: unknown) => {
    stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    exit(1);
  });
}
