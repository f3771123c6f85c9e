import { CfnElement, Duration, type Stack, Validations } from 'aws-cdk-lib';
import { BlockPublicAccess, Bucket, BucketEncryption } from 'aws-cdk-lib/aws-s3';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import type { QueueName } from '../../shared/core/rights.ts';
import type { Trigger } from '../../shared/workers/trigger.ts';
import type { ServiceContext } from '../constructs/context.ts';
import { ConsumedQueue, QueueConsumer } from '../constructs/queue-consumer.ts';
import { ScheduledJob } from '../constructs/scheduled-job.ts';
import { constructId } from '../constructs/service-function.ts';
import { StreamConsumer } from '../constructs/stream-consumer.ts';
import type { Stage } from '../settings.ts';
import { ServiceStack } from './service-stack.ts';

/** Two consumers are a stream's limit: a third would throttle all of them. */
const STREAM_CONSUMERS = 2;
const FAILURES_KEPT = Duration.days(90);

export interface EventsStackProps {
  readonly stage: Stage;
  readonly triggers: readonly Trigger[];
  /** Everything but the queues, which this stack makes. */
  readonly context: Omit<ServiceContext, 'queues'>;
}

/** What happens by itself: readers of the stream, queues with their consumers, schedules. */
export class EventsStack extends ServiceStack {
  readonly queues: ReadonlyMap<QueueName, Queue>;

  constructor(scope: Construct, { stage, triggers, context: kept }: EventsStackProps) {
    super(scope, { stage, part: 'events', description: 'Payments: stream and queue consumers, schedules' });
    const consumed = new Map(
      triggers
        .filter((trigger) => trigger.kind === 'queue')
        .map((trigger) => [
          trigger.queue,
          new ConsumedQueue(this, `${constructId(trigger.queue)}Queue`, { trigger, kept }).queue,
        ]),
    );
    this.queues = consumed;
    if (triggers.filter(({ kind }) => kind === 'stream').length > STREAM_CONSUMERS) {
      throw new Error(`a stream takes ${STREAM_CONSUMERS} consumers`);
    }
    const context = { ...kept, queues: consumed };
    const logGroup = this.logGroup('Logs');
    const failures = this.#failures();
    for (const trigger of triggers) {
      const id = constructId(trigger.id);
      if (trigger.kind === 'stream') new StreamConsumer(this, id, { context, trigger, logGroup, failures });
      if (trigger.kind === 'schedule') new ScheduledJob(this, id, { context, trigger, logGroup });
      const queue = trigger.kind === 'queue' ? consumed.get(trigger.queue) : undefined;
      if (trigger.kind === 'queue' && queue) new QueueConsumer(this, id, { context, trigger, logGroup, queue });
    }
    for (const consumer of this.node.children.filter((child) => child instanceof StreamConsumer)) {
      Validations.of(consumer).acknowledge({
        id: `AwsSolutions-IAM5[Resource::<${logicalIdOf(this, failures)}.Arn>/*]`,
        reason: 'Lambda names the failure objects; the bucket holds nothing else, and the function may only add.',
      });
    }
  }

  #failures(): Bucket {
    const bucket = new Bucket(this, 'Failures', {
      encryption: BucketEncryption.S3_MANAGED,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      enforceSSL: true,
      lifecycleRules: [{ expiration: FAILURES_KEPT }],
      removalPolicy: this.removalPolicy,
    });
    Validations.of(bucket).acknowledge({
      id: 'AwsSolutions-S1',
      reason: 'Only Lambda writes here, and rarely: each write raises an alarm, and CloudTrail tells who reads.',
    });
    return bucket;
  }
}

const logicalIdOf = (stack: Stack, { node: { defaultChild } }: Construct): string => {
  if (!CfnElement.isCfnElement(defaultChild)) throw new Error('a construct without a resource has no logical id');
  return stack.getLogicalId(defaultChild);
};
