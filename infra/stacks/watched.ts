import { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { PROVIDER_SLOTS, type ProviderSlot } from '../../shared/core/settings.ts';
import { type MetricName, metricsNamespace } from '../../shared/observability/metrics.ts';
import { TABLE } from '../../shared/table/keys.ts';
import type { Stage } from '../stage/settings.ts';
import type { THROTTLED_REQUESTS } from './throttling.ts';

/** What the service, and AWS for it, counts: the metrics of alarms and dashboard. */
const FIVE_MINUTES = Duration.minutes(5);
/** Providers send a few events at a time, and again after minutes. */
const URL_PERIOD = Duration.minutes(15);

/** Too few say nothing about a rate. */
const ENOUGH_DECISIONS = 20;
const ENOUGH_CALLS = 10;
const ENOUGH_REQUESTS = 20;

type Line = Metric | MathExpression;
type UrlMetric = 'UrlRequestCount' | 'Url5xxCount';

interface Sampling {
  readonly statistic: string;
  readonly period?: Duration;
}

export interface ServiceMetrics {
  /** How often, over all providers. */
  readonly count: (name: MetricName | typeof THROTTLED_REQUESTS, period?: Duration) => Metric;
  readonly ofProvider: (name: MetricName, slot: ProviderSlot, how: Sampling) => Metric;
  /** Of each function with a URL of its own. */
  readonly ofUrls: (name: UrlMetric, period?: Duration) => readonly Metric[];
  /** Left over by a try, or failed with all of it. */
  readonly publishFailures: Line;
  /** In per cent, of the provider that is worst off. */
  readonly declineRate: Line;
  readonly providerErrorRate: Line;
  readonly requestErrorRate: Line;
  readonly requestLatency: Line;
  /** Over all functions with a URL of their own. */
  readonly urlErrors: Line;
  /** Of the whole account in this region: its functions share one limit. */
  readonly functionThrottles: Line;
  /** Of the table and its indexes together. */
  readonly tableThrottles: Line;
  readonly tableThrottlesByPart: readonly Metric[];
}

export interface MetricSources {
  readonly stage: Stage;
  readonly apiId: string;
  readonly tableName: string;
  /** Names of functions with a URL of their own, by their endpoint's id. */
  readonly urls: ReadonlyMap<string, string>;
}

export const serviceMetrics = ({ stage, apiId, tableName, urls }: MetricSources): ServiceMetrics => {
  const namespace = metricsNamespace(stage);
  const ofProvider: ServiceMetrics['ofProvider'] = (metricName, provider, { statistic, period = FIVE_MINUTES }) =>
    new Metric({ namespace, metricName, statistic, period, dimensionsMap: { provider }, label: provider });
  const ofApi = (metricName: string, statistic: string) =>
    new Metric({
      namespace: 'AWS/ApiGateway',
      metricName,
      statistic,
      dimensionsMap: { ApiId: apiId, Stage: '$default' },
    });
  const count: ServiceMetrics['count'] = (metricName, period = FIVE_MINUTES) =>
    new Metric({ namespace, metricName, statistic: 'Sum', period });
  const failuresOf = (trigger: string) =>
    new Metric({ namespace, metricName: 'ConsumerFailures', statistic: 'Sum', dimensionsMap: { trigger } });
  const ofUrls: ServiceMetrics['ofUrls'] = (metricName, period = FIVE_MINUTES) =>
    [...urls].map(([label, FunctionName]) => {
      const dimensionsMap = { FunctionName };
      return new Metric({ namespace: 'AWS/Lambda', metricName, statistic: 'Sum', period, dimensionsMap, label });
    });
  const throttles = throttlesOf(tableName);
  return {
    count,
    ofProvider,
    ofUrls,
    publishFailures: sumOf([count('PublishFailures'), failuresOf('publish-changes')], 'left or failed'),
    declineRate: worstRate(ofProvider, { name: 'Declines', enough: ENOUGH_DECISIONS, period: Duration.minutes(30) }),
    providerErrorRate: worstRate(ofProvider, { name: 'ProviderErrors', enough: ENOUGH_CALLS, period: FIVE_MINUTES }),
    requestErrorRate: new MathExpression({
      expression: `IF(asked >= ${ENOUGH_REQUESTS}, 100 * failed / asked, 0)`,
      usingMetrics: { asked: ofApi('Count', 'SampleCount'), failed: ofApi('5xx', 'Sum') },
      label: 'answers 5xx, per cent',
    }),
    requestLatency: ofApi('Latency', 'p99'),
    urlErrors: sumOf(ofUrls('Url5xxCount', URL_PERIOD), 'answers 5xx', URL_PERIOD),
    functionThrottles: new Metric({ namespace: 'AWS/Lambda', metricName: 'Throttles', statistic: 'Sum' }),
    tableThrottles: sumOf(throttles, 'throttled'),
    tableThrottlesByPart: throttles,
  };
};

/** What DynamoDB counts of a table is not what it counts of the table's indexes. */
const throttlesOf = (tableName: string): readonly Metric[] => {
  const parts = [
    { part: 'table', dimensionsMap: { TableName: tableName } },
    ...TABLE.indexes.map(({ name }) => ({
      part: name,
      dimensionsMap: { TableName: tableName, GlobalSecondaryIndexName: name },
    })),
  ];
  return parts.flatMap(({ part, dimensionsMap }) =>
    (['Read', 'Write'] as const).map((way) => {
      const metricName = `${way}ThrottleEvents`;
      const label = `${part}, ${way.toLowerCase()}s`;
      return new Metric({ namespace: 'AWS/DynamoDB', metricName, statistic: 'Sum', dimensionsMap, label });
    }),
  );
};

/** Where one of them has nothing to say, the others still count. */
const sumOf = (metrics: readonly Metric[], label: string, period = FIVE_MINUTES): MathExpression =>
  new MathExpression({
    expression: metrics.map((_, at) => `FILL(m${at}, 0)`).join(' + '),
    usingMetrics: Object.fromEntries(metrics.map((metric, at) => [`m${at}`, metric])),
    label,
    period,
  });

/** Of a metric of 0 and 1 a provider: the average is its rate, the number of samples what that is a rate of. */
const worstRate = (
  ofProvider: ServiceMetrics['ofProvider'],
  { name, enough, period }: { readonly name: MetricName; readonly enough: number; readonly period: Duration },
): MathExpression => {
  const rates = PROVIDER_SLOTS.map((_, at) => `IF(FILL(n${at}, 0) >= ${enough}, 100 * FILL(rate${at}, 0), 0)`);
  return new MathExpression({
    expression: `MAX([${rates.join(', ')}])`,
    usingMetrics: Object.fromEntries(
      PROVIDER_SLOTS.flatMap((slot, at) => [
        [`n${at}`, ofProvider(name, slot, { statistic: 'SampleCount', period })],
        [`rate${at}`, ofProvider(name, slot, { statistic: 'Average', period })],
      ]),
    ),
    period,
    label: 'of the worst, per cent',
  });
};
