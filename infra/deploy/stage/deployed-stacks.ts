/** @module The state of a stage's stacks in AWS, read before a deployment changes anything. */

import {
  type CloudFormationClient,
  GetTemplateCommand,
  paginateDescribeStacks,
  type Stack,
} from '@aws-sdk/client-cloudformation';
import type { BuiltStack } from './built-stacks.ts';
import { isOfStage } from './removed-stacks.ts';
import type { Stage } from './settings.ts';
import { compareStack, type StackChange } from './stack-changes.ts';
import { parseTemplate, type StackTemplate } from './template.ts';

/** A stack after a failed first creation. It must be deleted before it can be created again. */
export interface FailedStack {
  readonly name: string;
  readonly id: string;
  readonly status: string;
  readonly isProtected: boolean;
}

export interface ComparedStage {
  readonly changes: readonly StackChange[];
  readonly failed: readonly FailedStack[];
  /** Reasons why no deployment can start now, one line each. */
  readonly blocked: readonly string[];
  /** Built stacks whose change set would turn termination protection on or off. */
  readonly protectionChanges: readonly string[];
}

/** Statuses after a failed creation. CDK would delete such a stack too, but not under termination protection. */
const FAILED_CREATION: readonly string[] = ['ROLLBACK_COMPLETE', 'ROLLBACK_FAILED'];
/** The stack has a change set but was never created. */
const ONLY_REVIEWED = 'REVIEW_IN_PROGRESS';

/**
 * Compares the built stacks with the deployed stacks.
 * @throws Error if a deployed template cannot be read.
 */
export const compareStage = async (
  client: CloudFormationClient,
  stage: Stage,
  built: readonly BuiltStack[],
): Promise<ComparedStage> => {
  const deployed = await readStacks(client, new Set(built.map(({ name }) => name)));
  const found = built.flatMap(({ name }) => deployed.get(name) ?? []);
  const failed = found.filter(({ StackStatus = '' }) => FAILED_CREATION.includes(StackStatus));
  const changes = await Promise.all(
    built.map(async (stack) => compareStack(stack, await templateOf(client, deployed.get(stack.name)))),
  );
  return {
    changes,
    failed: failed.filter((stack) => isOfStage(stack, stage)).map(failedStack),
    blocked: [
      ...failed
        .filter((stack) => !isOfStage(stack, stage))
        .map(({ StackName }) => `${StackName} is not of this stage (by its tags), and its first creation failed`),
      ...found.flatMap(({ StackName, StackStatus = '' }) => blockedBy(StackName, StackStatus)),
    ],
    protectionChanges: built
      .filter(({ name, isProtected }) => {
        const stack = deployed.get(name);
        return stack !== undefined && isProtected !== (stack.EnableTerminationProtection ?? false);
      })
      .map(({ name }) => name),
  };
};

const failedStack = ({
  StackName = '',
  StackId,
  StackStatus: status,
  EnableTerminationProtection,
}: Stack): FailedStack => ({
  name: StackName,
  id: StackId ?? StackName,
  status: status ?? '',
  isProtected: EnableTerminationProtection ?? false,
});

const readStacks = async (
  client: CloudFormationClient,
  names: ReadonlySet<string>,
): Promise<ReadonlyMap<string, Stack>> => {
  const stacks = new Map<string, Stack>();
  for await (const { Stacks = [] } of paginateDescribeStacks({ client }, {})) {
    for (const stack of Stacks) if (names.has(stack.StackName ?? '')) stacks.set(stack.StackName ?? '', stack);
  }
  return stacks;
};

const templateOf = async (
  client: CloudFormationClient,
  stack: Stack | undefined,
): Promise<StackTemplate | undefined> => {
  const status = stack?.StackStatus ?? ONLY_REVIEWED;
  if (status === ONLY_REVIEWED || FAILED_CREATION.includes(status)) return undefined;
  const given = { StackName: stack?.StackId ?? stack?.StackName, TemplateStage: 'Original' } as const;
  const { TemplateBody = '' } = await client.send(new GetTemplateCommand(given)).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`the deployed template of ${stack?.StackName} cannot be read: ${reason}`, { cause });
  });
  return parseTemplate(TemplateBody);
};

const blockedBy = (name: string | undefined, status: string): readonly string[] => {
  if (status === 'UPDATE_ROLLBACK_FAILED') {
    return [`${name} is ${status}: aws cloudformation continue-update-rollback --stack-name ${name}`];
  }
  const isBusy = status.endsWith('_IN_PROGRESS') && status !== ONLY_REVIEWED;
  return isBusy ? [`${name} is ${status}: wait until that change has ended`] : [];
};

export const describeFailedStack = ({ name, status, isProtected }: FailedStack): string =>
  `${name} is ${status}: its first creation failed, so it must be deleted before it can be created again` +
  (isProtected ? '; its termination protection is turned off for this' : '');
