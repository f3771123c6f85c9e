/** @module Reads planned changes from a CloudFormation change set and deletes it. Never executes a change set. */

import {
  type Change,
  type CloudFormationClient,
  DeleteChangeSetCommand,
  DescribeChangeSetCommand,
} from '@aws-sdk/client-cloudformation';

/** The name of the change set that `--plan` creates and deletes. */
export const PLANNED = 'payments-plan';

/**
 * Describes the planned change set of a stack, then deletes it.
 * @returns one line with the counts, then each removed or replaced resource, or with `verbose` each resource.
 */
export const takeChangeSet = async (
  client: CloudFormationClient,
  stack: string,
  verbose: boolean,
): Promise<readonly string[]> => {
  try {
    return describe(stack, await changesOf(client, stack), verbose);
  } finally {
    await unlessMissing(client.send(new DeleteChangeSetCommand({ StackName: stack, ChangeSetName: PLANNED })));
  }
};

const changesOf = async (client: CloudFormationClient, stack: string): Promise<readonly Change[]> => {
  const changes: Change[] = [];
  let next: string | undefined;
  do {
    const page = await unlessMissing(
      client.send(new DescribeChangeSetCommand({ StackName: stack, ChangeSetName: PLANNED, NextToken: next })),
    );
    changes.push(...(page?.Changes ?? []));
    next = page?.NextToken;
  } while (next !== undefined);
  return changes;
};

/** CDK makes no change set for a stack without changes. */
const unlessMissing = async <T>(sent: Promise<T>): Promise<T | undefined> =>
  sent.catch((error: unknown) => {
    if (error instanceof Error && error.name.startsWith('ChangeSetNotFound')) return undefined;
    throw error;
  });

const describe = (stack: string, changes: readonly Change[], verbose: boolean): readonly string[] => {
  const resources = changes.flatMap(({ ResourceChange }) => ResourceChange ?? []);
  if (resources.length === 0) return [`${stack}: CloudFormation would change nothing`];
  const counts = ['Add', 'Modify', 'Remove'].flatMap((action) => {
    const count = resources.filter(({ Action }) => Action === action).length;
    return count > 0 ? [`${action.toLowerCase()} ${count}`] : [];
  });
  const named = resources.filter(
    ({ Action, Replacement }) =>
      verbose || Action === 'Remove' || Replacement === 'True' || Replacement === 'Conditional',
  );
  return [
    `${stack}: CloudFormation would ${counts.join(', ')}`,
    ...named.map(({ Action = '', Replacement, LogicalResourceId, ResourceType }) => {
      const replaced =
        Replacement === 'True' ? ', replaced' : Replacement === 'Conditional' ? ', perhaps replaced' : '';
      return `  ${Action.toLowerCase()}: ${LogicalResourceId} (${ResourceType})${replaced}`;
    }),
  ];
};
