import { Aws, Duration } from 'aws-cdk-lib';
import { type IAlarmRef, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Alias,
  FunctionBase,
  type IFunction,
  type IVersion,
  type Function as LambdaFunction,
  Version,
} from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { acknowledge } from '../stage/acknowledged.ts';
import type { TableInUse } from '../stage/settings.ts';
import { type Alarms, serviceAlarm } from './alarm.ts';
import { allow } from './rights.ts';

/** The resources that one stack's canaries share. */
export interface Canaries {
  readonly application: LambdaApplication;
  /** The alarm on the API's 5xx responses. */
  readonly answers5xx: IAlarmRef;
  readonly alarms: Alarms;
}

/**
 * Creates the shared resources of the payment path's canaries. The payment path is in one stack, so one alarm suffices.
 */
export const canariesOf = (
  scope: Construct,
  { apiId, alarms }: { readonly apiId: string; readonly alarms: Alarms },
): Canaries => ({
  alarms,
  application: new LambdaApplication(scope, 'Canaries'),
  answers5xx: serviceAlarm(scope, 'CanaryAnswers', {
    alarms,
    name: 'canary-5xx',
    metric: new Metric({
      namespace: 'AWS/ApiGateway',
      metricName: '5xx',
      statistic: 'Sum',
      period: Duration.minutes(1),
      dimensionsMap: { ApiId: apiId, Stage: '$default' },
    }),
    threshold: 5,
    watches: 'state',
    description: 'Five requests within a minute returned 5xx. A running deployment of the payment path is rolled back.',
  }),
});

export interface LiveVersionProps {
  readonly lambda: LambdaFunction;
  /** If undefined, a new version gets all requests immediately. */
  readonly canaries: Canaries | undefined;
  /** True if one instance is always ready. */
  readonly isWarm: boolean;
  /** The alarm's name is `canary-errors-<name>`. */
  readonly name: string;
  readonly tableInUse: TableInUse | undefined;
}

/** Number of warm instances. Additional concurrent requests cause cold starts. */
const WARM_INSTANCES = 1;

/**
 * The current version of a function, under the alias `live`. The function's route calls this alias. The version may be
 * kept warm and have a canary.
 */
export class LiveVersion extends Construct {
  readonly alias: IFunction;

  constructor(scope: Construct, id: string, { lambda, canaries, isWarm, name, tableInUse }: LiveVersionProps) {
    super(scope, id);
    // A published version keeps its table name, so publish a new version for another table.
    if (tableInUse) lambda.invalidateVersionBasedOn(tableInUse.streamArn);
    const { currentVersion: version } = lambda;
    if (!isVersion(version)) throw new Error('a function has a current version');
    const alias = new Alias(this, 'Alias', {
      aliasName: 'live',
      version,
      ...(isWarm && { provisionedConcurrentExecutions: WARM_INSTANCES }),
    });
    if (!isFunction(alias)) throw new Error('an alias is a function');
    this.alias = alias;
    if (canaries) shift(this, { lambda, alias, canaries, name });
  }
}

interface Shift {
  readonly lambda: LambdaFunction;
  readonly alias: Alias;
  readonly canaries: Canaries;
  /** The alarm's name is `canary-errors-<name>`. */
  readonly name: string;
}

/**
 * CodeDeploy shifts a tenth of the requests to a new version for five minutes, then all of them. An alarm in that time
 * shifts them back, and the stack's deployment fails and rolls back.
 */
const shift = (scope: Construct, { lambda, alias, canaries, name }: Shift): void => {
  const errors = serviceAlarm(scope, 'Errors', {
    alarms: canaries.alarms,
    name: `canary-errors-${name}`,
    metric: alias.metricErrors({ period: Duration.minutes(1), statistic: 'Sum' }),
    threshold: 1,
    watches: 'state',
    description:
      'A function of the payment path fails. A running deployment of the function is rolled back; otherwise payers get errors.',
  });
  new LambdaDeploymentGroup(scope, 'Deployment', {
    application: canaries.application,
    alias,
    deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
    alarms: [errors, canaries.answers5xx],
    autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
    role: shifterOf(scope, lambda),
  });
};

/** CDK's classes do not match its interfaces under exactOptionalPropertyTypes. */
const isVersion = (value: unknown): value is IVersion => value instanceof Version;
const isFunction = (value: unknown): value is IFunction => value instanceof FunctionBase;

/** The permissions of AWS's own policy for CodeDeploy, limited to this function and without hooks. */
const shifterOf = (scope: Construct, lambda: LambdaFunction) => {
  const rights = new ManagedPolicy(scope, 'Rights', {
    description: 'Shifts the requests of one function to its new version',
    statements: [
      allow(['cloudwatch:DescribeAlarms'], ['*']),
      allow(
        ['lambda:GetAlias', 'lambda:GetProvisionedConcurrencyConfig', 'lambda:UpdateAlias'],
        [lambda.functionArn, `${lambda.functionArn}:live`],
      ),
    ],
  });
  acknowledge(rights, 'AwsSolutions-IAM5', 'Resource::*');
  return new Role(scope, 'Role', {
    description: 'Shifts the requests of one function to its new version',
    assumedBy: new ServicePrincipal('codedeploy.amazonaws.com', {
      conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
    }),
    managedPolicies: [rights],
  }).withoutPolicyUpdates();
};
