import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';

export interface ServiceAlarmProps {
  readonly topic: ITopic;
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
  const { topic, metric, description, threshold, periods = 1, alarmsOn = 'much' } = props;
  const alarm = new Alarm(scope, id, {
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
  const action = new SnsAction(topic);
  alarm.addAlarmAction(action);
  alarm.addOkAction(action);
  return alarm;
};
