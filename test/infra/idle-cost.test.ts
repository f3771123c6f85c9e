import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { LogFields, LogMessage } from '../../shared/core/log-line.ts';
import { metricsOf } from '../../shared/core/metrics.ts';
import { PAYMENT_SLOTS } from '../../shared/core/settings.ts';
import { synthesize } from './synthesized.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const pageOf = (page: string): string => readFileSync(join(ROOT, page), 'utf8');
const costs = pageOf('docs/costs.md');
const sectionOf = (title: string): string => costs.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? '';

const stage = synthesize();
const { ofType } = stage;
const countOf = (type: string): number => ofType(type).length;

const MINUTES = 30 * 24 * 60;
/** Lambda keeps at least this many long polls of 20 s open at each queue. */
const POLLS_A_MINUTE = 5 * 3;
const SQS_REQUEST = 0.4 / 1_000_000;
const DASHBOARD = 3;
const CUSTOM_METRIC = 0.3;

/** The number of metrics that the alarms watch. AWS bills an alarm per watched metric. */
const watchedMetrics = (): number =>
  ofType('AWS::CloudWatch::Alarm')
    .map(
      ({ Properties }) => (Properties.Metrics ?? [{ MetricStat: {} }]) as readonly { readonly MetricStat?: unknown }[],
    )
    .flatMap((metrics) => metrics.filter(({ MetricStat }) => MetricStat !== undefined)).length;
const polledQueues = (): number =>
  ofType('AWS::Lambda::EventSourceMapping').filter(({ Properties }) => Properties.ScalingConfig !== undefined).length;
/** The groups of custom metrics that event source mappings are configured to send. */
const metricGroups = (): readonly string[] =>
  ofType('AWS::Lambda::EventSourceMapping').flatMap(
    ({ Properties }) => (Properties.MetricsConfig?.Metrics ?? []) as readonly string[],
  );
/** By AWS's documents an empty poll sends only PolledEventCount = 0 of this group. The group has five other metrics. */
const POLLED_GROUP = 'EventCount';
const OTHERS_OF_GROUP = 5;
/** Metrics of a filtered stream with records: InvokedEventCount and FilteredOutEventCount. */
const MORE_IN_USE = 2;
const polledSources = (): number => metricGroups().filter((group) => group === POLLED_GROUP).length;
const schedules = (): number =>
  ofType('AWS::Events::Rule').filter(({ Properties }) => Properties.ScheduleExpression).length;

interface Priced {
  /** The beginning of the row's text on the page. */
  readonly row: string;
  readonly types: readonly string[];
  readonly count: () => number;
  /** Dollars per month for each resource. */
  readonly each: number;
}

/** All fixed monthly costs without traffic, in the order of the page. */
const PRICED: readonly Priced[] = [
  { row: 'alarms', types: ['AWS::CloudWatch::Alarm'], count: watchedMetrics, each: 0.1 },
  {
    row: 'secrets',
    types: ['AWS::SecretsManager::Secret'],
    count: () => countOf('AWS::SecretsManager::Secret'),
    each: 0.4,
  },
  { row: 'the customer-managed key', types: ['AWS::KMS::Key'], count: () => countOf('AWS::KMS::Key'), each: 1 },
  {
    row: 'the dashboard',
    types: ['AWS::CloudWatch::Dashboard'],
    count: () => countOf('AWS::CloudWatch::Dashboard'),
    each: DASHBOARD,
  },
  {
    row: 'polling of queues',
    types: ['AWS::Lambda::EventSourceMapping', 'AWS::SQS::Queue'],
    count: polledQueues,
    each: POLLS_A_MINUTE * MINUTES * SQS_REQUEST,
  },
  { row: 'the sweep', types: ['AWS::Events::Rule'], count: schedules, each: 0.38 },
  { row: 'custom metrics', types: [], count: polledSources, each: CUSTOM_METRIC },
];

/** Resources without a fixed cost. They are billed per use or per stored amount. */
const FREE_WHEN_IDLE: readonly string[] = [
  'AWS::ApiGatewayV2::Api',
  'AWS::ApiGatewayV2::Integration',
  'AWS::ApiGatewayV2::Route',
  'AWS::ApiGatewayV2::Stage',
  'AWS::Backup::BackupPlan',
  'AWS::Backup::BackupSelection',
  'AWS::Backup::BackupVault',
  'AWS::DynamoDB::Table',
  'AWS::Events::EventBus',
  'AWS::IAM::ManagedPolicy',
  'AWS::IAM::Policy',
  'AWS::IAM::Role',
  'AWS::Lambda::EventInvokeConfig',
  'AWS::Lambda::Function',
  'AWS::Lambda::Permission',
  'AWS::Lambda::Url',
  'AWS::Logs::LogGroup',
  'AWS::Logs::MetricFilter',
  'AWS::S3::Bucket',
  'AWS::S3::BucketPolicy',
  'AWS::SNS::Subscription',
  'AWS::SNS::Topic',
  'AWS::SNS::TopicPolicy',
  'AWS::SQS::QueuePolicy',
  'AWS::SSM::Parameter',
];

const dollars = ({ count, each }: Priced): number => Number((count() * each).toFixed(2));
const sum = (): number => PRICED.reduce((total, priced) => total + dollars(priced), 0);

