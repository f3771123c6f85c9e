import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { QueueName } from '../../../shared/core/rights.ts';
import type { PaymentSlot, ProviderSlot } from '../../../shared/core/settings.ts';
import type { DeploymentSettings } from '../stage/settings.ts';
import type { Alarms } from './alarm.ts';

/** The resources with data, as references for other stacks. */
export interface KeptResources {
  /** The table in use, possibly a restored table. */
  readonly table: { readonly name: string; readonly arn: string; readonly streamArn: string };
  readonly bus: { readonly name: string; readonly arn: string };
  readonly providerSecretArn: (slot: ProviderSlot) => string;
  /** The secret that verifies the events of a provider. */
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

/** The resources and settings available to the functions of one stack. */
export interface ServiceContext {
  readonly kept: KeptResources;
  /** The folder of the bundles, with one folder per id. */
  readonly codeDir: string;
  /** The dead-letter queue of asynchronous invocations that exhausted their retries. */
  readonly undone: IQueue;
  /** The operator's settings and the base URL. */
  readonly environment: Readonly<Record<string, string>>;
  readonly queues: ReadonlyMap<QueueName, QueueReference>;
  readonly settings: DeploymentSettings;
}
