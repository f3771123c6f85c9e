import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { QueueName } from '../../../shared/core/rights.ts';
import type { PaymentSlot, ProviderSlot } from '../../../shared/core/settings.ts';
import type { DeploymentSettings } from '../stage/settings.ts';
import type { Alarms } from './alarm.ts';

/** The resources with data, as another stack refers to them. */
export interface KeptResources {
  /** The table in use, which may be a restored one. */
  readonly table: { readonly name: string; readonly arn: string; readonly streamArn: string };
  readonly bus: { readonly name: string; readonly arn: string };
  readonly providerSecretArn: (slot: ProviderSlot) => string;
  /** The secrets that verify the events of each provider. */
  readonly signatureSecretArn: (slot: PaymentSlot) => string;
  readonly guestTokenSecretArn: string;
  readonly idSecretArn: string;
  /** Targets of outbound webhooks and their signing secrets. */
  readonly webhookSecretArn: string;
  readonly alarms: Alarms;
  readonly key: IKey;
}

export interface QueueReference {
  readonly arn: string;
  readonly url: string;
}

/** Everything that a function of the service may get a right to or a setting for, as its own stack refers to it. */
export interface ServiceContext {
  readonly kept: KeptResources;
  /** The folder of the bundles, with one folder per id. */
  readonly codeDir: string;
  /** The dead-letter queue of asynchronous invocations that exhausted their retries. */
  readonly undone: IQueue;
  /** Settings of the operator, and the base URL. */
  readonly environment: Readonly<Record<string, string>>;
  readonly queues: ReadonlyMap<QueueName, QueueReference>;
  readonly settings: DeploymentSettings;
}
