/**
 * @module A stage's deployed stacks missing from the new build, because a setting or a version removed them. CDK leaves
 * such a stack running, with its routes and functions.
 */

import {
  type CloudFormationClient,
  DeleteStackCommand,
  DescribeStacksCommand,
  GetTemplateCommand,
  paginateDescribeStacks,
  type Stack,
  UpdateTerminationProtectionCommand,
  waitUntilStackDeleteComplete,
} from '@aws-sdk/client-cloudformation';
import * as z from 'zod';
import { startWatch, whileSaying } from './progress.ts';
import { type Stage, stackName } from './settings.ts';

export interface RemovedStack {
  readonly name: string;
  readonly id: string;
  readonly isProtected: boolean;
  /** Resources with data, such as `log group Logs`, that remain in the account after the stack is deleted. */
  readonly kept: readonly string[];
  /** Resources with data that are deleted with the stack. */
  readonly lost: readonly string[];
}

/** Resource types with possible payment data, or messages about payments. */
export const DATA_TYPES: Readonly<Record<string, string>> = {
  'AWS::DynamoDB::Table': 'table',
  'AWS::KMS::Key': 'key',
  'AWS::Logs::LogGroup': 'log group',
  'AWS::S3::Bucket': 'bucket',
  'AWS::SecretsManager::Secret': 'secret',
  'AWS::SQS::Queue': 'queue',
};

/**
 * Lists the newest stack first. A stack may import only from older stacks, so it must be destroyed before them.
 * @param built names of the stacks of the new build
 * @throws Error if the table's stack is missing from the build, because the build is then not of this service.
 */
export const findRemovedStacks = async (
  client: CloudFormationClient,
  stage: Stage,
  built: ReadonlySet<string>,
): Promise<readonly RemovedStack[]> => {
  const found: Stack[] = [];
  for await (const { Stacks = [] } of paginateDescribeStacks({ client }, {})) {
    found.push(...Stacks.filter((stack) => isOfStage(stack, stage) && !built.has(stack.StackName ?? '')));
  }
  const newestFirst = found.toSorted((one, other) => createdAt(other) - createdAt(one));
  const removed = await Promise.all(newestFirst.map((stack) => removedStack(client, stack)));
  const withTable = removed.find(({ kept, lost }) => [...kept, ...lost].some((text) => text.startsWith('table ')));
  if (withTable) throw new Error(`${withTable.name} holds the table and is not in the build; deploy no such build`);
  return removed;
};

const createdAt = ({ CreationTime }: Stack): number => CreationTime?.getTime() ?? 0;

/** Checks the name and the tags, because another application in the account could use the same name. */
export const isOfStage = ({ StackName = '', Tags = [] }: Stack, stage: Stage): boolean => {
  const has = (key: string, value: string): boolean => Tags.some(({ Key, Value }) => Key === key && Value === value);
  return StackName.startsWith(stackName(stage, '')) && has('service', 'payments') && has('stage', stage);
};

const templateSchema = z.object({
  Resources: z.record(z.string(), z.object({ Type: z.string(), DeletionPolicy: z.string().optional() })),
});

const removedStack = async (client: CloudFormationClient, stack: Stack): Promise<RemovedStack> => {
  const { StackName: name = '', StackId: id = name, EnableTerminationProtection: isProtected = false } = stack;
  const { TemplateBody } = await client.send(new GetTemplateCommand({ StackName: id, TemplateStage: 'Original' }));
  const { Resources } = templateSchema.parse(JSON.parse(TemplateBody ?? ''));
  const held = Object.entries(Resources).flatMap(([logicalId, { Type, DeletionPolicy = '' }]) =>
    DATA_TYPES[Type] === undefined
      ? []
      : [{ text: `${DATA_TYPES[Type]} ${logicalId}`, isKept: DeletionPolicy.startsWith('Retain') }],
  );
  const textsOf = (kept: boolean) => held.filter(({ isKept }) => isKept === kept).map(({ text }) => text);
  return { name, id, isProtected, kept: textsOf(true), lost: textsOf(false) };
};

/** @returns one line per stack, for the operator's decision. */
export const describeRemovedStack = ({ name, kept, lost }: RemovedStack): string =>
  [
    `${name} is no longer part of the stage`,
    ...(lost.length > 0 ? [`deleted with it: ${lost.join(', ')}`] : []),
    ...(kept.length > 0 ? [`kept without a stack: ${kept.join(', ')}`] : []),
  ].join('; ');

const LONGEST_DELETION_SECONDS = 30 * 60;

/** Turns off termination protection for these stacks only, and waits for each deletion. @throws if one fails. */
export const destroyStacks = async (
  client: CloudFormationClient,
  stacks: readonly Pick<RemovedStack, 'name' | 'id' | 'isProtected'>[],
  say: (line: string) => void,
): Promise<void> => {
  for (const { name, id, isProtected } of stacks) {
    const elapsed = startWatch();
    if (isProtected) {
      const change = { StackName: id, EnableTerminationProtection: false };
      await client.send(new UpdateTerminationProtectionCommand(change));
    }
    await client.send(new DeleteStackCommand({ StackName: id }));
    await whileSaying(
      say,
      () => `${name}: is being destroyed`,
      () => waitUntilStackDeleteComplete({ client, maxWaitTime: LONGEST_DELETION_SECONDS }, { StackName: id }),
    ).catch(async (cause: unknown) => {
      const { Stacks } = await client.send(new DescribeStacksCommand({ StackName: id }));
      const { StackStatus, StackStatusReason = 'no reason given' } = Stacks?.[0] ?? {};
      throw new Error(`${name} is not destroyed: ${StackStatus}, ${StackStatusReason}`, { cause });
    });
    say(`${name} is destroyed, ${elapsed()}`);
  }
};
