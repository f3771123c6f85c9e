import { CfnElement, CfnOutput, Duration, type Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { BlockPublicAccess, Bucket, BucketEncryption, type BucketProps } from 'aws-cdk-lib/aws-s3';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import type { QueueName } from '../../shared/core/rights.ts';
import type { Trigger } from '../../shared/platform/trigger.ts';
import type { ServiceContext } from '../constructs/context.ts';
import { ConsumedQueue, QueueConsumer } from '../constructs/queue-consumer.ts';
import { ScheduledJob } from '../constructs/scheduled-job.ts';
import { constructId } from '../constructs/service-function.ts';
import { StreamConsumer } from '../constructs/stream-consumer.ts';
import { acknowledge } from '../stage/acknowledged.ts';
import {
  deadLettersOutput,
  FAILURE_BUCKET_OUTPUT,
  OPERATED_FUNCTION_OUTPUT,
  queueOutput,
  type Stage,
} from '../stage/settings.ts';
import { ServiceStack } from './service-stack.ts';

/** A stream supports two consumers. A third consumer would throttle all of them. */
const STREAM_CONSUMERS = 2;
/** The function whose environment holds all settings of the service, because it runs every kind of due work. */
const OPERATED = 'workers.run-due';
const FAILURES_KEPT = Duration.days(90);

export interface EventsStackProps {
  readonly stage: Stage;
  readonly triggers: readonly Trigger[];
  /** The context without the queues, because this stack creates them. */
  readonly context: Omit<ServiceContext, 'queues'>;
}

/** Background work, with stream readers, queues with their consumers, and schedules. */
export class EventsStack extends ServiceStack {
  readonly queues: ReadonlyMap<QueueName, Queue>;
  readonly deadLetters: ReadonlyMap<QueueName, Queue>;
  readonly readers: readonly StreamConsumer[];
  readonly jobs: readonly ScheduledJob[];
  readonly consumers: readonly QueueConsumer[];

  constructor(scope: Construct, { stage, triggers, context: kept }: EventsStackProps) {
    super(scope, { stage, part: 'events', description: 'Payments: stream and queue consumers, schedules' });
    const consumed = new Map(
      triggers
        .filter((trigger) => trigger.kind === 'queue')
        .map((trigger) => [
          trigger.queue,
          new ConsumedQueue(this, `${constructId(trigger.queue)}Queue`, { trigger, kept }),
        ]),
    );
    this.queues = new Map([...consumed].map(([name, { queue }]) => [name, queue]));
    this.deadLetters = new Map([...consumed].map(([name, { deadLetters }]) => [name, deadLetters]));
    if (triggers.filter(({ kind }) => kind === 'stream').length > STREAM_CONSUMERS) {
      throw new Error(`a stream takes ${STREAM_CONSUMERS} consumers`);
    }
    const context = { ...kept, queues: this.queues };
    const logGroup = this.logGroup('Logs', { encryptionKey: kept.key, days: kept.settings.logDays });
    const failures = this.#failures(kept.key);
    for (const trigger of triggers) {
      const id = constructId(trigger.id);
      if (trigger.kind === 'stream') new StreamConsumer(this, id, { context, trigger, logGroup, failures });
      if (trigger.kind === 'schedule') new ScheduledJob(this, id, { context, trigger, logGroup });
      const queue = trigger.kind === 'queue' ? this.queues.get(trigger.queue) : undefined;
      if (trigger.kind === 'queue' && queue) new QueueConsumer(this, id, { context, trigger, logGroup, queue });
    }
    this.#tellOperators(failures);
    this.jobs = this.node.children.filter((child) => child instanceof ScheduledJob);
    this.consumers = this.node.children.filter((child) => child instanceof QueueConsumer);
    this.readers = this.node.children.filter((child) => child instanceof StreamConsumer);
    for (const consumer of this.readers) {
      acknowledge(consumer, 'AwsSolutions-IAM5', `Resource::<${logicalIdOf(this, failures)}.Arn>/*`);
    }
  }

  /** Outputs that payctl reads. */
  #tellOperators(failures: Bucket): void {
    for (const [name, { queueUrl }] of this.queues) new CfnOutput(this, queueOutput(name), { value: queueUrl });
    for (const [name, { queueUrl }] of this.deadLetters) {
      new CfnOutput(this, deadLettersOutput(name), { value: queueUrl });
    }
    const operated = this.node.tryFindChild(constructId(OPERATED));
    if (!(operated instanceof QueueConsumer)) throw new Error(`there is no function ${OPERATED}`);
    new CfnOutput(this, OPERATED_FUNCTION_OUTPUT, { value: operated.lambda.functionName });
    new CfnOutput(this, FAILURE_BUCKET_OUTPUT, { value: failures.bucketName });
  }

  /** The bucket of failed records. It holds whole changes, which contain personal data. */
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

const logicalIdOf = (stack: Stack, { node: { defaultChild } }: Construct): string => {
  if (!CfnElement.isCfnElement(defaultChild)) throw new Error('a construct without a resource has no logical id');
  return stack.getLogicalId(defaultChild);
};
