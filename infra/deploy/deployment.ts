/** @module Runs a deployment in order. It checks, builds, compares and asks for approval before it changes anything. */

import { keysOf } from '../../shared/core/rows.ts';
import { describeRuns, type RunCdk, runStacks, type StackRun } from './stack-runs.ts';
import { PLANNED } from './stage/change-sets.ts';
import type { CheckResult } from './stage/checks.ts';
import { type ComparedStage, describeFailedStack, type FailedStack } from './stage/deployed-stacks.ts';
import type { Account } from './stage/identity.ts';
import { describeMovedRoutes, type MovedRoute, type MovedRoutes } from './stage/moved-routes.ts';
import { startWatch } from './stage/progress.ts';
import { describeRemovedStack, type RemovedStack } from './stage/removed-stacks.ts';
import { describeChanges, isChanged, isCodeOnly, type StackChange } from './stage/stack-changes.ts';
import { isBroadening } from './stage/template-rights.ts';

/** Options of `npm run deploy`, in addition to the settings. */
export interface Given {
  readonly profile?: string;
  readonly region?: string;
  readonly requireApproval: ApprovedChanges;
  readonly removedStacks: (typeof REMOVED_STACKS)[number];
  readonly force?: boolean;
  readonly webhooksOnly?: boolean;
  readonly plan?: boolean;
  readonly verbose?: boolean;
}

/** The phases of the checks, in deployment order. */
export type CheckPhase = 'settings' | 'account' | 'build';

export interface Steps {
  readonly say: (line: string) => void;
  /** Asks the operator. @returns undefined if no terminal is attached. */
  readonly ask: (question: string) => Promise<boolean | undefined>;
  /** @returns the account and the caller. @throws AccountError */
  readonly identify: (account: Account) => Promise<string>;
  /** Runs the checks of this phase and of all earlier phases. */
  readonly check: (account: Account, phase: CheckPhase) => Promise<CheckResult>;
  /** Runs CDK with these variables added to the environment. @returns its exit code. */
  readonly cdk: (
    args: readonly string[],
    variables: Readonly<Record<string, string>>,
    onLine?: (line: string) => void,
  ) => Promise<number>;
  /** Compares the built stacks with the deployed stacks. @throws Error if a deployed stack cannot be read. */
  readonly compare: (account: Account) => Promise<ComparedStage>;
  /** Describes the planned change set of a stack, and deletes it. */
  readonly takeChangeSet: (account: Account, stack: string, verbose: boolean) => Promise<readonly string[]>;
  /** The status of a stack in CloudFormation, as a phrase. */
  readonly statusOf: (account: Account, stack: string) => Promise<string>;
  readonly webhooks: (account: Account) => Promise<string>;
  /** @returns the deployed stacks missing from the build. */
  readonly removedStacks: (account: Account) => Promise<readonly RemovedStack[]>;
  /** @returns the routes that move from a removed stack to a stack of the build. */
  readonly movedRoutes: (account: Account, removed: readonly RemovedStack[]) => Promise<MovedRoutes>;
  /** Deletes moving routes. They return 404 until their new stack is deployed. */
  readonly deleteRoutes: (account: Account, routes: readonly MovedRoute[]) => Promise<void>;
  readonly destroy: (account: Account, stacks: readonly (RemovedStack | FailedStack)[]) => Promise<void>;
  /**
   * Deletes the deployed limits of removed routes, or of all routes without limits in the build.
   * @returns these routes.
   */
  readonly deleteRouteSettings: (account: Account, of: 'removed' | 'unlimited') => Promise<readonly string[]>;
}

/** What to do with deployed stacks missing from the build. */
export const REMOVED_STACKS = ['ask', 'destroy', 'keep'] as const;

