import { Aws, CfnOutput, SecretValue } from 'aws-cdk-lib';
import {
  AttributeType,
  BillingMode,
  ProjectionType,
  StreamViewType,
  Table,
  TableEncryption,
} from 'aws-cdk-lib/aws-dynamodb';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { PAYMENT_SLOTS, type PaymentSlot, PROVIDER_SLOTS, type ProviderSlot } from '../../../shared/core/settings.ts';
import { TABLE } from '../../../shared/platform/keys.ts';
import { constructId } from '../constructs/service-function.ts';
import { ServiceKey } from '../constructs/service-key.ts';
import { TableBackups } from '../constructs/table-backups.ts';
import { acknowledge } from '../stage/acknowledged.ts';
import { type DeploymentSettings, type Stage, type TableInUse, webhookSecretName } from '../stage/settings.ts';
import { ServiceStack } from './service-stack.ts';

/** The resources that hold data or are shared: the table, the bus, the key, the secrets, and the alarm topic. */
export class DataStack extends ServiceStack {
  constructor(scope: Construct, { stage, tableInUse, backupCopyTo }: DeploymentSettings) {
    super(scope, { stage, part: 'data', description: 'Payments: table, event bus, secrets' });
    const key = new ServiceKey(this, 'Key', { removalPolicy: this.removalPolicy }).reference;
    const table = this.#table();
    const bus = new EventBus(this, 'Bus', { description: 'Events of payments and of their providers' });
    const secrets = this.#secrets(stage, key);
    const { topicArn } = this.#alarms(stage, key);
    const used = tableInUse ?? ownTable(table);
    this.share({ 'table-name': used.name, 'table-arn': used.arn, 'table-stream-arn': used.streamArn });
    this.share({ 'bus-name': bus.eventBusName, 'bus-arn': bus.eventBusArn });
    this.share({ 'key-arn': key.keyArn, 'alarms-arn': topicArn });
    this.share(Object.fromEntries([...secrets].map(([name, { secretArn }]) => [name, secretArn])));
    if (this.production) {
      const backups = new TableBackups(this, 'Backups', {
        tableArn: used.arn,
        key,
        copyTo: backupCopyTo,
        alarms: { stage, topicArn },
        removalPolicy: this.removalPolicy,
      });
      const named = tableInUse?.arn ?? `<${this.logicalIdOf(table)}.Arn>`;
      acknowledge(backups, 'AwsSolutions-IAM5', `Resource::${named}/backup/*`);
    }
  }

