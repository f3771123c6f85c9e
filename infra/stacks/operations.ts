import { ArnFormat, CfnOutput } from 'aws-cdk-lib';
import type { IHttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { Alarm, AlarmStatusWidget, CfnAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import { BillingMode, Table } from 'aws-cdk-lib/aws-dynamodb';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { DefaultDashboardFactory, MonitoringFacade } from 'cdk-monitoring-constructs';
import type { Construct } from 'constructs';
import type { QueueName } from '../../shared/core/rights.ts';
import { PROVIDER_SLOTS } from '../../shared/settings.ts';
import { serviceAlarm } from '../constructs/alarm.ts';
import type { KeptResources } from '../constructs/context.ts';
import { constructId } from '../constructs/service-function.ts';
import type { Stage } from '../settings.ts';
import { metricAlarms } from './metric-alarms.ts';
import { ServiceStack } from './service-stack.ts';
import { type Watched, watched } from './watched.ts';

export interface OperationsStackProps {
  readonly stage: Stage;
  readonly kept: KeptResources;
  readonly api: IHttpApi;
  readonly queues: ReadonlyMap<QueueName, Queue>;
  readonly deadLetters: ReadonlyMap<QueueName, Queue>;
}

/** What operators look at: the alarms about the service as a whole, and one dashboard. It holds nothing that others need. */
export class OperationsStack extends ServiceStack {
  constructor(scope: Construct, props: OperationsStackProps) {
    super(scope, { stage: props.stage, part: 'operations', description: 'Payments: alarms, dashboard' });
    const { stage, kept, api } = props;
    const metrics = watched({ stage, apiId: api.apiId, tableName: kept.table.tableName });
    for (const alarm of metricAlarms(metrics)) {
      serviceAlarm(this, constructId(alarm.name), { alarms: kept.alarms, ...alarm });
    }
    this.#dashboard(props, metrics);
  }

  #dashboard({ stage, kept, api, queues, deadLetters }: OperationsStackProps, metrics: Watched): void {
    const name = `payments-${stage}`;
    const board = new MonitoringFacade(this, 'Monitoring', {
      metricFactoryDefaults: { namespace: name },
      alarmFactoryDefaults: { alarmNamePrefix: name, actionsEnabled: false },
      dashboardFactory: new DefaultDashboardFactory(this, 'Dashboards', { dashboardNamePrefix: name }),
    });
    board.addWidget(new AlarmStatusWidget({ title: 'Alarms', width: 24, height: 4, alarms: this.#allAlarms() }));
    board.monitorCustom({
      humanReadableName: 'Money',
      alarmFriendlyName: 'Money',
      metricGroups: [
        { title: 'Stuck payments', metrics: [metrics.count('StuckPayments')] },
        {
          title: 'Anomalies and quarantined events',
          metrics: [metrics.count('Anomalies'), metrics.count('QuarantinedEvents')],
        },
        { title: 'Declines', metrics: PROVIDER_SLOTS.map((slot) => metrics.ofProvider('Declines', slot, 'Average')) },
        {
          title: 'Decisions',
          metrics: PROVIDER_SLOTS.map((slot) => metrics.ofProvider('Declines', slot, 'SampleCount')),
        },
      ],
    });
    board.monitorCustom({
      humanReadableName: 'Providers',
      alarmFriendlyName: 'Providers',
      metricGroups: [
        {
          title: 'Calls',
          metrics: PROVIDER_SLOTS.map((slot) => metrics.ofProvider('ProviderErrors', slot, 'SampleCount')),
        },
        {
          title: 'Without a clear answer',
          metrics: PROVIDER_SLOTS.map((slot) => metrics.ofProvider('ProviderErrors', slot, 'Average')),
        },
        {
          title: 'Latency, p99',
          metrics: PROVIDER_SLOTS.map((slot) => metrics.ofProvider('ProviderLatency', slot, 'p99')),
        },
        { title: 'Refused signatures', metrics: [metrics.count('RefusedSignatures')] },
      ],
    });
    board.monitorApiGatewayV2HttpApi({ api, humanReadableName: 'HTTP API', alarmFriendlyName: 'Api' });
    board.monitorCustom({
      humanReadableName: 'Events',
      alarmFriendlyName: 'Events',
      metricGroups: [
        { title: 'Not published', metrics: [metrics.count('PublishFailures')] },
        { title: 'Messages and records that failed a try', metrics: [metrics.count('ConsumerFailures')] },
      ],
    });
    for (const [queueName, queue] of queues) {
      const deadLetterQueue = deadLetters.get(queueName);
      if (!deadLetterQueue) continue;
      const alarmFriendlyName = constructId(queueName);
      board.monitorSqsQueueWithDlq({ queue, deadLetterQueue, humanReadableName: queueName, alarmFriendlyName });
    }
    board.monitorDynamoTable({
      table: Table.fromTableName(this, 'Table', kept.table.tableName),
      billingMode: BillingMode.PAY_PER_REQUEST,
      humanReadableName: 'Table',
      alarmFriendlyName: 'Table',
    });
    board.monitorCustom({
      humanReadableName: 'Turned away',
      alarmFriendlyName: 'Throttles',
      metricGroups: [
        { title: 'Functions, whole account', metrics: [metrics.functionThrottles] },
        { title: 'Requests', metrics: [metrics.count('ThrottledRequests')] },
        { title: 'Table and indexes', metrics: [...metrics.tableThrottlesByPart] },
      ],
    });
    new CfnOutput(this, 'DashboardName', { value: board.createdDashboard()?.dashboardName ?? '' });
  }

  /** By their names: nothing has to be exported for it. */
  #allAlarms() {
    const names = this.node.root.node
      .findAll()
      .flatMap((child) => (child instanceof CfnAlarm && child.alarmName ? [child.alarmName] : []));
    return names.map((name) =>
      Alarm.fromAlarmArn(
        this,
        `Shown${constructId(name)}`,
        this.formatArn({
          service: 'cloudwatch',
          resource: 'alarm',
          resourceName: name,
          arnFormat: ArnFormat.COLON_RESOURCE_NAME,
        }),
      ),
    );
  }
}
