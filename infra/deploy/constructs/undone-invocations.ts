import { Aws, Duration } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Subscription, SubscriptionProtocol, Topic } from 'aws-cdk-lib/aws-sns';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { acknowledge } from '../stage/acknowledged.ts';
import { type Alarms, serviceAlarm } from './alarm.ts';

/** The next run repeats failed work, so the dead letter of a failed run is only evidence and may expire. */
const KEPT = Duration.days(1);

export interface UndoneInvocationsProps {
  readonly alarms: Alarms;
  /** If empty, alarms have no recipient until someone subscribes. */
  readonly alarmEmail: string;
}

/**
 * The dead-letter queue for work that AWS starts itself: scheduled runs, asynchronous invocations and alarm e-mails.
 * Every function uses it, so no event is lost without a trace.
 */
export class UndoneInvocations extends Construct {
  readonly queue: Queue;

  constructor(scope: Construct, id: string, { alarms, alarmEmail }: UndoneInvocationsProps) {
    super(scope, id);
    this.queue = new Queue(this, 'Queue', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: KEPT,
    });
    acknowledge(this.queue, 'Serverless-SQSRedrivePolicy');
    for (const [service, sourceArn] of [
      ['events', `arn:${Aws.PARTITION}:events:${Aws.REGION}:${Aws.ACCOUNT_ID}:rule/payments-${alarms.stage}-*`],
      ['sns', alarms.topicArn],
    ] as const) {
      this.queue.addToResourcePolicy(
        new PolicyStatement({
          principals: [new ServicePrincipal(`${service}.amazonaws.com`)],
          actions: ['sqs:SendMessage'],
          resources: [this.queue.queueArn],
          conditions: { ArnLike: { 'aws:SourceArn': sourceArn } },
        }),
      );
    }
    serviceAlarm(this, 'Alarm', {
      alarms,
      name: 'undone-invocations',
      metric: this.queue.metricApproximateNumberOfMessagesVisible({
        statistic: 'Maximum',
        period: Duration.minutes(1),
      }),
      threshold: 1,
      watches: 'state',
      description:
        'A scheduled run, another asynchronous invocation or the mail of an alarm failed permanently. ' +
        'Due work of payments and subscriptions runs a minute late, or an alarm was not delivered.',
    });
    if (alarmEmail !== '') {
      // Refers to the queue by ARN, because the queue's own policy already admits the topic.
      const deadLetterQueue = Queue.fromQueueArn(this, 'Reference', this.queue.queueArn);
      const topic = Topic.fromTopicArn(this, 'Alarms', alarms.topicArn);
      const mail = { topic, protocol: SubscriptionProtocol.EMAIL, endpoint: alarmEmail };
      new Subscription(this, 'Mail', { ...mail, deadLetterQueue });
    }
  }
}