  /** The secrets by shared-value name. */
  #secrets(stage: Stage, key: IKey): ReadonlyMap<string, Secret> {
    const ofProviders = PROVIDER_SLOTS.map((slot) => [slot, this.#providerSecret(slot, key)] as const);
    const ofSignatures = PAYMENT_SLOTS.map((slot) => [slot, this.#signatureSecret(slot, key)] as const);
    const others = [
      ['guest-token-secret-arn', this.#guestTokenSecret(key)],
      ['id-secret-arn', this.#idSecret(key)],
      ['webhook-secret-arn', this.#webhookSecret(stage, key)],
    ] as const;
    for (const [slot, { secretArn: value }] of ofProviders) {
      new CfnOutput(this, `${constructId(slot)}SecretArn`, { value });
    }
    for (const [slot, { secretArn: value }] of ofSignatures) {
      new CfnOutput(this, `${constructId(slot)}SignatureSecretArn`, { value });
    }
    return new Map([
      ...ofProviders.map(([slot, secret]) => [`${slot}-secret-arn`, secret] as const),
      ...ofSignatures.map(([slot, secret]) => [`${slot}-signature-secret-arn`, secret] as const),
      ...others,
    ]);
  }

  #alarms(stage: Stage, key: IKey): Topic {
    const topic = new Topic(this, 'Alarms', {
      displayName: `Payments (${stage})`,
      enforceSSL: true,
      masterKey: key,
    });
    // This policy replaces the default policy, which admits CloudWatch along with the whole account.
    topic.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
    );
    return topic;
  }

  #table(): Table {
    const table = new Table(this, 'Table', {
      partitionKey: { name: TABLE.partitionKey, type: AttributeType.STRING },
      sortKey: { name: TABLE.sortKey, type: AttributeType.STRING },
      timeToLiveAttribute: TABLE.ttl,
      billingMode: BillingMode.PAY_PER_REQUEST,
      encryption: TableEncryption.AWS_MANAGED,
      stream: StreamViewType.NEW_AND_OLD_IMAGES,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: this.production,
      removalPolicy: this.removalPolicy,
    });
    for (const { name, partitionKey, sortKey, include } of TABLE.indexes) {
      table.addGlobalSecondaryIndex({
        indexName: name,
        partitionKey: { name: partitionKey, type: AttributeType.STRING },
        sortKey: { name: sortKey, type: AttributeType.STRING },
        ...(include.length > 0
          ? { projectionType: ProjectionType.INCLUDE, nonKeyAttributes: [...include] }
          : { projectionType: ProjectionType.KEYS_ONLY }),
      });
    }
    return table;
  }

  /**
   * The secret for a provider's keys from the provider's own console. It is empty at first, so the provider is closed
   * until the operator adds the keys.
   */
  #providerSecret(slot: ProviderSlot, key: IKey): Secret {
    const description = `Keys of ${slot}: a JSON object such as {"API_KEY": "…"}`;
    return this.#emptySecret(`${constructId(slot)}Secret`, description, key);
  }

  /**
   * The secret that verifies a provider's events. It is empty at first, so the route of the events is closed until the
   * operator adds the value.
   */
  #signatureSecret(slot: PaymentSlot, key: IKey): Secret {
    const description = `Verifies the events of ${slot}: a JSON object such as {"WEBHOOK_SECRET": "…"}`;
    return this.#emptySecret(`${constructId(slot)}SignatureSecret`, description, key);
  }

  #emptySecret(id: string, description: string, key: IKey): Secret {
    const secret = new Secret(this, id, {
      description,
      secretStringValue: SecretValue.unsafePlainText('{}'),
      encryptionKey: key,
      removalPolicy: this.removalPolicy,
    });
    acknowledge(secret, 'AwsSolutions-SMG4');
    return secret;
  }

  #guestTokenSecret(key: IKey): Secret {
    const description = 'Secrets of guest tokens, separated by commas: the first signs, all verify';
    return this.#generatedSecret('GuestTokenSecret', description, key);
  }

  #idSecret(key: IKey): Secret {
    const description = 'The key of the ids that a repeated request finds again; never rotate it';
    return this.#generatedSecret('IdSecret', description, key);
  }

  #generatedSecret(id: string, description: string, key: IKey): Secret {
    const secret = new Secret(this, id, {
      description,
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      encryptionKey: key,
      removalPolicy: this.removalPolicy,
    });
    acknowledge(secret, 'AwsSolutions-SMG4');
    return secret;
  }

  /** The secret of the webhook targets. It is empty until `npm run deploy` stores the operator's webhook variables. */
  #webhookSecret(stage: Stage, key: IKey): Secret {
    const secret = new Secret(this, 'WebhookSecret', {
      secretName: webhookSecretName(stage),
      description:
        'Targets of outbound webhooks and their signing secrets: the variables WEBHOOK_<n>_… as a JSON object',
      secretStringValue: SecretValue.unsafePlainText('{}'),
      encryptionKey: key,
      removalPolicy: this.removalPolicy,
    });
    acknowledge(secret, 'AwsSolutions-SMG4');
    return secret;
  }
}

const ownTable = ({ tableName: name, tableArn: arn, tableStreamArn: streamArn }: Table): TableInUse => {
  if (streamArn === undefined) throw new Error('the table has no stream');
  return { name, arn, streamArn };
};
