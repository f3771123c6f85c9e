import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { argv, env, execPath, exit, stderr, stdin, stdout } from 'node:process';
import { createInterface } from 'node:readline/promises';
import { ApiGatewayV2Client } from '@aws-sdk/client-apigatewayv2';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { Command, Option } from 'commander';
import { keysOf } from '../../shared/core/rows.ts';
import { cdkProgram } from './cdk-command.ts';
import { putWebhooks } from './put-webhooks.ts';
import { accountClients, readAccount } from './stage/account.ts';
import { readBuiltStage } from './stage/assembly.ts';
import { type CheckResult, runChecks } from './stage/checks.ts';
import { releaseMovedRoutes } from './stage/moved-routes.ts';
import { deleteOtherRouteSettings } from './stage/removed-routes.ts';
import { describeRemovedStack, destroyStacks, findRemovedStacks, type RemovedStack } from './stage/removed-stacks.ts';
import { type DeploymentSettings, readDeploymentSettings } from './stage/settings.ts';

/** Options of `npm run deploy`, in addition to the settings. */
export interface Given {
  readonly profile?: string;
  readonly region?: string;
  readonly requireApproval: keyof typeof APPROVED;
  readonly removedStacks: (typeof REMOVED_STACKS)[number];
  readonly force?: boolean;
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
  /** Checks the settings, the built stacks and the account. */
  readonly check: (account: Account) => Promise<CheckResult>;
  /** @returns the deployed stacks that the build no longer has. */
  readonly removedStacks: (account: Account) => Promise<readonly RemovedStack[]>;
  readonly destroy: (account: Account, stacks: readonly RemovedStack[]) => Promise<void>;
  /**
   * Deletes the deployed limits of removed routes, or of all routes that the build does not limit.
   * @returns these routes.
   */
  readonly deleteRouteSettings: (account: Account, of: 'removed' | 'unlimited') => Promise<readonly string[]>;
}

/**
 * Deploys the stacks, then the webhook targets into the secret that the stacks hold. Stacks that the build no longer
 * has are destroyed last, when no deployed stack uses them. @returns the exit code.
 */
export const deploy = async (given: Given, account: Account, steps: Steps): Promise<number> => {
  const { say, webhooks, destroy, deleteRouteSettings } = steps;
  if (given.webhooksOnly === true) {
    say(await webhooks(account));
    return 0;
  }
  const { code, removed } = await deployStacks(given, account, steps);
  if (code !== 0) {
    say('the stacks are not deployed; the webhooks stay as they are');
    return code;
  }
  say(await webhooks(account));
  for (const route of await deleteRouteSettings(account, 'unlimited')) say(`${route} has the limits of the stage`);
  await destroy(account, removed);
  return 0;
};

interface Deployed {
  /** The exit code. */
  readonly code: number;
  /** The stacks to destroy. */
  readonly removed: readonly RemovedStack[];
}
const stopped = (code: number): Deployed => ({ code, removed: [] });

/** CDK would ask before each stack, so all changes are shown and approved first. */
const deployStacks = async (given: Given, account: Account, steps: Steps): Promise<Deployed> => {
  const { say, cdk, check, deleteRouteSettings } = steps;
  const run = (args: readonly string[]): Promise<number> =>
    cdk([...args, ...(account.profile === undefined ? [] : ['--profile', account.profile])], {
      AWS_REGION: account.region,
      CHECKS: 'off',
    });
  const built = await run(['synth', '--quiet']);
  if (built !== 0) return stopped(built);
  const { refused, text } = await check(account);
  if (text !== '') say(text);
  if (refused) {
    say('nothing is deployed; to deploy in spite of these findings: npm run deploy -- --force');
    return stopped(1);
  }
  const asks = APPROVED[given.requireApproval];
  if (asks && (await run(['diff', ...BUILT, '--method', 'template', '--fail', ...asks])) !== 0) {
    if (!(await approve('Deploy these changes?', '--require-approval never', steps))) return stopped(1);
  }
  const removed = await stacksToDestroy(given, account, steps);
  if (removed === undefined) return stopped(1);
  for (const route of await deleteRouteSettings(account, 'removed')) say(`the limits of ${route} are deleted`);
  const code = await run(['deploy', '--all', ...BUILT, '--require-approval', 'never']);
  return { code, removed };
};

