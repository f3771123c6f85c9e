/**
 * @module The roles of functions. Endpoints of a stack with the same rights share a role, so the stack has one role per
 * set of rights. Each worker has its own role.
 */
import { createHash } from 'node:crypto';
import { type IRole, ManagedPolicy, type PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Right } from '../../../shared/core/rights.ts';
import { acknowledge } from '../stage/acknowledged.ts';
import type { ServiceContext } from './context.ts';
import { allow, denialsOf, statementsOf } from './rights.ts';

export interface FunctionRoleProps {
  readonly context: ServiceContext;
  readonly logGroup: ILogGroup;
  readonly uses: readonly Right[];
  /** Rights that an event source needs, in addition to the declared rights. */
  readonly statements?: readonly PolicyStatement[];
  readonly description: string;
}

/**
 * Creates a role with exactly these rights, in one managed policy. CDK deploys the rights before the function, and no
 * later construct adds rights to the role.
 */
export const functionRole = (scope: Construct, props: FunctionRoleProps): IRole => {
  const { context, logGroup, uses, statements = [], description } = props;
  const rights = new ManagedPolicy(scope, 'Rights', {
    description,
    statements: [
      // The log group's ARN ends in `:*`, so it covers the group's streams and nothing else.
      allow(['logs:CreateLogStream', 'logs:PutLogEvents'], [logGroup.logGroupArn]),
      ...(context.settings.tracing ? [allow(['xray:PutTelemetryRecords', 'xray:PutTraceSegments'], ['*'])] : []),
      allow(['sqs:SendMessage'], [context.undone.queueArn]),
      ...uses.flatMap((right) => statementsOf(right, context)),
      ...denialsOf(uses, context),
      ...statements,
    ],
  });
  acknowledge(rights, 'AwsSolutions-IAM5', 'Resource::*');
  return new Role(scope, 'Role', {
    description,
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
    managedPolicies: [rights],
  }).withoutPolicyUpdates();
};

/** The shared roles of one stack's endpoints. */
export class SharedRoles extends Construct {
  readonly #made = new Map<string, IRole>();
  readonly #of: Pick<FunctionRoleProps, 'context' | 'logGroup'>;

  constructor(scope: Construct, id: string, of: Pick<FunctionRoleProps, 'context' | 'logGroup'>) {
    super(scope, id);
    this.#of = of;
  }

  /** The logical id derives from the rights, so a role survives when functions are added or removed. */
  roleFor(declared: readonly Right[]): IRole {
    const uses = [...new Set(declared)].toSorted();
    const key = uses.join(', ');
    const known = this.#made.get(key);
    if (known) return known;
    const scope = new Construct(this, createHash('sha256').update(key).digest('hex').slice(0, 8).toUpperCase());
    const made = functionRole(scope, { ...this.#of, uses, description: `Functions with the rights: ${key || 'none'}` });
    this.#made.set(key, made);
    return made;
  }
}
