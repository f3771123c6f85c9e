import type { IHttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { AlarmStatusWidget, type IAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import { BillingMode, Table } from 'aws-cdk-lib/aws-dynamodb';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { type CustomMetricGroup, DefaultDashboardFactory, MonitoringFacade } from 'cdk-monitoring-constructs';
import type { Construct } from 'constructs';
import type { MetricName } from '../../../shared/core/metrics.ts';
import type { QueueName } from '../../../shared/core/rights.ts';
import { PROVIDER_SLOTS } from '../../../shared/core/settings.ts';
import type { ConsumerMetrics } from '../constructs/queue-consumer.ts';
import type { JobMetrics } from '../constructs/scheduled-job.ts';
import { constructId } from '../constructs/service-function.ts';
import type { StreamMetrics } from '../constructs/stream-consumer.ts';
import type { BackupCounts } from '../constructs/table-backups.ts';
import type { Stage } from '../stage/settings.ts';
import type { ServiceMetrics } from './watched.ts';

interface ShownQueue {
  readonly name: QueueName;
  readonly queue: IQueue;
  readonly deadLetterQueue: IQueue;
}

/** The alarms and metrics that the dashboard shows. */
export interface DashboardProps {
  readonly stage: Stage;
  readonly tableName: string;
  readonly api: IHttpApi;
  readonly queues: readonly ShownQueue[];
  readonly undone: IQueue;
  /** Each reader, job and consumer has the id of its trigger. */
  readonly readers: readonly ({ readonly id: string } & StreamMetrics)[];
  readonly jobs: readonly ({ readonly id: string } & JobMetrics)[];
  readonly consumers: readonly ({ readonly id: string } & ConsumerMetrics)[];
  readonly metrics: ServiceMetrics;
  /** The backups of the table; undefined if the stage has none. */
  readonly backups: BackupCounts | undefined;
  readonly alarms: IAlarm[];
}

/** One page with every alarm and, below, the metrics behind them. @returns the dashboard's name. */
export const addDashboard = (scope: Construct, props: DashboardProps): string => {
  const name = `payments-${props.stage}`;
  const board = new MonitoringFacade(scope, 'Monitoring', {
    metricFactoryDefaults: { namespace: name },
    alarmFactoryDefaults: { alarmNamePrefix: name, actionsEnabled: false },
    dashboardFactory: new DefaultDashboardFactory(scope, 'Dashboards', { dashboardNamePrefix: name }),
  });
  board.addWidget(new AlarmStatusWidget({ title: 'Alarms', width: 24, height: 4, alarms: props.alarms }));
  addSection(board, 'Money', money(props.metrics));
  addSection(board, 'Providers', providers(props.metrics));
  addRequests(board, props);
  addEvents(board, props);
  addTable(board, scope, props);
  addSection(board, 'Turned away', turnedAway(props.metrics));
  if (props.backups) {
    const { failed, completed } = props.backups;
    addSection(board, 'Backups', [
      { title: 'Failed', metrics: [failed] },
      { title: 'Completed', metrics: [completed] },
    ]);
  }
  return board.createdDashboard()?.dashboardName ?? '';
};

const addSection = (board: MonitoringFacade, name: string, metricGroups: CustomMetricGroup[]): void => {
  board.monitorCustom({ humanReadableName: name, alarmFriendlyName: constructId(name), metricGroups });
};

const perProvider = (metrics: ServiceMetrics, name: MetricName, statistic: string) =>
  PROVIDER_SLOTS.map((slot) => metrics.ofProvider(name, slot, { statistic }));

const money = (metrics: ServiceMetrics): CustomMetricGroup[] => [
  { title: 'Stuck payments and refunds', metrics: [metrics.count('StuckPayments'), metrics.count('StuckRefunds')] },
  { title: 'Disputes', metrics: [metrics.count('OpenedDisputes'), metrics.count('DisputesDue')] },
  {
    title: 'Anomalies and quarantined events',
    metrics: [metrics.count('Anomalies'), metrics.count('QuarantinedEvents')],
  },
  { title: 'Declines', metrics: perProvider(metrics, 'Declines', 'Average') },
  { title: 'Decisions', metrics: perProvider(metrics, 'Declines', 'SampleCount') },
  { title: 'Refused, because a key has too many declines', metrics: [metrics.count('KeyDeclinesLimited')] },
];

const providers = (metrics: ServiceMetrics): CustomMetricGroup[] => [
  { title: 'Calls', metrics: perProvider(metrics, 'ProviderErrors', 'SampleCount') },
  { title: 'Without a clear response', metrics: perProvider(metrics, 'ProviderErrors', 'Average') },
  { title: 'Latency, p99', metrics: perProvider(metrics, 'ProviderLatency', 'p99') },
  { title: 'Refused signatures', metrics: [metrics.count('RefusedSignatures')] },
];

const addRequests = (board: MonitoringFacade, { api, metrics }: DashboardProps): void => {
  board.monitorApiGatewayV2HttpApi({ api, humanReadableName: 'HTTP API', alarmFriendlyName: 'Api' });
  const { unhealthyProbes: unhealthy } = metrics;
  if (unhealthy !== undefined) {
    const probes = unhealthy.with({ statistic: 'SampleCount' });
    addSection(board, 'Health', [{ title: 'Probes, and those that failed', metrics: [probes, unhealthy] }]);
  }
  if (metrics.urlErrors === undefined) return;
  addSection(board, 'Function URLs', [
    { title: 'Requests', metrics: [...metrics.ofUrls('UrlRequestCount')] },
    { title: 'Answered 5xx', metrics: [...metrics.ofUrls('Url5xxCount')] },
  ]);
};

const addEvents = (board: MonitoringFacade, props: DashboardProps): void => {
  const { metrics, readers, jobs, consumers, queues, undone } = props;
  addSection(board, 'Events', [
    { title: 'Not published', metrics: [metrics.publishFailures] },
    { title: 'Messages and records with a failed attempt', metrics: [metrics.count('ConsumerFailures')] },
  ]);
  for (const { id, age, counts, givenUp } of readers) {
    addSection(board, id, [
      { title: 'Behind the stream', metrics: [age] },
      { title: 'Changes', metrics: [...counts] },
      { title: 'Given up', metrics: [givenUp] },
    ]);
  }
  for (const { id, runs, failures } of jobs) {
    addSection(board, id, [{ title: 'Runs', metrics: [runs, failures] }]);
  }
  for (const { id, calls, failures } of consumers) {
    addSection(board, id, [{ title: 'Calls and failures', metrics: [calls, ...failures] }]);
  }
  for (const { name, queue, deadLetterQueue } of queues) {
    const alarmFriendlyName = constructId(name);
    board.monitorSqsQueueWithDlq({ queue, deadLetterQueue, humanReadableName: name, alarmFriendlyName });
  }
  board.monitorSqsQueue({ queue: undone, humanReadableName: 'Undone invocations', alarmFriendlyName: 'Undone' });
};

const addTable = (board: MonitoringFacade, scope: Construct, { tableName }: DashboardProps): void => {
  board.monitorDynamoTable({
    table: Table.fromTableName(scope, 'Table', tableName),
    billingMode: BillingMode.PAY_PER_REQUEST,
    humanReadableName: 'Table',
    alarmFriendlyName: 'Table',
  });
};

const turnedAway = (metrics: ServiceMetrics): CustomMetricGroup[] => [
  { title: 'Functions, whole account', metrics: [metrics.functionThrottles] },
  { title: 'Requests', metrics: [metrics.count('ThrottledRequests')] },
  { title: 'Table and indexes', metrics: [...metrics.tableThrottlesByPart] },
];
