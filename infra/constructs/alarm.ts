import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import type { Stage } from '../settings.ts';

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
  /** `silence` is an alarm too: for what has to happen regularly. */
  readonly alarmsOn?: 'much' | 'silence';
}

/** An alarm that says what it means, and tells when it is over. */
export const serviceAlarm = (scope: Construct, id: string, props: ServiceAlarmProps): Alarm => {
  const { alarms, name, metric, description, threshold, periods = 1, alarmsOn = 'much' } = props;
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
  alarm.addOkAction(action);
  return alarm;
};
