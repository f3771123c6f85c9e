import { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { EventSourceMapping, FilterCriteria, FilterRule, MetricType, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import type { StreamTrigger } from '../../../shared/platform/trigger.ts';
import { serviceAlarm } from './alarm.ts';
import { reservedForTrigger } from './bulkheads.ts';
import type { ServiceContext } from './context.ts';
import { allow } from './rights.ts';
import { ServiceFunction } from './service-function.ts';

const TRIES = 10;
const LATE = Duration.minutes(5);

export interface StreamConsumerProps {
  readonly context: ServiceContext;
  readonly trigger: StreamTrigger;
  readonly logGroup: ILogGroup;
  /** The bucket of records that exhausted their retries. */
  readonly failures: Bucket;
}

export interface StreamMetrics {
  /** The maximum lag behind the stream. */
  readonly age: Metric;
  /** Counts of the consumer's records, by result. */
  readonly counts: readonly Metric[];
  readonly givenUp: MathExpression;
}

export const streamMetrics = ({
  functionName,
  sourceId,
}: {
  readonly functionName: string;
  readonly sourceId: string;
}): StreamMetrics => {
  const count = counterOf(sourceId);
  return {
    age: new Metric({
      namespace: 'AWS/Lambda',
      metricName: 'IteratorAge',
      dimensionsMap: { FunctionName: functionName },
      statistic: 'Maximum',
      period: Duration.minutes(1),
    }),
    counts: [count('PolledEventCount'), count('InvokedEventCount'), count('FailedInvokeEventCount')],
    givenUp: sumOfGivenUp(count),
  };
};

/**
 * A function that reads changes from the table's stream, in order per item. After ten failures, a record is stored in a
 * bucket and raises an alarm.
 */
export class StreamConsumer extends Construct {
  readonly trigger: StreamTrigger;
  readonly functionName: string;
  readonly sourceId: string;

  constructor(scope: Construct, id: string, { context, trigger, logGroup, failures }: StreamConsumerProps) {
    super(scope, id);
    this.trigger = trigger;
    const { streamArn } = context.kept.table;
    const { lambda } = new ServiceFunction(this, 'Consumer', {
      context,
      spec: trigger,
      logGroup,
      reserved: reservedForTrigger(trigger, context.settings.bulkheads),
      statements: [
        allow(
          ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator', 'dynamodb:ListStreams'],
          [streamArn],
        ),
        allow(['s3:ListBucket'], [failures.bucketArn]),
        allow(['s3:PutObject'], [failures.arnForObjects('*')]),
        allow(['kms:GenerateDataKey'], [context.kept.key.keyArn]),
      ],
    });
    const source = new EventSourceMapping(this, 'Source', {
      target: lambda,
      eventSourceArn: streamArn,
      startingPosition: StartingPosition.TRIM_HORIZON,
      batchSize: trigger.batchSize,
      parallelizationFactor: trigger.batchesAtOnce,
      ...(trigger.gatherSeconds !== undefined && { maxBatchingWindow: Duration.seconds(trigger.gatherSeconds) }),
      bisectBatchOnError: true,
      retryAttempts: TRIES,
      reportBatchItemFailures: true,
      onFailure: { bind: () => ({ destination: failures.bucketArn }) },
      filters: filtersOf(trigger),
      metricsConfig: { metrics: [MetricType.EVENT_COUNT] },
    });
    this.functionName = lambda.functionName;
    this.sourceId = source.eventSourceMappingId;
    const { age, givenUp } = streamMetrics(this);
    const [, name = trigger.id] = trigger.id.split('.');
    serviceAlarm(this, 'Alarm', {
      alarms: context.kept.alarms,
      name: `${name}-gave-up`,
      metric: givenUp,
      threshold: 1,
      watches: 'occurrence',
      description: `${trigger.id} gave up on changes; they are in the failure bucket. ${trigger.impact}`,
    });
    serviceAlarm(this, 'LateAlarm', {
      alarms: context.kept.alarms,
      name: `${name}-late`,
      metric: age,
      threshold: LATE.toMilliseconds(),
      periods: 5,
      watches: 'state',
      description: `${trigger.id} is minutes behind the changes that it reads. ${trigger.impact}`,
    });
  }
}

/** Passes on insertions and changes of the trigger's records, and the trigger's declared removals. */
const filtersOf = ({ sortKeys, removalsOf }: StreamTrigger) => [
  filterOf(['INSERT', 'MODIFY'], sortKeys),
  ...(removalsOf ? [filterOf(['REMOVE'], removalsOf)] : []),
];

const filterOf = (eventNames: readonly string[], sortKeys: readonly string[]) =>
  FilterCriteria.filter({
    eventName: FilterRule.or(...eventNames),
    dynamodb: { Keys: { sk: { S: FilterRule.or(...sortKeys) } } },
  });

const counterOf =
  (sourceId: string) =>
  (metricName: string): Metric =>
    new Metric({
      namespace: 'AWS/Lambda',
      metricName,
      dimensionsMap: { EventSourceMappingUUID: sourceId },
      statistic: 'Sum',
    });

const sumOfGivenUp = (count: (metricName: string) => Metric): MathExpression =>
  new MathExpression({
    expression: 'FILL(kept, 0) + FILL(dropped, 0)',
    usingMetrics: { kept: count('OnFailureDestinationDeliveredEventCount'), dropped: count('DroppedEventCount') },
    label: 'given up',
    period: Duration.minutes(1),
  });
