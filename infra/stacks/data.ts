import { CfnOutput, SecretValue, Validations } from 'aws-cdk-lib';
import {
  AttributeType,
  BillingMode,
  ProjectionType,
  StreamViewType,
  Table,
  TableEncryption,
} from 'aws-cdk-lib/aws-dynamodb';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';
import { PROVIDER_SLOTS, type ProviderSlot } from '../../shared/settings.ts';
import { TABLE } from '../../shared/table/schema.ts';
import type { KeptResources } from '../constructs/context.ts';
import { constructId } from '../constructs/service-function.ts';
import { type DeploymentSettings, type Stage, webhookSecretName } from '../settings.ts';
import { ServiceStack } from './service-stack.ts';

/** What outlives every function: the table, the bus, the secrets, and the topic of the alarms. */
export class DataStack extends ServiceStack {
  readonly kept: KeptResources;

  constructor(scope: Construct, { stage, alarmEmail }: DeploymentSettings) {
    super(scope, { stage, part: 'data', description: 'Payments: table, event bus, secrets' });
    const alarms = new Topic(this, 'Alarms', { displayName: `Payments (${stage})`, enforceSSL: true });
    if (alarmEmail !== '') alarms.addSubscription(new EmailSubscription(alarmEmail));
    this.kept = {
      table: this.#table(),
      bus: new EventBus(this, 'Bus', { description: 'Events of payments and of their providers' }),
      providerSecrets: {
        provider_a: this.#providerSecret('provider_a'),
        provider_b: this.#providerSecret('provider_b'),
        provider_c: this.#providerSecret('provider_c'),
        provider_d: this.#providerSecret('provider_d'),
      },
      guestTokenSecret: this.#guestTokenSecret(),
      webhookSecret: this.#webhookSecret(stage),
      alarms,
    };
    for (const slot of PROVIDER_SLOTS) {
      new CfnOutput(this, `${constructId(slot)}SecretArn`, { value: this.kept.providerSecrets[slot].secretArn });
    }
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

  /** Empty at first, which closes the provider: the operator fills in what the provider's console shows. */
  #providerSecret(slot: ProviderSlot): Secret {
    const secret = new Secret(this, `${constructId(slot)}Secret`, {
      description: `Keys of ${slot}: a JSON object such as {"API_KEY": "…", "WEBHOOK_SECRET": "…"}`,
      secretStringValue: SecretValue.unsafePlainText('{}'),
      removalPolicy: this.removalPolicy,
    });
    Validations.of(secret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason: "A provider's keys are made and changed in the provider's own console; AWS cannot rotate them.",
    });
    return secret;
  }

  #guestTokenSecret(): Secret {
    const secret = new Secret(this, 'GuestTokenSecret', {
      description: 'Signs guest tokens; a comma list rotates: the first signs, all verify',
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      removalPolicy: this.removalPolicy,
    });
    Validations.of(secret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason: 'A rotation that dropped the old secret would void every guest token; the operator puts a new one first.',
    });
    return secret;
  }

  /** Empty at first; `npm run deploy` fills in what the operator's environment says. */
  #webhookSecret(stage: Stage): Secret {
    const secret = new Secret(this, 'WebhookSecret', {
      secretName: webhookSecretName(stage),
      description: 'Targets of outbound webhooks and what signs them: the variables WEBHOOK_<n>_… as a JSON object',
      secretStringValue: SecretValue.unsafePlainText('{}'),
      removalPolicy: this.removalPolicy,
    });
    Validations.of(secret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason: 'It follows the operator’s environment; a signing secret rotates there, as a list, with its target.',
    });
    return secret;
  }
}
