import { Duration } from 'aws-cdk-lib';
import { CfnRule } from 'aws-cdk-lib/aws-events';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { QueueTrigger } from '../../shared/platform/trigger.ts';
import { acknowledge } from '../stage/acknowledged.ts';
import { serviceAlarm } from './alarm.ts';
import { reservedForTrigger } from './bulkheads.ts';
import type { KeptResources, ServiceContext } from './context.ts';
import { allow, queueEnvironment } from './rights.ts';
import { constructId, ServiceFunction } from './service-function.ts';

/** AWS recommends a visibility timeout of six times the function's timeout. */
const VISIBILITY_PER_TIMEOUT = 6;
const RETENTION = Duration.days(4);
/** Longer than the queue's own retention, since a dead letter's age counts from when the message was first sent. */
const DEAD_LETTER_RETENTION = Duration.days(14);

export interface ConsumedQueueProps {
  readonly trigger: QueueTrigger;
  readonly kept: KeptResources;
}

/** A queue, its dead-letter queue with an alarm, and the bus rules that feed it. */
export class ConsumedQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;

  constructor(scope: Construct, id: string, { trigger, kept }: ConsumedQueueProps) {
    super(scope, id);
    const secured = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true };
    const deadLetters = new Queue(this, 'DeadLetters', { ...secured, retentionPeriod: DEAD_LETTER_RETENTION });
    acknowledge(deadLetters, 'Serverless-SQSRedrivePolicy');
    this.deadLetters = deadLetters;
    this.queue = new Queue(this, 'Queue', {
      ...secured,
      retentionPeriod: RETENTION,
      visibilityTimeout: Duration.seconds(
        Math.max(trigger.visibilitySeconds, VISIBILITY_PER_TIMEOUT * trigger.timeoutSeconds),
      ),
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: trigger.maxReceives },
    });
    serviceAlarm(this, 'Alarm', {
      alarms: kept.alarms,
      name: `${trigger.queue}-dead-letters`,
      metric: deadLetters.metricApproximateNumberOfMessagesVisible({
        statistic: 'Maximum',
        period: Duration.minutes(1),
      }),
      threshold: 1,
      watches: 'state',
      description: `Messages of ${trigger.queue} are in its dead-letter queue. ${trigger.impact}`,
    });
    for (const rule of trigger.rules) feed(this, { busName: kept.bus.name, queue: this.queue, deadLetters, rule });
  }
}

interface Feed {
  readonly busName: string;
  readonly queue: Queue;
  readonly deadLetters: Queue;
  readonly rule: QueueTrigger['rules'][number];
}

/** Events that the bus cannot deliver go to the consumer's dead-letter queue, because they are the same messages. */
const feed = (scope: Construct, { busName, queue, deadLetters, rule }: Feed): void => {
  const { attrArn } = new CfnRule(scope, `Rule${constructId(rule.name)}`, {
    eventBusName: busName,
    eventPattern: rule.pattern,
    targets: [{ id: 'Queue', arn: queue.queueArn, deadLetterConfig: { arn: deadLetters.queueArn } }],
  });
  for (const target of [queue, deadLetters]) {
    target.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('events.amazonaws.com')],
        actions: ['sqs:SendMessage'],
        resources: [target.queueArn],
        conditions: { ArnEquals: { 'aws:SourceArn': attrArn } },
      }),
    );
  }
};

export interface QueueConsumerProps {
  readonly context: ServiceContext;
  readonly trigger: QueueTrigger;
  readonly logGroup: ILogGroup;
  readonly queue: Queue;
}

/** The function that consumes a queue. A failed message is retried alone, then goes to the dead-letter queue. */
export class QueueConsumer extends Construct {
  readonly lambda: LambdaFunction;

  constructor(scope: Construct, id: string, { context, trigger, logGroup, queue }: QueueConsumerProps) {
    super(scope, id);
    const reserved = reservedForTrigger(trigger, context.settings.bulkheads);
    const { lambda } = new ServiceFunction(this, 'Consumer', {
      context,
      spec: trigger,
      logGroup,
      reserved,
      environment: queueEnvironment(trigger.queue, queue.queueUrl),
      statements: [
        allow(
          ['sqs:ChangeMessageVisibility', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ReceiveMessage'],
          [queue.queueArn],
        ),
      ],
    });
    this.lambda = lambda;
    const source = new EventSourceMapping(this, 'Source', {
      target: lambda,
      eventSourceArn: queue.queueArn,
      batchSize: trigger.batchSize,
      ...(trigger.isPaused && { enabled: false }),
      // More pollers than instances would use up the messages' receives.
      maxConcurrency: reserved ?? trigger.maxConcurrency,
      reportBatchItemFailures: true,
    });
    acknowledge(source, 'Serverless-LambdaEventSourceMappingDestination');
  }
}