const approve = async (question: string, option: string, { say, ask }: Steps): Promise<boolean> => {
  const approved = await ask(question);
  if (approved === undefined) say(`the changes need approval at a terminal, or ${option}`);
  return approved === true;
};

/** @returns undefined if the operator does not decide. */
const stacksToDestroy = async (
  { removedStacks }: Given,
  account: Account,
  steps: Steps,
): Promise<readonly RemovedStack[] | undefined> => {
  const removed = await steps.removedStacks(account);
  for (const stack of removed) steps.say(describeRemovedStack(stack));
  if (removed.length === 0 || removedStacks === 'keep') return [];
  if (removedStacks === 'destroy') return removed;
  const question = 'Destroy these stacks after the deployment?';
  return (await approve(question, '--removed-stacks destroy or keep', steps)) ? removed : undefined;
};

/** What happens to deployed stacks that the build no longer has. */
const REMOVED_STACKS = ['ask', 'destroy', 'keep'] as const;

const OUTPUT_FOLDER = 'cdk.out';

/** `cdk diff` and `cdk deploy` use the same build, so the operator deploys exactly the changes shown. */
const BUILT = ['--app', OUTPUT_FOLDER];

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

const ROOT = resolve(import.meta.dirname, '../..');

const steps = (settings: DeploymentSettings): Steps => ({
  say: (line) => stdout.write(`${line}\n`),
  cdk: (args, variables) =>
    new Promise((done, fail) => {
      const child = spawn(execPath, [cdkProgram(), ...args], {
        cwd: ROOT,
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
  check: async (account) =>
    runChecks({
      settings,
      catalogue: await import('../../functions/api/catalogue.ts'),
      built: builtStage(),
      account: await readAccount(accountClients(account), settings.stage),
    }),
  removedStacks: (account) =>
    findRemovedStacks(new CloudFormationClient(account), settings.stage, new Set(builtStage().resources.keys())),
  destroy: (account, stacks) =>
    destroyStacks(new CloudFormationClient(account), stacks, (line) => stdout.write(`${line}\n`)),
  deleteRouteSettings: async (account, of) => {
    const clients = { cloudFormation: new CloudFormationClient(account), gateway: new ApiGatewayV2Client(account) };
    const built = builtStage();
    if (of === 'removed') await releaseMovedRoutes(clients, settings.stage, built);
    return deleteOtherRouteSettings(clients, settings.stage, of === 'removed' ? built.routes : built.routeSettings);
  },
});

const builtStage = () => readBuiltStage(join(ROOT, OUTPUT_FOLDER));

const command = new Command('deploy')
  .description('Deploys every stack of the stage, then stores the webhook targets in their secret.')
  .option('--profile <name>', 'the AWS profile; default: AWS_PROFILE, then the credentials that the SDK finds')
  .option('--region <name>', 'the AWS region; default: AWS_REGION, AWS_DEFAULT_REGION, then the region of the profile')
  .addOption(
    new Option('--require-approval <changes>', 'which changes of rights need approval first')
      .choices(keysOf(APPROVED))
      .default('broadening'),
  )
  .addOption(
    new Option('--removed-stacks <action>', 'what happens to deployed stacks that this build no longer has')
      .choices(REMOVED_STACKS)
      .default('ask'),
  )
  .option('--force', 'deploy in spite of failed checks')
  .option('--webhooks-only', 'deploy no stack')
  .action(async (given: Given) => {
    const read = readDeploymentSettings();
    const settings: DeploymentSettings = given.force === true ? { ...read, checks: 'warn' } : read;
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
