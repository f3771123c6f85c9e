import { join } from 'node:path';
import { Duration } from 'aws-cdk-lib';
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
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
import { functionRole, type SharedRoles } from './function-roles.ts';
import { environmentOf } from './rights.ts';

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
  /** One log group per stack, to stay within CloudFormation's limit of 500 resources. */
  readonly logGroup: ILogGroup;
  /** Roles shared by functions with the same rights. If undefined, the function has its own role. */
  readonly roles?: SharedRoles;
  /** Rights for the event source, in addition to the declared rights. Only for a function with its own role. */
  readonly statements?: readonly PolicyStatement[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Reserved concurrency. If undefined, the function uses the account's shared concurrency. */
  readonly reserved?: number | undefined;
}

/** `payments.create-intent` → `PaymentsCreateIntent`. */
export const constructId = (id: string): string =>
  id
    .split(/[^a-zA-Z0-9]+/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('');

/** One function, with a role for exactly its declared rights. */
export class ServiceFunction extends Construct {
  readonly lambda: LambdaFunction;

  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    super(scope, id);
    const { context, spec, logGroup, roles, statements = [] } = props;
    const own = { context, logGroup, uses: spec.uses, statements, description: `What ${spec.id} may do` };
    this.lambda = new LambdaFunction(this, 'Function', {
      description: `${spec.id}: ${spec.summary}`,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: Code.fromAsset(join(context.codeDir, spec.id), { exclude: ['*.map'] }),
      handler: 'index.handler',
      timeout: Duration.seconds(spec.timeoutSeconds),
      memorySize: spec.memoryMb,
      ...(props.reserved !== undefined && { reservedConcurrentExecutions: props.reserved }),
      role: roles ? roles.roleFor(spec.uses) : functionRole(this, own),
      // Always set, because CloudFormation may keep a value removed from the template.
      tracing: context.settings.tracing ? Tracing.ACTIVE : Tracing.PASS_THROUGH,
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
    if (!context.settings.tracing) acknowledge(this, 'Serverless-LambdaTracing');
  }
}
