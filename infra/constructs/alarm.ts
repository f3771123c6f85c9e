import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import type { Stage } from '../stage/settings.ts';

/** Where alarms go, and whose they are. */
export interface Alarms {
  readonly topic: ITopic;
  readonly stage: Stage;
}

export interface ServiceAlarmProps {
  readonly alarms: Alarms;
  /** As docs/operations.md lists it. */
  readonly name: string;
  readonly metric: IMetric;
  /** What happened, and then what it means for the business. */
  readonly description: string;
  readonly threshold: number;
  /** Periods in a row; one unless said otherwise. */
  readonly periods?: number;
  /**
   * A state (a depth, an age, a rate) is over when the metric says so, and that is told. An occurrence is not over
   * because it does not occur again: nobody is told that it is.
   */
  readonly watches: 'state' | 'occurrence';
  /** `silence` is an alarm too: for what has to happen regularly. */
  readonly alarmsOn?: 'much' | 'silence';
}

/** An alarm that says what it means. */
export const serviceAlarm = (scope: Construct, id: string, props: ServiceAlarmProps): Alarm => {
  const { alarms, name, metric, description, threshold, watches, periods = 1, alarmsOn = 'much' } = props;
  const alarm = new Alarm(scope, id, {
    alarmName: `payments-${alarms.stage}-${name}`,
    metric,
    alarmDescription: description,
    threshold,
    evaluationPeriods: periods,
    comparisonOperator:
      alarmsOn === 'much'
        ? ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD
        : ComparisonOperator.LESS_THAN_THRESHOLD,
    treatMissingData: alarmsOn === 'much' ? TreatMissingData.NOT_BREACHING : TreatMissingData.BREACHING,
  });
  const action = new SnsAction(alarms.topic);
  alarm.addAlarmAction(action);
  if (watches === 'state') alarm.addOkAction(action);
  return alarm;
};