/** The changes subject to the operator's approval. */
const NEEDS_APPROVAL = {
  never: () => false,
  'any-change': (changes: readonly StackChange[]) => changes.some(isChanged),
  broadening: (changes: readonly StackChange[]) => changes.some(({ rights }) => isBroadening(rights)),
} as const;
type ApprovedChanges = keyof typeof NEEDS_APPROVAL;
export const APPROVALS: readonly ApprovedChanges[] = keysOf(NEEDS_APPROVAL);

/**
 * Deploys the stacks, then stores the webhook targets in their secret. Destroys removed stacks last, when no deployed
 * stack uses them. @returns the exit code.
 */
export const deploy = async (given: Given, account: Account, steps: Steps): Promise<number> => {
  const { say, webhooks, destroy, deleteRouteSettings } = steps;
  if (given.webhooksOnly === true) {
    say(await steps.identify(account));
    say(await webhooks(account));
    return 0;
  }
  if (!(await passes(given, account, steps, 'settings'))) return 1;
  say(await steps.identify(account));
  if (!(await passes(given, account, steps, 'account'))) return 1;
  const run: RunCdk = (args, onLine) =>
    steps.cdk(
      [...args, ...(account.profile === undefined ? [] : ['--profile', account.profile])],
      { AWS_REGION: account.region, CHECKS: 'off' },
      onLine,
    );
  const elapsed = startWatch();
  const built = await run(['synth', '--quiet']);
  if (built !== 0) return built;
  say(`the stacks are built, ${elapsed()}`);
  if (!(await passes(given, account, steps, 'build'))) return 1;
  const planned = await compared(given, account, steps);
  if (planned === undefined) return 1;
  if (given.plan === true) return showChangeSets(given, account, { ...steps, run }, planned);
  const decided = await approved(given, planned, steps);
  if (decided === undefined) return 1;
  for (const route of await deleteRouteSettings(account, 'removed')) say(`the limits of ${route} are deleted`);
  if (planned.failed.length > 0) await destroy(account, planned.failed);
  const code = await deployStacks(given, account, { ...steps, run }, planned);
  if (code !== 0) return code;
  say(await webhooks(account));
  for (const route of await deleteRouteSettings(account, 'unlimited')) say(`${route} has the limits of the stage`);
  await destroy(account, decided.removed);
  return 0;
};

/** Prints the new findings of a phase. @returns false if a finding stops the deployment. */
const passes = async (given: Given, account: Account, steps: Steps, phase: CheckPhase): Promise<boolean> => {
  const { refused, text } = await steps.check(account, phase);
  if (text !== '') steps.say(text);
  if (refused) {
    steps.say(
      given.plan === true
        ? 'this stage would not be deployed'
        : 'nothing is deployed; to deploy in spite of these findings: npm run deploy -- --force',
    );
  }
  return !refused;
};

interface Planned extends ComparedStage {
  readonly removed: readonly RemovedStack[];
  readonly moved: readonly MovedRoute[];
  readonly isCodeOnly: boolean;
}

/** Shows all changes. @returns undefined if they cannot be read, or if no deployment can start now. */
const compared = async (given: Given, account: Account, steps: Steps): Promise<Planned | undefined> => {
  const { say } = steps;
  let stage: ComparedStage;
  let removed: readonly RemovedStack[];
  let moved: MovedRoutes;
  try {
    stage = await steps.compare(account);
    removed = await steps.removedStacks(account);
    moved = await steps.movedRoutes(account, removed);
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    say('the changes are not known, so nothing is deployed');
    return undefined;
  }
  for (const line of describeChanges(stage.changes, given.verbose === true)) say(line);
  for (const stack of stage.failed) say(describeFailedStack(stack));
  for (const stack of removed) say(describeRemovedStack(stack));
  for (const line of describeMovedRoutes(moved)) say(line);
  const blocked = [...stage.blocked, ...moved.obstacles];
  if (blocked.length > 0) {
    for (const line of blocked) say(line);
    say('nothing is deployed');
    return undefined;
  }
  const codeOnly = isCodeOnly(stage.changes) && stage.failed.length === 0;
  if (codeOnly) say('only the code of functions changes, so all stacks are deployed at the same time');
  return { ...stage, removed, moved: moved.routes, isCodeOnly: codeOnly };
};

