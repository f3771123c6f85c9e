import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { EventBus } from 'aws-cdk-lib/aws-events';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { QueueName } from '../../shared/core/rights.ts';
import type { ProviderSlot } from '../../shared/core/settings.ts';
import type { Alarms } from './alarm.ts';

/** CDK's classes, not its interfaces: those do not fit exactOptionalPropertyTypes. What is kept: everything that outlives a change of the functions. */
export interface KeptResources {
  readonly table: Table;
  readonly bus: EventBus;
  readonly providerSecrets: Readonly<Record<ProviderSlot, Secret>>;
  readonly guestTokenSecret: Secret;
  /** Where outbound webhooks go, and what they are signed with. */
  readonly webhookSecret: Secret;
  readonly alarms: Alarms;
  readonly key: IKey;
}

/** What a function of the service may be granted or told. */
export interface ServiceContext extends KeptResources {
  /** The folder of the bundles, one folder an id. */
  readonly codeDir: string;
  /** Where an invocation goes that AWS made by itself and that failed for good. */
  readonly undone: Queue;
  /** Settings of the operator, and the base URL. */
  readonly environment: Readonly<Record<string, string>>;
  readonly queues: ReadonlyMap<QueueName, Queue>;
}
