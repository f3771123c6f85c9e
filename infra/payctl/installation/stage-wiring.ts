/** @module Reads the table used by a stage's functions, and the event sources and schedules of its workers. */

import {
  type CloudFormationClient,
  DescribeStacksCommand,
  ListStackResourcesCommand,
  type StackResourceSummary,
} from '@aws-sdk/client-cloudformation';
import { DescribeRuleCommand, type EventBridgeClient } from '@aws-sdk/client-eventbridge';
import {
  GetEventSourceMappingCommand,
  GetFunctionConfigurationCommand,
  type LambdaClient,
} from '@aws-sdk/client-lambda';
import { type Stage, stackName } from '../../deploy/stage/settings.ts';
import type { StageWiring } from './facts.ts';

export interface WiringClients {
  readonly cloudFormation: Pick<CloudFormationClient, 'send'>;
  readonly lambda: Pick<LambdaClient, 'send'>;
  readonly eventBridge: Pick<EventBridgeClient, 'send'>;
}

export const readWiring = async (clients: WiringClients, stage: Stage): Promise<StageWiring> => {
  const resources: StackResourceSummary[] = [];
  for await (const name of stacksOf(clients, stage)) resources.push(...(await resourcesOf(clients, name)));
  const of = (type: string) => resources.filter(({ ResourceType }) => ResourceType === type);
  const functions = await inTurn(of('AWS::Lambda::Function'), async ({ PhysicalResourceId: name = '' }) => {
    const { Environment } = await clients.lambda.send(new GetFunctionConfigurationCommand({ FunctionName: name }));
    return { name, table: Environment?.Variables?.['TABLE_NAME'] ?? '' };
  });
  const sources = await inTurn(of('AWS::Lambda::EventSourceMapping'), async (source) => {
    const UUID = source.PhysicalResourceId ?? '';
    const { EventSourceArn, State } = await clients.lambda.send(new GetEventSourceMappingCommand({ UUID }));
    return { id: source.LogicalResourceId ?? '', arn: EventSourceArn ?? '', state: State ?? '' };
  });
  const rules = await inTurn(of('AWS::Events::Rule'), async (rule) => {
    const [bus, name] = busAndName(rule.PhysicalResourceId ?? '');
    const { State, ScheduleExpression } = await clients.eventBridge.send(
      new DescribeRuleCommand({ Name: name, ...(bus !== undefined && { EventBusName: bus }) }),
    );
    return { id: rule.LogicalResourceId ?? '', state: State ?? '', isScheduled: ScheduleExpression !== undefined };
  });
  return {
    functions: functions.filter(({ table }) => table !== ''),
    sources,
    schedules: rules.filter(({ isScheduled }) => isScheduled).map(({ id, state }) => ({ id, state })),
  };
};

/** CloudFormation returns `bus|rule` for a rule on a custom bus. */
const busAndName = (id: string): readonly [bus: string | undefined, name: string] => {
  const at = id.indexOf('|');
  return at < 0 ? [undefined, id] : [id.slice(0, at), id.slice(at + 1)];
};

async function* stacksOf({ cloudFormation }: WiringClients, stage: Stage): AsyncGenerator<string> {
  let NextToken: string | undefined;
  do {
    const page = await cloudFormation.send(new DescribeStacksCommand({ NextToken }));
    for (const { StackName = '' } of page.Stacks ?? []) if (StackName.startsWith(stackName(stage, ''))) yield StackName;
    NextToken = page.NextToken;
  } while (NextToken !== undefined);
}

const resourcesOf = async ({ cloudFormation }: WiringClients, StackName: string): Promise<StackResourceSummary[]> => {
  const found: StackResourceSummary[] = [];
  let NextToken: string | undefined;
  do {
    const page = await cloudFormation.send(new ListStackResourcesCommand({ StackName, NextToken }));
    found.push(...(page.StackResourceSummaries ?? []));
    NextToken = page.NextToken;
  } while (NextToken !== undefined);
  return found;
};

/** Makes one call at a time, because Lambda limits configuration reads. */
const inTurn = async <A, T>(all: readonly A[], read: (one: A) => Promise<T>): Promise<readonly T[]> => {
  const found: T[] = [];
  for (const one of all) found.push(await read(one));
  return found;
};