/** @returns the removed stacks to destroy; undefined if the operator declines. */
const approved = async (
  { requireApproval, removedStacks }: Given,
  { changes, failed, removed }: Planned,
  steps: Steps,
): Promise<{ readonly removed: readonly RemovedStack[] } | undefined> => {
  const asks = NEEDS_APPROVAL[requireApproval](changes);
  if (asks && !(await approve('Deploy these changes?', '--require-approval never', steps))) return undefined;
  const deletes = failed.length > 0 && removedStacks !== 'destroy';
  const question = `Delete ${failed.map(({ name }) => name).join(', ')} now?`;
  if (deletes && !(await approve(question, '--removed-stacks destroy', steps))) return undefined;
  if (removed.length === 0 || removedStacks === 'keep') return { removed: [] };
  const destroys =
    removedStacks === 'destroy' ||
    (await approve('Destroy these stacks after the deployment?', '--removed-stacks destroy or keep', steps));
  return destroys ? { removed } : undefined;
};

const approve = async (question: string, option: string, { say, ask }: Steps): Promise<boolean> => {
  const answer = await ask(question);
  if (answer === undefined) say(`the changes need approval at a terminal, or ${option}`);
  if (answer !== true) say('nothing is deployed');
  return answer === true;
};

interface RunningSteps extends Steps {
  readonly run: RunCdk;
}

const deployStacks = async (
  { verbose = false }: Given,
  account: Account,
  { say, run, statusOf, deleteRoutes }: RunningSteps,
  { changes, moved, isCodeOnly: parallel }: Planned,
): Promise<number> => {
  const elapsed = startWatch();
  const names = changes.map(({ name }) => name);
  const movedTo = (stack: string) => moved.filter((route) => route.stack === stack);
  const before = (name: string) => deleteRoutes(account, movedTo(name));
  const runs = await runStacks({ say, run, verbose, done: 'deployed', before }, names, { options: [], parallel });
  const code = codeOf(runs);
  if (code !== 0) {
    say(`the deployment failed after ${elapsed()}`);
    for (const line of await describeRuns(runs, (name) => statusOf(account, name))) say(line);
    for (const { name } of runs.filter((each) => each.code !== undefined && each.code !== 0)) {
      const { length } = movedTo(name);
      if (length > 0)
        say(`${name}: until it is deployed, its moved routes (${length}) answer 404; run this command again`);
    }
    say('the webhooks stay as they are');
    return code;
  }
  say(`${names.length} stacks are deployed, ${elapsed()}`);
  for (const { name, outputs } of runs) for (const output of outputs) say(`${name}: ${output}`);
  return 0;
};

const codeOf = (runs: readonly StackRun[]): number =>
  runs.find(({ code }) => code !== undefined && code !== 0)?.code ?? 0;

/**
 * Makes a change set for each existing stack, because only a change set lists replacements. A new or recreated stack
 * has no replacements.
 */
const showChangeSets = async (
  { verbose = false }: Given,
  account: Account,
  { say, run, takeChangeSet }: RunningSteps,
  { changes, protectionChanges }: Planned,
): Promise<number> => {
  for (const name of protectionChanges) say(`${name}: its termination protection would change`);
  const existing = changes.filter(({ name, isNew }) => !isNew && !protectionChanges.includes(name));
  const runs = await runStacks(
    { say, run, verbose, done: 'the change set is made' },
    existing.map(({ name }) => name),
    { options: ['--method', 'prepare-change-set', '--change-set-name', PLANNED], parallel: true },
  );
  for (const { name, code } of runs) {
    const lines = await takeChangeSet(account, name, verbose);
    for (const line of code === 0 ? lines : [`${name}: its change set could not be made`]) say(line);
  }
  say('this was a plan: nothing is deployed');
  return codeOf(runs);
};
