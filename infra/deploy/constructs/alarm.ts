import type { Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, type IMetric, MathExpression, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import type { Stage } from '../stage/settings.ts';

/** The topic that receives the alarms of a stage. */
export interface Alarms {
  readonly topicArn: string;
  readonly stage: Stage;
}

export interface ServiceAlarmProps {
  readonly alarms: Alarms;
  /** The alarm's name, as in docs/operations.md. */
  readonly name: string;
  readonly metric: IMetric;
  /** The failure and its business impact. */
  readonly description: string;
  readonly threshold: number;
  /** True if only a value above the threshold raises the alarm. By default, an equal value also does. */
  readonly exceeds?: boolean;
  /** Consecutive periods that must meet the condition; 1 by default. */
  readonly periods?: number;
  /**
   * The alarm of a state (a depth, an age, a rate) also sends an e-mail when the state returns to normal. An occurrence
   * never returns to normal, so its alarm sends no second e-mail.
   */
  readonly watches: 'state' | 'occurrence';
  /** `silence` is for work that must happen regularly. Missing data then raises the alarm. */
  readonly alarmsOn?: 'much' | 'silence';
}

/** Creates an alarm that describes its impact. */
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
  const action = { bind: () => ({ alarmActionArn: alarms.topicArn }) };
  alarm.addAlarmAction(action);
  if (watches === 'state') alarm.addOkAction(action);
  return alarm;
};

/** Minimum number of calls for a meaningful rate. One or two failures may be chance. */
const ENOUGH = 3;

/** Call and failure counts of one function or API, as sums over the same period. */
export interface Sampled {
  readonly asked: IMetric;
  /** Failures of different kinds, added up. */
  readonly failed: readonly IMetric[];
  /** Calls by this service itself, subtracted from `asked`. */
  readonly left?: IMetric | undefined;
}

/**
 * 1 if, for any sample, a period has at least three calls and more than half of them fail; else 0. The metric also
 * detects 19 failures of 19 requests at night, which are too few calls for a rate alarm. The expression compares twice
 * the failures with the calls, because a division by zero would leave a period without data.
 */
export const mostFail = (samples: readonly Sampled[], period: Duration): MathExpression => {
  const usingMetrics: Record<string, IMetric> = {};
  const named = (name: string, metric: IMetric): string => {
    const id = `${name}${Object.keys(usingMetrics).filter((known) => known.startsWith(name)).length}`;
    usingMetrics[id] = metric;
    return `FILL(${id}, 0)`;
  };
  const conditions = samples.map((sample) => {
    const left = sample.left === undefined ? '' : ` - ${named('left', sample.left)}`;
    const asked = `(${named('asked', sample.asked)}${left})`;
    const failed = sample.failed.map((metric) => named('failed', metric)).join(' + ');
    return `IF((${asked} >= ${ENOUGH}) AND (2 * (${failed}) > ${asked}), 1, 0)`;
  });
  const expression = conditions.length === 1 ? conditions.join() : `MAX([${conditions.join(', ')}])`;
  return new MathExpression({ expression, usingMetrics, label: 'most calls fail', period });
};
