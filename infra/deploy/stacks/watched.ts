/** @module The metrics that the alarms and the dashboard show, from the service and from AWS. */

import { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { type MetricName, metricsNamespace } from '../../../shared/core/metrics.ts';
import { PROVIDER_SLOTS, type ProviderSlot } from '../../../shared/core/settings.ts';
import { TABLE } from '../../../shared/platform/keys.ts';
import { mostFail, type Sampled } from '../constructs/alarm.ts';
import type { Stage } from '../stage/settings.ts';
import type { THROTTLED_REQUESTS } from './throttling.ts';

const FIVE_MINUTES = Duration.minutes(5);
/** A long period, because providers send few events at a time and retry after minutes. */
const URL_PERIOD = Duration.minutes(15);

/** With fewer samples, a rate counts as 0. */
const ENOUGH_DECISIONS = 20;
const ENOUGH_CALLS = 10;
const ENOUGH_REQUESTS = 20;
/** With fewer calls, no failure rate can show that a provider is down. */
const FEW_CALLS = 3;

type Line = Metric | MathExpression;
type UrlMetric = 'UrlRequestCount' | 'Url5xxCount';

interface Sampling {
  readonly statistic: string;
  readonly period?: Duration;
}

export interface ServiceMetrics {
  /** The sum over all providers. */
  readonly count: (name: MetricName | typeof THROTTLED_REQUESTS, period?: Duration) => Metric;
  readonly ofProvider: (name: MetricName, slot: ProviderSlot, how: Sampling) => Metric;
  /** One metric for each function with its own URL. */
  readonly ofUrls: (name: UrlMetric, period?: Duration) => readonly Metric[];
  /** Events left unpublished by an attempt, plus failed attempts. */
  readonly publishFailures: Line;
  /** The highest rate of any provider, as a percentage. */
  readonly declineRate: Line;
  readonly providerErrorRate: Line;
  /** Same as providerErrorRate, but needs fewer calls. */
  readonly providerFailureRate: Line;
  readonly requestErrorRate: Line;
  /** 1 while most requests fail, even if there are few. */
  readonly requestsFail: Line;
  readonly requestLatency: Line;
  /** Undefined if nothing probes the health of the stage. */
  readonly unhealthyProbes: Metric | undefined;
  /** The sum over all functions with their own URL; undefined if no function has one. */
  readonly urlErrors: Line | undefined;
  /** 1 while most requests to one of these URLs fail; undefined if no function has a URL. */
  readonly urlsFail: Line | undefined;
  /** Covers the whole account in this region, because its functions share one limit. */
  readonly functionThrottles: Line;
  /** The sum over the table and its indexes. */
  readonly tableThrottles: Line;
  readonly tableThrottlesByPart: readonly Metric[];
}

export interface MetricSources {
  readonly stage: Stage;
  readonly apiId: string;
  readonly tableName: string;
  /** Names of the functions that have their own URL, by endpoint id. */
  readonly urls: ReadonlyMap<string, string>;
  /** True if a function of the stage probes its health. */
  readonly probed: boolean;
}

export const serviceMetrics = ({ stage, apiId, tableName, urls, probed }: MetricSources): ServiceMetrics => {
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
    providerFailureRate: worstRate(ofProvider, { name: 'ProviderErrors', enough: FEW_CALLS, period: FIVE_MINUTES }),
    requestErrorRate: new MathExpression({
      expression: `IF(asked >= ${ENOUGH_REQUESTS}, 100 * failed / asked, 0)`,
      usingMetrics: { asked: ofApi('Count', 'SampleCount'), failed: ofApi('5xx', 'Sum') },
      label: '5xx responses, per cent',
    }),
    requestsFail: mostFail(
      [
        {
          asked: ofApi('Count', 'SampleCount'),
          failed: [ofApi('5xx', 'Sum')],
          left: probed ? count('UnhealthyProbes').with({ statistic: 'SampleCount' }) : undefined,
        },
      ],
      FIVE_MINUTES,
    ),
    unhealthyProbes: probed ? count('UnhealthyProbes', Duration.minutes(1)) : undefined,
    requestLatency: ofApi('Latency', 'p99'),
    urlErrors: urls.size === 0 ? undefined : sumOf(ofUrls('Url5xxCount', URL_PERIOD), 'answers 5xx', URL_PERIOD),
    urlsFail: urls.size === 0 ? undefined : mostFail(urlSamples(ofUrls), URL_PERIOD),
    functionThrottles: new Metric({ namespace: 'AWS/Lambda', metricName: 'Throttles', statistic: 'Sum' }),
    tableThrottles: sumOf(throttles, 'throttled'),
    tableThrottlesByPart: throttles,
  };
};

/** DynamoDB counts a table and each of its indexes separately. */
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

const urlSamples = (ofUrls: ServiceMetrics['ofUrls']): readonly Sampled[] => {
  const failed = ofUrls('Url5xxCount', URL_PERIOD);
  return ofUrls('UrlRequestCount', URL_PERIOD).map((asked, at) => ({ asked, failed: failed.slice(at, at + 1) }));
};

/** A metric without data counts as 0. */
const sumOf = (metrics: readonly Metric[], label: string, period = FIVE_MINUTES): MathExpression =>
  new MathExpression({
    expression: metrics.map((_, at) => `FILL(m${at}, 0)`).join(' + '),
    usingMetrics: Object.fromEntries(metrics.map((metric, at) => [`m${at}`, metric])),
    label,
    period,
  });

/**
 * The highest rate of any provider, as a percentage. The metric is 0 or 1 per call and provider, so its average is the
 * rate and its sample count is the number of calls.
 */
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
