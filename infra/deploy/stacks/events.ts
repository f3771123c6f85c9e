import { CfnOutput, Duration } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { BlockPublicAccess, Bucket, BucketEncryption, type BucketProps } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import type { QueueName } from '../../../shared/core/rights.ts';
import type { Trigger } from '../../../shared/platform/trigger.ts';
import type { ServiceContext } from '../constructs/context.ts';
import { ConsumedQueue, QueueConsumer } from '../constructs/queue-consumer.ts';
import { ScheduledJob } from '../constructs/scheduled-job.ts';
import { constructId } from '../constructs/service-function.ts';
import { StreamConsumer } from '../constructs/stream-consumer.ts';
import { acknowledge } from '../stage/acknowledged.ts';
import {
  type DeploymentSettings,
  deadLettersOutput,
  FAILURE_BUCKET_OUTPUT,
  OPERATED_FUNCTION_OUTPUT,
  queueOutput,
} from '../stage/settings.ts';
import { baseUrlIn, functionValue, keptIn, queueValue, sourceValue, undoneIn } from './references.ts';
import { ServiceStack } from './service-stack.ts';

/** A stream supports two consumers. A third consumer would throttle all of them. */
const STREAM_CONSUMERS = 2;
/**
 * payctl reads the settings of a stage from this function's environment. It has all settings of the service, because
 * the function runs every kind of due work.
 */
const OPERATED = 'workers.run-due';
const FAILURES_KEPT = Duration.days(90);

export interface EventsStackProps {
  readonly settings: DeploymentSettings;
  readonly codeDir: string;
  readonly triggers: readonly Trigger[];
}

type Consumed = ReadonlyMap<QueueName, ConsumedQueue>;

/** Background work: stream readers, queue consumers and schedules. */
export class EventsStack extends ServiceStack {
  constructor(scope: Construct, { settings, codeDir, triggers }: EventsStackProps) {
    const { stage } = settings;
    super(scope, { stage, part: 'events', description: 'Payments: stream and queue consumers, schedules' });
    const kept = keptIn(this, stage);
    const consumed: Consumed = new Map(
      triggers
        .filter((trigger) => trigger.kind === 'queue')
        .map((trigger) => [
          trigger.queue,
          new ConsumedQueue(this, `${constructId(trigger.queue)}Queue`, { trigger, kept }),
        ]),
    );
    if (triggers.filter(({ kind }) => kind === 'stream').length > STREAM_CONSUMERS) {
      throw new Error(`a stream takes ${STREAM_CONSUMERS} consumers`);
    }
    const context: ServiceContext = {
      kept,
      codeDir,
      settings,
      undone: undoneIn(this),
      queues: new Map([...consumed].map(([name, { queue }]) => [name, { arn: queue.queueArn, url: queue.queueUrl }])),
      environment: { ...settings.environment, PUBLIC_BASE_URL: baseUrlIn(this, settings) },
    };
    const logGroup = this.logGroup('Logs', { encryptionKey: kept.key, days: settings.logDays });
    const failures = this.#failures(kept.key);
    for (const trigger of triggers) {
      const id = constructId(trigger.id);
      if (trigger.kind === 'stream') new StreamConsumer(this, id, { context, trigger, logGroup, failures });
      if (trigger.kind === 'schedule') new ScheduledJob(this, id, { context, trigger, logGroup });
      const queue = trigger.kind === 'queue' ? consumed.get(trigger.queue)?.queue : undefined;
      if (trigger.kind === 'queue' && queue) new QueueConsumer(this, id, { context, trigger, logGroup, queue });
    }
    this.#tellOperators(failures, consumed);
    this.#shareQueues(consumed);
    this.#shareFunctions();
    for (const consumer of this.node.children.filter((child) => child instanceof StreamConsumer)) {
      acknowledge(consumer, 'AwsSolutions-IAM5', `Resource::<${this.logicalIdOf(failures)}.Arn>/*`);
    }
  }

  /** The outputs for payctl. */
  #tellOperators(failures: Bucket, consumed: Consumed): void {
    for (const [name, { queue }] of consumed) new CfnOutput(this, queueOutput(name), { value: queue.queueUrl });
    for (const [name, { deadLetters }] of consumed) {
      new CfnOutput(this, deadLettersOutput(name), { value: deadLetters.queueUrl });
    }
    const operated = this.node.tryFindChild(constructId(OPERATED));
    if (!(operated instanceof QueueConsumer)) throw new Error(`there is no function ${OPERATED}`);
    new CfnOutput(this, OPERATED_FUNCTION_OUTPUT, { value: operated.lambda.functionName });
    new CfnOutput(this, FAILURE_BUCKET_OUTPUT, { value: failures.bucketName });
  }

  #shareQueues(consumed: Consumed): void {
    for (const [name, { queue, deadLetters }] of consumed) {
      this.share({
        [queueValue(name, 'arn')]: queue.queueArn,
        [queueValue(name, 'url')]: queue.queueUrl,
        [queueValue(name, 'dead-letters-arn')]: deadLetters.queueArn,
      });
    }
  }

  /** The functions and event sources that the dashboard shows. */
  #shareFunctions(): void {
    for (const child of this.node.children) {
      if (child instanceof QueueConsumer) {
        this.share({ [functionValue(child.trigger.id)]: child.lambda.functionName });
      }
      if (child instanceof ScheduledJob || child instanceof StreamConsumer) {
        this.share({ [functionValue(child.trigger.id)]: child.functionName });
      }
      if (child instanceof StreamConsumer) {
        this.share({ [sourceValue(child.trigger.id)]: child.sourceId });
      }
    }
  }

  /** The bucket of failed records. It stores whole changes, including personal data. */
  #failures(encryptionKey: IKey): Bucket {
    const kept: BucketProps = {
      encryption: BucketEncryption.KMS,
      encryptionKey,
      bucketKeyEnabled: true,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      enforceSSL: true,
      versioned: true,
      lifecycleRules: [{ expiration: FAILURES_KEPT, noncurrentVersionExpiration: FAILURES_KEPT }],
      removalPolicy: this.removalPolicy,
    };
    const readers = new Bucket(this, 'FailureReaders', kept);
    const failures = new Bucket(this, 'Failures', {
      ...kept,
      serverAccessLogsBucket: Bucket.fromBucketName(this, 'Readers', readers.bucketName),
    });
    readers.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('logging.s3.amazonaws.com')],
        actions: ['s3:PutObject'],
        resources: [readers.arnForObjects('*')],
        conditions: { ArnEquals: { 'aws:SourceArn': failures.bucketArn } },
      }),
    );
    for (const bucket of [readers, failures]) acknowledge(bucket, 'PCI.DSS.321-S3BucketReplicationEnabled');
    return failures;
  }
}
