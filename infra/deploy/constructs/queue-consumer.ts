import { Duration } from 'aws-cdk-lib';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { CfnRule } from 'aws-cdk-lib/aws-events';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { metricsNamespace } from '../../../shared/core/metrics.ts';
import type { QueueTrigger } from '../../../shared/platform/trigger.ts';
import { acknowledge } from '../stage/acknowledged.ts';
import type { Stage } from '../stage/settings.ts';
import { type Alarms, mostFail, serviceAlarm } from './alarm.ts';
import { reservedForTrigger } from './bulkheads.ts';
import type { KeptResources, ServiceContext } from './context.ts';
import { allow, queueEnvironment } from './rights.ts';
import { constructId, ServiceFunction } from './service-function.ts';

/** AWS recommends a visibility timeout of six times the function's timeout. */
const VISIBILITY_PER_TIMEOUT = 6;
const RETENTION = Duration.days(4);
/** Longer than the queue's own retention, because a dead letter's age counts from its first send. */
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
    alarmOnDeadLetters(this, { deadLetters, trigger, alarms: kept.alarms });
    for (const rule of trigger.rules) feed(this, { busName: kept.bus.name, queue: this.queue, deadLetters, rule });
  }
}

/**
 * If the dead letters of a queue can wait, they raise an alarm only above this number or after an hour. A restart of a
 * target alone leaves a few dead letters.
 */
const MANY = 10;
const LONG = { period: Duration.minutes(5), periods: 12 };

interface DeadLetters {
  readonly deadLetters: Queue;
  readonly trigger: QueueTrigger;
  readonly alarms: Alarms;
}

/**
 * The one-hour alarm uses the number of dead letters, not the age of the oldest. SQS excludes messages with three or
 * more receives from that age.
 */
const alarmOnDeadLetters = (scope: Construct, { deadLetters, trigger, alarms }: DeadLetters): void => {
  const { queue, impact, deadLettersCanWait: canWait } = trigger;
  const waiting = (period: Duration) =>
    deadLetters.metricApproximateNumberOfMessagesVisible({ statistic: 'Maximum', period });
  serviceAlarm(scope, 'Alarm', {
    alarms,
    name: `${queue}-dead-letters`,
    metric: waiting(Duration.minutes(1)),
    ...(canWait ? { threshold: MANY, exceeds: true } : { threshold: 1 }),
    watches: 'state',
    description: `${canWait ? `More than ${MANY} messages` : 'Messages'} of ${queue} are in its dead-letter queue. ${impact}`,
  });
  if (!canWait) return;
  serviceAlarm(scope, 'WaitAlarm', {
    alarms,
    name: `${queue}-dead-letters-wait`,
    metric: waiting(LONG.period),
    threshold: 1,
    periods: LONG.periods,
    watches: 'state',
    description: `Messages of ${queue} have been in its dead-letter queue for an hour. ${impact}`,
  });
};

interface Feed {
  readonly busName: string;
  readonly queue: Queue;
  readonly deadLetters: Queue;
  readonly rule: QueueTrigger['rules'][number];
}

/** Undeliverable events go to the consumer's dead-letter queue, because they are the same messages. */
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

const FAILURE_PERIOD = Duration.minutes(5);

export interface ConsumerMetrics {
  readonly calls: Metric;
  /** Completely failed calls, and failed messages within calls. */
  readonly failures: readonly Metric[];
}

interface WatchedConsumer {
  readonly stage: Stage;
  readonly trigger: Pick<QueueTrigger, 'queue'>;
  readonly functionName: string;
}

/** The metrics of a consumer, by its function name. */
export const consumerMetrics = ({ stage, trigger, functionName }: WatchedConsumer): ConsumerMetrics => {
  const counted = { period: FAILURE_PERIOD, statistic: 'Sum' };
  const ofLambda = (metricName: string) =>
    new Metric({
      ...counted,
      namespace: 'AWS/Lambda',
      metricName,
      dimensionsMap: { FunctionName: functionName },
      label: metricName,
    });
  const failed = new Metric({
    ...counted,
    namespace: metricsNamespace(stage),
    metricName: 'ConsumerFailures',
    dimensionsMap: { trigger: trigger.queue },
  });
  return { calls: ofLambda('Invocations'), failures: [ofLambda('Errors'), failed] };
};

/**
 * The function that consumes a queue. A failed message is retried alone. After its last retry, it goes to the
 * dead-letter queue. If most calls fail, the consumer's alarm rises long before that.
 */
export class QueueConsumer extends Construct {
  readonly trigger: QueueTrigger;
  readonly lambda: LambdaFunction;

  constructor(scope: Construct, id: string, { context, trigger, logGroup, queue }: QueueConsumerProps) {
    super(scope, id);
    this.trigger = trigger;
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
      // Always set, because CloudFormation may keep a `false` removed from the template.
      enabled: trigger.isPaused !== true,
      // With more pollers than instances, throttled receives would exhaust the messages' retries.
      maxConcurrency: reserved ?? trigger.maxConcurrency,
      reportBatchItemFailures: true,
    });
    acknowledge(source, 'Serverless-LambdaEventSourceMappingDestination');
    const { calls, failures } = consumerMetrics({
      stage: context.settings.stage,
      trigger,
      functionName: lambda.functionName,
    });
    const [, name = trigger.id] = trigger.id.split('.');
    serviceAlarm(this, 'FailureAlarm', {
      alarms: context.kept.alarms,
      name: `${name}-fails`,
      metric: mostFail([{ asked: calls, failed: failures }], FAILURE_PERIOD),
      threshold: 1,
      watches: 'state',
      description: `Most of at least three calls of ${trigger.id} within five minutes failed. ${trigger.impact}`,
    });
  }
}
