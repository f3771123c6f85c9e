/** @module The command behind `npm run deploy`, with the clients of AWS and the CLI of CDK. */

import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { env, execPath, exit, stderr, stdin, stdout } from 'node:process';
import { createInterface } from 'node:readline';
import { createInterface as createTerminal } from 'node:readline/promises';
import { stripVTControlCharacters } from 'node:util';
import { ApiGatewayV2Client } from '@aws-sdk/client-apigatewayv2';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { Command, Option } from 'commander';
import { cdkProgram } from './cdk-command.ts';
import { APPROVALS, deploy, type Given, REMOVED_STACKS, type Steps } from './deployment.ts';
import { putWebhooks } from './put-webhooks.ts';
import { OUTPUT_FOLDER } from './stack-runs.ts';
import { type AccountFacts, accountClients, readAccount } from './stage/account.ts';
import { readBuiltStage } from './stage/assembly.ts';
import { readBuiltStacks } from './stage/built-stacks.ts';
import { takeChangeSet } from './stage/change-sets.ts';
import { runChecks } from './stage/checks.ts';
import { compareStage } from './stage/deployed-stacks.ts';
import { type Account, accountOf, identifyCaller, requireRegion } from './stage/identity.ts';
import { deleteMovedRoutes, findMovedRoutes } from './stage/moved-routes.ts';
import { deleteOtherRouteSettings } from './stage/removed-routes.ts';
import { destroyStacks, findRemovedStacks } from './stage/removed-stacks.ts';
import { type DeploymentSettings, readDeploymentSettings } from './stage/settings.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const say = (line: string): void => void stdout.write(`${line}\n`);
const builtStage = () => readBuiltStage(join(ROOT, OUTPUT_FOLDER));

const stepsOf = (settings: DeploymentSettings): Steps => ({
  say,
  cdk: runCdk,
  ask: askAtTerminal,
  identify: identifyCaller,
  check: checksOf(settings),
  compare: (account) =>
    compareStage(new CloudFormationClient(account), settings.stage, readBuiltStacks(join(ROOT, OUTPUT_FOLDER))),
  takeChangeSet: (account, stack, verbose) => takeChangeSet(new CloudFormationClient(account), stack, verbose),
  statusOf: async (account, StackName) => {
    const described = await new CloudFormationClient(account)
      .send(new DescribeStacksCommand({ StackName }))
      .catch(() => undefined);
    return described?.Stacks?.[0]?.StackStatus ?? 'its status cannot be read';
  },
  webhooks: (account) => putWebhooks(new SecretsManagerClient(account), settings),
  removedStacks: (account) =>
    findRemovedStacks(new CloudFormationClient(account), settings.stage, new Set(builtStage().resources.keys())),
  destroy: (account, stacks) => destroyStacks(new CloudFormationClient(account), stacks, say),
  movedRoutes: (account, removed) => findMovedRoutes(new CloudFormationClient(account), removed, builtStage()),
  deleteRoutes: (account, routes) => deleteMovedRoutes(gatewayClients(account), settings.stage, routes),
  deleteRouteSettings: (account, of) => {
    const { routes, routeSettings } = builtStage();
    const wanted = of === 'removed' ? routes : routeSettings;
    return deleteOtherRouteSettings(gatewayClients(account), settings.stage, wanted);
  },
});

const gatewayClients = (account: Account) => ({
  cloudFormation: new CloudFormationClient(account),
  gateway: new ApiGatewayV2Client(account),
});

/** Reads the account once for all phases, and reports each finding only in the first phase that finds it. */
const checksOf = (settings: DeploymentSettings): Steps['check'] => {
  const said = new Set<string>();
  let read: AccountFacts | undefined;
  return async (account, phase) => {
    const catalogue = await import('../../functions/api/catalogue.ts');
    if (phase !== 'settings') read ??= await readAccount(accountClients(account), settings.stage);
    const { refused, text } = runChecks({
      settings,
      catalogue,
      ...(read && { account: read }),
      ...(phase === 'build' && { built: builtStage() }),
    });
    const lines = text.split('\n').filter((line) => !said.has(line));
    for (const line of lines) said.add(line);
    return { refused, text: lines.join('\n') };
  };
};

/** Without `onLine`, CDK prints to the terminal itself. */
const runCdk: Steps['cdk'] = (args, variables, onLine) =>
  new Promise((done, fail) => {
    const child = spawn(execPath, [cdkProgram(), ...args], {
      cwd: ROOT,
      env: { ...env, ...variables },
      stdio: onLine === undefined ? 'inherit' : ['ignore', 'pipe', 'pipe'],
    });
    if (onLine !== undefined) {
      for (const input of [child.stdout, child.stderr])
        if (input) createInterface({ input }).on('line', (line) => onLine(stripVTControlCharacters(line)));
    }
    child.on('error', fail);
    child.on('close', (code) => done(code ?? 1));
  });

const askAtTerminal = async (question: string): Promise<boolean | undefined> => {
  if (!stdin.isTTY) return undefined;
  const terminal = createTerminal({ input: stdin, output: stdout });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} (y/n) `)).trim());
  } finally {
    terminal.close();
  }
};

const command = new Command('deploy')
  .description('Deploys every stack of the stage, then stores the webhook targets in their secret.')
  .option('--profile <name>', 'the AWS profile; default: AWS_PROFILE, then the credentials that the SDK finds')
  .option('--region <name>', 'the AWS region; default: AWS_REGION, AWS_DEFAULT_REGION, then the region of the profile')
  .option('--plan', 'show what would change, and change no stack')
  .addOption(
    new Option('--require-approval <changes>', 'which changes of rights need approval first')
      .choices(APPROVALS)
      .default('broadening'),
  )
  .addOption(
    new Option(
      '--removed-stacks <action>',
      'what happens to deployed stacks that this build no longer has; destroy: also to stacks that were never created in full',
    )
      .choices(REMOVED_STACKS)
      .default('ask'),
  )
  .option('--verbose', 'name each resource that changes, and print all that CDK prints')
  .option('--force', 'deploy in spite of failed checks')
  .option('--webhooks-only', 'deploy no stack')
  .action(async (given: Given) => {
    const read = readDeploymentSettings();
    const settings: DeploymentSettings = given.force === true ? { ...read, checks: 'warn' } : read;
    const account = await accountOf(given, env);
    const { profile, region } = account;
    if (given.force !== true) requireRegion(region);
    say(
      `${settings.stage} in ${region}, by ${profile ? `the profile ${profile}` : 'the credentials that the SDK finds'}`,
    );
    exit(await deploy(given, account, stepsOf(settings)));
  });

await command.parseAsync().catch((error: unknown) => {
  stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  exit(1);
});