describe('an idle stage', () => {
  test('costs as much as the table of the page states, by the resources of its stacks', () => {
    const rows = [...sectionOf('When idle').matchAll(/^\| ([^|]*) \| (\d+) \| ([\d.]+) \|$/gm)].map(
      ([, row = '', count, cost]) => [row, Number(count), cost],
    );
    expect(rows).toEqual(
      PRICED.map((priced) => [expect.stringMatching(`^${priced.row}`), priced.count(), dollars(priced).toFixed(2)]),
    );
    expect(sectionOf('When idle')).toContain(`| sum | | ${sum().toFixed(2)} |`);
    expect(costs).toContain(`Without the dashboard it is $${(sum() - DASHBOARD).toFixed(2)}.`);
  });

  test('sends only custom metrics priced on the page', () => {
    expect(new Set(metricGroups())).toEqual(new Set([POLLED_GROUP]));
    const perEvent = ofType('AWS::Logs::MetricFilter').flatMap(({ Properties }) => Properties.MetricTransformations);
    expect(perEvent.filter(({ DefaultValue }) => DefaultValue !== undefined)).toEqual([]);
    expect(ofType('AWS::S3::Bucket').filter(({ Properties }) => Properties.MetricsConfigurations)).toEqual([]);
    const detailed = ofType('AWS::ApiGatewayV2::Stage').map(({ Properties }) => Properties.DefaultRouteSettings);
    expect(detailed.filter(({ DetailedMetricsEnabled }) => DetailedMetricsEnabled)).toEqual([]);
    const more = (polledSources() * OTHERS_OF_GROUP * CUSTOM_METRIC).toFixed(2);
    expect(sectionOf('When idle')).toContain(`the stage costs $${more} more`);
  });

  test('has only resources priced on the page', () => {
    const known = new Set([...FREE_WHEN_IDLE, ...PRICED.flatMap(({ types }) => types)]);
    const types = new Set(stage.resources.map(({ Type }) => Type));
    expect([...types].filter((type) => !known.has(type))).toEqual([]);
  });

  test('has a table on demand and no provisioned function', () => {
    expect(ofType('AWS::DynamoDB::Table').map(({ Properties }) => Properties.BillingMode)).toEqual(['PAY_PER_REQUEST']);
    expect(ofType('AWS::Lambda::Alias').filter(({ Properties }) => Properties.ProvisionedConcurrencyConfig)).toEqual(
      [],
    );
  });

  test('has the same cost range in the README and on the page of costs', () => {
    const range = `$${Math.floor(sum() - DASHBOARD)} to $${Math.ceil(sum())}`;
    const pages = ['README.md', ...globSync('docs/**/*.md', { cwd: ROOT })];
    const stating = pages.filter((page) => /\$\d+ to \$\d+/.test(pageOf(page)));
    expect(stating.toSorted()).toEqual(['README.md', 'docs/costs.md']);
    for (const page of stating) {
      expect([...pageOf(page).matchAll(/\$\d+ to \$\d+/g)].map(([stated]) => stated)).toEqual([range]);
    }
  });
});

describe('the custom metrics of a stage in use', () => {
  /** The log lines of a successful payment at each provider. */
  const LINES: Readonly<Partial<Record<LogMessage, LogFields>>> = {
    'provider called': { outcome: 'done', duration_ms: 1 },
    'payment settled': { outcome: 'succeeded' },
    'provider event applied': { outcome: 'applied' },
    'changes published': { failed: 0 },
  };
  const metricsWith = (providers: readonly string[]): number => {
    const sent = providers.flatMap((provider) =>
      Object.entries(LINES).flatMap(([message, fields]) => {
        const line = { stage: 'dev', message: message as LogMessage, fields: { ...fields, provider }, at: 0 };
        return (metricsOf(line)?._aws.CloudWatchMetrics ?? []).flatMap(({ Dimensions, Metrics }) =>
          Metrics.flatMap(({ Name }) => Dimensions.map((by) => (by.length === 0 ? Name : `${Name} of ${provider}`))),
        );
      }),
    );
    return new Set(sent).size;
  };

  test('cost as much as documented, by the log lines of payments and the number of polled event sources', () => {
    const rows = [...sectionOf('Custom metrics of a stage in use').matchAll(/^\| (\d) \| (\d+) \| ([\d.]+) \|$/gm)];
    expect(rows.map(([, providers, metrics, cost]) => [Number(providers), Number(metrics), cost])).toEqual(
      PAYMENT_SLOTS.map((_, at) => {
        const count = metricsWith(PAYMENT_SLOTS.slice(0, at + 1)) + polledSources() * MORE_IN_USE;
        return [at + 1, count, (count * CUSTOM_METRIC).toFixed(2)];
      }),
    );
  });
});

describe('the cost of 1,000 payments', () => {
  const perMillion = (request: string): number =>
    Number(new RegExp(`^\\| ${request} \\|[^|]*\\|[^|]*\\| ([\\d.]+) \\|`, 'm').exec(costs)?.[1]);
  const rows = new Map(
    [...sectionOf('1,000 payments').matchAll(/^\| ([^|]*) \| ([\d.]+) \|$/gm)].map(([, row = '', cost]) => [
      row.split(':')[0],
      Number(cost),
    ]),
  );
  const TRACE = 5 / 1_000_000;

  test('follows from the cost of a million requests', () => {
    const requests = [rows.get('create'), rows.get('confirm'), rows.get('get')];
    const expected = ['create intent', 'confirm', 'get'].map((request) => perMillion(request) / 1_000);
    expect(requests).toEqual(expected.map((cost) => Number(cost.toFixed(3))));
    expect(rows.get('traces')).toBeCloseTo(15 * 1_000 * TRACE);
    expect(costs).toContain(`\`TRACING=off\` saves this $${(15 * 1_000 * TRACE).toFixed(3)}`);
  });

  test('is the sum of its rows', () => {
    const parts = [...rows].flatMap(([row, cost]) => (row === 'sum' ? [] : [cost]));
    expect(rows.get('sum')).toBeCloseTo(parts.reduce((total, cost) => total + cost, 0));
  });
});
