import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { EventBus } from 'aws-cdk-lib/aws-events';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { QueueName } from '../../shared/core/rights.ts';
import type { PaymentSlot, ProviderSlot } from '../../shared/core/settings.ts';
import type { DeploymentSettings } from '../stage/settings.ts';
import type { Alarms } from './alarm.ts';

/** The resources with data. The types are CDK's classes, since its interfaces do not fit exactOptionalPropertyTypes. */
export interface KeptResources {
  readonly table: Table;
  readonly bus: EventBus;
  readonly providerSecrets: Readonly<Record<ProviderSlot, Secret>>;
  /** The secrets that verify the events of each provider. */
  readonly signatureSecrets: Readonly<Record<PaymentSlot, Secret>>;
  readonly guestTokenSecret: Secret;
  /** Targets of outbound webhooks and their signing secrets. */
  readonly webhookSecret: Secret;
  readonly alarms: Alarms;
  readonly key: IKey;
}

/** Everything that a function of the service may get a right to or a setting for. */
export interface ServiceContext extends KeptResources {
  /** The folder of the bundles, with one folder per id. */
  readonly codeDir: string;
  /** The dead-letter queue of asynchronous invocations that exhausted their retries. */
  readonly undone: Queue;
  /** Settings of the operator, and the base URL. */
  readonly environment: Readonly<Record<string, string>>;
  readonly queues: ReadonlyMap<QueueName, Queue>;
  readonly settings: DeploymentSettings;
}
