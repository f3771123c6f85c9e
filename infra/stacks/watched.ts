import { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { type MetricName, metricsNamespace } from '../../shared/observability/metrics.ts';
import { PROVIDER_SLOTS, type ProviderSlot } from '../../shared/settings.ts';
import { TABLE } from '../../shared/table/schema.ts';
import type { Stage } from '../settings.ts';
import type { THROTTLED_REQUESTS } from './throttling.ts';

/** What the service, and AWS for it, counts: the metrics of alarms and dashboard. */
const FIVE_MINUTES = Duration.minutes(5);

/** Too few say nothing about a rate. */
const ENOUGH_DECISIONS = 20;
const ENOUGH_CALLS = 10;
const ENOUGH_REQUESTS = 20;

type Line = Metric | MathExpression;

export interface Watched {
  /** How often, over all providers. */
  readonly count: (name: MetricName | typeof THROTTLED_REQUESTS, period?: Duration) => Metric;
  readonly ofProvider: (name: MetricName, slot: ProviderSlot, statistic: string, period?: Duration) => Metric;
  readonly failuresOf: (consumer: string) => Metric;
  /** In per cent, of the provider that is worst off. */
  readonly declineRate: Line;
  readonly providerErrorRate: Line;
  readonly requestErrorRate: Line;
  readonly requestLatency: Line;
  /** Of the whole account in this region: its functions share one limit. */
  readonly functionThrottles: Line;
  /** Of the table and its indexes together. */
  readonly tableThrottles: Line;
  readonly tableThrottlesByPart: readonly Metric[];
}

export interface Watching {
  readonly stage: Stage;
  readonly apiId: string;
  readonly tableName: string;
}

export const watched = ({ stage, apiId, tableName }: Watching): Watched => {
  const namespace = metricsNamespace(stage);
  const ofProvider: Watched['ofProvider'] = (metricName, provider, statistic, period = FIVE_MINUTES) =>
    new Metric({ namespace, metricName, statistic, period, dimensionsMap: { provider }, label: provider });
  const ofApi = (metricName: string, statistic: string) =>
    new Metric({
      namespace: 'AWS/ApiGateway',
      metricName,
      statistic,
      dimensionsMap: { ApiId: apiId, Stage: '$default' },
    });
  const throttles = throttlesOf(tableName);
  return {
    count: (metricName, period = FIVE_MINUTES) => new Metric({ namespace, metricName, statistic: 'Sum', period }),
    ofProvider,
    failuresOf: (trigger) =>
      new Metric({ namespace, metricName: 'ConsumerFailures', statistic: 'Sum', dimensionsMap: { trigger } }),
    declineRate: worstRate(ofProvider, 'Declines', ENOUGH_DECISIONS, Duration.minutes(30)),
    providerErrorRate: worstRate(ofProvider, 'ProviderErrors', ENOUGH_CALLS, FIVE_MINUTES),
    requestErrorRate: new MathExpression({
      expression: `IF(asked >= ${ENOUGH_REQUESTS}, 100 * failed / asked, 0)`,
      usingMetrics: { asked: ofApi('Count', 'SampleCount'), failed: ofApi('5xx', 'Sum') },
      label: 'answers 5xx, per cent',
    }),
    requestLatency: ofApi('Latency', 'p99'),
    functionThrottles: new Metric({ namespace: 'AWS/Lambda', metricName: 'Throttles', statistic: 'Sum' }),
    tableThrottles: sumOf(throttles, 'throttled'),
    tableThrottlesByPart: Object.values(throttles),
  };
};

/** What DynamoDB counts of a table is not what it counts of the table's indexes. */
const throttlesOf = (tableName: string): Readonly<Record<string, Metric>> => {
  const parts = [
    { part: 'table', dimensionsMap: { TableName: tableName } },
    ...TABLE.indexes.map(({ name }) => ({
      part: name,
      dimensionsMap: { TableName: tableName, GlobalSecondaryIndexName: name },
    })),
  ];
  return Object.fromEntries(
    parts.flatMap(({ part, dimensionsMap }) =>
      (['Read', 'Write'] as const).map((way) => [
        `${part}${way}s`,
        new Metric({
          namespace: 'AWS/DynamoDB',
          metricName: `${way}ThrottleEvents`,
          statistic: 'Sum',
          dimensionsMap,
          label: `${part}, ${way.toLowerCase()}s`,
        }),
      ]),
    ),
  );
};

const sumOf = (metrics: Readonly<Record<string, Metric>>, label: string): MathExpression =>
  new MathExpression({
    expression: Object.keys(metrics)
      .map((id) => `FILL(${id}, 0)`)
      .join(' + '),
    usingMetrics: { ...metrics },
    label,
  });

/** Of a metric of 0 and 1 a provider: the average is its rate, the number of samples what that is a rate of. */
const worstRate = (
  ofProvider: Watched['ofProvider'],
  name: MetricName,
  enough: number,
  period: Duration,
): MathExpression => {
  const rates = PROVIDER_SLOTS.map((_, at) => `IF(FILL(n${at}, 0) >= ${enough}, 100 * FILL(rate${at}, 0), 0)`);
  return new MathExpression({
    expression: `MAX([${rates.join(', ')}])`,
    usingMetrics: Object.fromEntries(
      PROVIDER_SLOTS.flatMap((slot, at) => [
        [`n${at}`, ofProvider(name, slot, 'SampleCount', period)],
        [`rate${at}`, ofProvider(name, slot, 'Average', period)],
      ]),
    ),
    period,
    label: 'of the worst, per cent',
  });
};
