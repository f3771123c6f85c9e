import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { GetFunctionConfigurationCommand, LambdaClient } from '@aws-sdk/client-lambda';
import type { QueueName } from '../../shared/core/rights.ts';
import { deadLettersOutput, OPERATED_FUNCTION_OUTPUT, queueOutput, stackName } from '../settings.ts';
import { NotReachable } from './control.ts';
import type { Site } from './site.ts';

const QUEUES: Readonly<Record<QueueName, true>> = {
  'apply-provider-event': true,
  'follow-payment': true,
  'run-due': true,
  'webhook-dispatch': true,
  'webhook-delivery': true,
};

interface Clients {
  readonly cloudFormation: Pick<CloudFormationClient, 'send'>;
  readonly lambda: Pick<LambdaClient, 'send'>;
}

/**
 * A deployed stage, by the operator's own AWS credentials: its stack says where queues are, and the function that keeps
 * appointments which environment the service runs in, so that nothing is configured twice. @throws NotReachable
 */
export const stageSite = async (stage: string, clients: Clients = openClients()): Promise<Site> => {
  const StackName = stackName(stage, 'events');
  const described = await clients.cloudFormation.send(new DescribeStacksCommand({ StackName })).catch(unreachable);
  const outputs = new Map(
    described.Stacks?.[0]?.Outputs?.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]),
  );
  const output = (name: string): string => {
    const value = outputs.get(name);
    if (value === undefined) throw new NotReachable(`${StackName} has no output ${name}: deploy this version first`);
    return value;
  };
  const FunctionName = output(OPERATED_FUNCTION_OUTPUT);
  const { Environment } = await clients.lambda
    .send(new GetFunctionConfigurationCommand({ FunctionName }))
    .catch(unreachable);
  return {
    name: stage,
    env: Environment?.Variables ?? {},
    queueUrls: Object.keys(QUEUES).map((queue) => ({
      queue,
      url: output(queueOutput(queue)),
      deadLetterUrl: output(deadLettersOutput(queue)),
    })),
    now: Date.now,
    control: undefined,
  };
};

const openClients = (): Clients => ({ cloudFormation: new CloudFormationClient({}), lambda: new LambdaClient({}) });

const unreachable = (error: unknown): never => {
  throw new NotReachable(error instanceof Error ? error.message : String(error), { cause: error });
};
