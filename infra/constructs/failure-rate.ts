/**
 * @module The failure rate of few calls. An alarm on five per cent of many requests never rises at night, when 19 of 19
 * requests fail.
 */

import type { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression } from 'aws-cdk-lib/aws-cloudwatch';

/** One or two failures may be chance. */
const ENOUGH = 3;

/** The calls to one function or API, and the failures among them, as sums over the same period. */
export interface Sampled {
  readonly asked: IMetric;
  /** Failures of different kinds, which are added. */
  readonly failed: readonly IMetric[];
  /** Calls that do not count as asked, because this service makes them itself. */
  readonly left?: IMetric | undefined;
}

/**
 * 1 while more than half of at least three calls of a period fail, for any of the samples, else 0. Compares products,
 * because a division by zero would leave a period without data.
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
