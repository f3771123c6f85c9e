import { join } from 'node:path';
import { Duration } from 'aws-cdk-lib';
import { type IRole, ManagedPolicy, type PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  Code,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Right } from '../../../shared/core/rights.ts';
import { acknowledge } from '../stage/acknowledged.ts';
import type { ServiceContext } from './context.ts';
import { allow, denialsOf, environmentOf, statementsOf } from './rights.ts';

export interface FunctionSpec {
  readonly id: string;
  readonly summary: string;
  readonly uses: readonly Right[];
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
}

export interface ServiceFunctionProps {
  readonly context: ServiceContext;
  readonly spec: FunctionSpec;
  /** One log group per stack, so that a stack of many functions stays within CloudFormation's 500 resources. */
  readonly logGroup: ILogGroup;
  /** Rights that the function's event source needs, in addition to the declared rights. */
  readonly statements?: readonly PolicyStatement[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Reserved concurrency. If undefined, the function shares the account's. */
  readonly reserved?: number | undefined;
}

/** `payments.create-intent` → `PaymentsCreateIntent`. */
export const constructId = (id: string): string =>
  id
    .split(/[^a-zA-Z0-9]+/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('');

/** One function with its own role, which holds exactly the declared rights. */
export class ServiceFunction extends Construct {
  readonly lambda: LambdaFunction;

  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    super(scope, id);
    const { context, spec, logGroup } = props;
    this.lambda = new LambdaFunction(this, 'Function', {
      description: `${spec.id}: ${spec.summary}`,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: Code.fromAsset(join(context.codeDir, spec.id), { exclude: ['*.map'] }),
      handler: 'index.handler',
      timeout: Duration.seconds(spec.timeoutSeconds),
      memorySize: spec.memoryMb,
      ...(props.reserved !== undefined && { reservedConcurrentExecutions: props.reserved }),
      role: roleOf(this, props),
      tracing: Tracing.ACTIVE,
      deadLetterQueue: context.undone,
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      environment: {
        ...context.environment,
        ...Object.assign({}, ...spec.uses.map((right) => environmentOf(right, context))),
        ...props.environment,
      },
    });
    acknowledge(this, 'PCI.DSS.321-LambdaInsideVPC');
  }
}

/** The rights are one inline policy of the role. Constructs that CDK connects later add none. */
const roleOf = (scope: Construct, { context, spec, logGroup, statements = [] }: ServiceFunctionProps): IRole => {
  const rights = new ManagedPolicy(scope, 'Rights', {
    description: `What ${spec.id} may do`,
    statements: [
      // The log group's ARN ends in `:*`, so it covers the group's streams and nothing else.
      allow(['logs:CreateLogStream', 'logs:PutLogEvents'], [logGroup.logGroupArn]),
      allow(['xray:PutTelemetryRecords', 'xray:PutTraceSegments'], ['*']),
      allow(['sqs:SendMessage'], [context.undone.queueArn]),
      ...spec.uses.flatMap((right) => statementsOf(right, context)),
      ...denialsOf(spec.uses, context),
      ...statements,
    ],
  });
  acknowledge(rights, 'AwsSolutions-IAM5', 'Resource::*');
  return new Role(scope, 'Role', {
    description: `What ${spec.id} may do`,
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
    managedPolicies: [rights],
  }).withoutPolicyUpdates();
};
