import { Aws, Duration, type RemovalPolicy } from 'aws-cdk-lib';
import { BackupPlan, BackupPlanRule, BackupResource, BackupVault, type IBackupVault } from 'aws-cdk-lib/aws-backup';
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { ManagedPolicy, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import { acknowledge } from '../stage/acknowledged.ts';
import type { Stage } from '../stage/settings.ts';
import { type Alarms, serviceAlarm } from './alarm.ts';
import { allow } from './rights.ts';

const RULES = [
  { ruleName: 'daily', schedule: { hour: '3', minute: '0' }, keptFor: Duration.days(35) },
  { ruleName: 'weekly', schedule: { weekDay: 'SUN', hour: '4', minute: '0' }, keptFor: Duration.days(365) },
] as const;

const vaultName = (stage: Stage): string => `payments-${stage}`;

export interface TableBackupsProps {
  readonly tableArn: string;
  /** Encrypts the backups. */
  readonly key: IKey;
  /** The ARN of a vault in another region or account. If empty, backups are not copied. */
  readonly copyTo: string;
  readonly alarms: Alarms;
  readonly removalPolicy: RemovalPolicy;
}

/** Backups of the table by AWS Backup. Unlike point-in-time recovery, they remain if the table is deleted. */
export class TableBackups extends Construct {
  constructor(scope: Construct, id: string, props: TableBackupsProps) {
    super(scope, id);
    const { tableArn, key, copyTo, alarms, removalPolicy } = props;
    const vault = new BackupVault(this, 'Vault', {
      backupVaultName: vaultName(alarms.stage),
      encryptionKey: key,
      removalPolicy,
    });
    const target = copyTo === '' ? undefined : BackupVault.fromBackupVaultArn(this, 'CopyTo', copyTo);
    const plan = new BackupPlan(this, 'Plan', {
      backupPlanName: vaultName(alarms.stage),
      backupVault: vault,
      backupPlanRules: RULES.map(({ ruleName, schedule, keptFor: deleteAfter }) => {
        const copyActions = target === undefined ? [] : [{ destinationBackupVault: target, deleteAfter }];
        return new BackupPlanRule({ ruleName, scheduleExpression: Schedule.cron(schedule), deleteAfter, copyActions });
      }),
    });
    plan.addSelection('Table', {
      resources: [BackupResource.fromArn(tableArn)],
      role: roleOf(this, { tableArn, key, vaults: target === undefined ? [vault] : [vault, target] }),
      disableDefaultBackupPolicy: true,
    });
    const counts = backupCounts(alarms.stage);
    serviceAlarm(this, 'Alarm', {
      alarms,
      name: 'backup-failed',
      metric: counts.failed,
      threshold: 1,
      watches: 'occurrence',
      description:
        'A backup of the table, or its copy to another region or account, failed or did not start in time. ' +
        'If the table is lost now, the payments since the last backup are lost with it.',
    });
    serviceAlarm(this, 'SilentAlarm', {
      alarms,
      name: 'backup-silent',
      metric: counts.completed,
      threshold: 1,
      periods: 2,
      watches: 'state',
      alarmsOn: 'silence',
      description:
        'No backup of the table was completed for two days. ' +
        'If the table is lost now, the payments since the last backup are lost with it.',
    });
  }
}

const jobsOf = (stage: Stage, metricName: string, period?: Duration): Metric =>
  new Metric({
    namespace: 'AWS/Backup',
    metricName,
    dimensionsMap: { BackupVaultName: vaultName(stage) },
    statistic: 'Sum',
    ...(period && { period }),
  });

export interface BackupCounts {
  /** Failed or aborted backups, backups expired before their start, and failed copies. */
  readonly failed: MathExpression;
  readonly completed: Metric;
}

export const backupCounts = (stage: Stage): BackupCounts => ({
  failed: new MathExpression({
    expression: 'FILL(failed, 0) + FILL(expired, 0) + FILL(aborted, 0) + FILL(copies, 0)',
    usingMetrics: {
      failed: jobsOf(stage, 'NumberOfBackupJobsFailed'),
      expired: jobsOf(stage, 'NumberOfBackupJobsExpired'),
      aborted: jobsOf(stage, 'NumberOfBackupJobsAborted'),
      copies: jobsOf(stage, 'NumberOfCopyJobsFailed'),
    },
    label: 'failed',
    period: Duration.hours(1),
  }),
  completed: jobsOf(stage, 'NumberOfBackupJobsCompleted', Duration.days(1)),
});

/**
 * The table's backups and their copies in other regions. The table's tags also apply to them, so the role may tag them.
 */
const RECOVERY_POINTS = `arn:${Aws.PARTITION}:backup:*:${Aws.ACCOUNT_ID}:recovery-point:*`;

interface BackedUp {
  readonly tableArn: string;
  readonly key: IKey;
  readonly vaults: readonly IBackupVault[];
}

/** The rights of AWS's own backup policy, limited to this table and these vaults. */
const roleOf = (scope: Construct, { tableArn, key, vaults }: BackedUp): Role => {
  const rights = new ManagedPolicy(scope, 'Rights', {
    description: 'Backs up the table',
    statements: [
      allow(
        [
          'dynamodb:CreateBackup',
          'dynamodb:DescribeTable',
          'dynamodb:ListTagsOfResource',
          'dynamodb:StartAwsBackupJob',
        ],
        [tableArn],
      ),
      allow(['dynamodb:DeleteBackup', 'dynamodb:DescribeBackup'], [`${tableArn}/backup/*`]),
      allow(
        ['backup:CopyIntoBackupVault', 'backup:DescribeBackupVault'],
        vaults.map(({ backupVaultArn }) => backupVaultArn),
      ),
      allow(['backup:CopyFromBackupVault'], ['*']),
      allow(['backup:TagResource'], [RECOVERY_POINTS]),
      allow(['kms:Decrypt', 'kms:DescribeKey', 'kms:GenerateDataKey'], [key.keyArn]),
      new PolicyStatement({
        actions: ['kms:CreateGrant'],
        resources: [key.keyArn],
        conditions: { Bool: { 'kms:GrantIsForAWSResource': 'true' } },
      }),
    ],
  });
  for (const named of ['*', 'arn:<AWS::Partition>:backup:*:<AWS::AccountId>:recovery-point:*']) {
    acknowledge(rights, 'AwsSolutions-IAM5', `Resource::${named}`);
  }
  return new Role(scope, 'Role', {
    description: 'Backs up the table',
    assumedBy: new ServicePrincipal('backup.amazonaws.com', {
      conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
    }),
    managedPolicies: [rights],
  });
};
