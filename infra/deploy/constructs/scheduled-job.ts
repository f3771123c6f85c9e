import { Duration } from 'aws-cdk-lib';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { ScheduleTrigger } from '../../../shared/platform/trigger.ts';
import { serviceAlarm } from './alarm.ts';
import { reservedForTrigger } from './bulkheads.ts';
import type { ServiceContext } from './context.ts';
import { ServiceFunction } from './service-function.ts';

/** The next run repeats failed work, so only several failures in a row raise an alarm. */
const RUNS_UNTIL_ALARM = 3;

export interface ScheduledJobProps {
  readonly context: ServiceContext;
  readonly trigger: ScheduleTrigger;
  readonly logGroup: ILogGroup;
}

export interface JobMetrics {
  readonly runs: Metric;
  readonly failures: Metric;
}

export const jobMetrics = ({ everyMinutes }: ScheduleTrigger, functionName: string): JobMetrics => {
  const count = (metricName: string): Metric =>
    new Metric({
      namespace: 'AWS/Lambda',
      metricName,
      dimensionsMap: { FunctionName: functionName },
      period: Duration.minutes(everyMinutes),
      statistic: 'Sum',
    });
  return { runs: count('Invocations'), failures: count('Errors') };
};

/** A scheduled function, with alarms for failed and missing runs. */
export class ScheduledJob extends Construct {
  readonly trigger: ScheduleTrigger;
  readonly functionName: string;

  constructor(scope: Construct, id: string, { context, trigger, logGroup }: ScheduledJobProps) {
    super(scope, id);
    this.trigger = trigger;
    const every = Duration.minutes(trigger.everyMinutes);
    const { lambda } = new ServiceFunction(this, 'Job', {
      context,
      spec: trigger,
      logGroup,
      reserved: reservedForTrigger(trigger, context.settings.bulkheads),
    });
    // No grant is needed, because the queue's own policy admits every schedule of the stage.
    const { undone } = context;
    new Rule(this, 'Schedule', {
      schedule: Schedule.rate(every),
      enabled: trigger.isPaused !== true,
      targets: [new LambdaFunction(lambda, { retryAttempts: 0, deadLetterQueue: undone })],
    });
    lambda.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: every, onFailure: new SqsDestination(undone) });
    const alarm = { alarms: context.kept.alarms, threshold: 1, periods: RUNS_UNTIL_ALARM, watches: 'state' } as const;
    this.functionName = lambda.functionName;
    const { runs, failures } = jobMetrics(trigger, this.functionName);
    const [, name = trigger.id] = trigger.id.split('.');
    serviceAlarm(this, 'FailureAlarm', {
      ...alarm,
      name: `${name}-fails`,
      metric: failures,
      description: `${trigger.id} fails. ${trigger.impact}`,
    });
    serviceAlarm(this, 'SilenceAlarm', {
      ...alarm,
      name: `${name}-silent`,
      metric: runs,
      alarmsOn: 'silence',
      description: `${trigger.id} does not run. ${trigger.impact}`,
    });
  }
}
