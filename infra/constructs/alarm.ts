import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import type { Stage } from '../stage/settings.ts';

/** The stage, and the topic of its alarms. */
export interface Alarms {
  readonly topic: ITopic;
  readonly stage: Stage;
}

export interface ServiceAlarmProps {
  readonly alarms: Alarms;
  /** The alarm's name in docs/operations.md. */
  readonly name: string;
  readonly metric: IMetric;
  /** The failure, and its impact on the business. */
  readonly description: string;
  readonly threshold: number;
  /** True if the value must exceed the threshold; by default the threshold itself raises the alarm. */
  readonly exceeds?: boolean;
  /** Consecutive periods; 1 by default. */
  readonly periods?: number;
  /**
   * A state (a depth, an age, a rate) ends, and its end is mailed. An occurrence has no end, so only the occurrence is
   * mailed.
   */
  readonly watches: 'state' | 'occurrence';
  /** With `silence`, missing data raises the alarm, for work that must happen regularly. */
  readonly alarmsOn?: 'much' | 'silence';
}

/** An alarm with its impact. */
export const serviceAlarm = (scope: Construct, id: string, props: ServiceAlarmProps): Alarm => {
  const { alarms, name, metric, description, threshold, watches, periods = 1, alarmsOn = 'much' } = props;
  const much = props.exceeds
    ? ComparisonOperator.GREATER_THAN_THRESHOLD
    : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD;
  const alarm = new Alarm(scope, id, {
    alarmName: `payments-${alarms.stage}-${name}`,
    metric,
    alarmDescription: description,
    threshold,
    evaluationPeriods: periods,
    comparisonOperator: alarmsOn === 'much' ? much : ComparisonOperator.LESS_THAN_THRESHOLD,
    treatMissingData: alarmsOn === 'much' ? TreatMissingData.NOT_BREACHING : TreatMissingData.BREACHING,
  });
  const action = new SnsAction(alarms.topic);
  alarm.addAlarmAction(action);
  if (watches === 'state') alarm.addOkAction(action);
  return alarm;
};
