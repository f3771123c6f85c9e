import { ArnFormat, CfnOutput } from 'aws-cdk-lib';
import { Alarm, CfnAlarm, type IAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import type { QueueName } from '../../../shared/core/rights.ts';
import type { Endpoint } from '../../../shared/http/endpoint.ts';
import type { Trigger } from '../../../shared/platform/trigger.ts';
import { serviceAlarm } from '../constructs/alarm.ts';
import { hasOwnUrl } from '../constructs/endpoint-function.ts';
import { consumerMetrics } from '../constructs/queue-consumer.ts';
import { jobMetrics } from '../constructs/scheduled-job.ts';
import { constructId } from '../constructs/service-function.ts';
import { streamMetrics } from '../constructs/stream-consumer.ts';
import { backupCounts } from '../constructs/table-backups.ts';
import type { DeploymentSettings, Stage } from '../stage/settings.ts';
import { addDashboard, type DashboardProps } from './dashboard.ts';
import { metricAlarms } from './metric-alarms.ts';
import { apiIn, functionValue, keptIn, queueValue, sourceValue, undoneIn } from './references.ts';
import { routesPart } from './routes.ts';
import { ServiceStack } from './service-stack.ts';
import { serviceMetrics } from './watched.ts';

export interface OperationsStackProps {
  readonly settings: DeploymentSettings;
  readonly endpoints: readonly Endpoint[];
  readonly triggers: readonly Trigger[];
}

/** The service-wide alarms and one dashboard. No other stack reads a value of this stack. */
export class OperationsStack extends ServiceStack {
  constructor(scope: Construct, { settings, endpoints, triggers }: OperationsStackProps) {
    const { stage } = settings;
    super(scope, { stage, part: 'operations', description: 'Payments: alarms, dashboard' });
    const { table, alarms } = keptIn(this, stage);
    const api = apiIn(this);
    const urls = new Map(
      endpoints
        .filter((endpoint) => hasOwnUrl(endpoint, settings))
        .map((endpoint) => [endpoint.id, this.shared(routesPart(endpoint), functionValue(endpoint.id))]),
    );
    const metrics = serviceMetrics({
      stage,
      apiId: api.apiId,
      tableName: table.name,
      urls,
      probed: settings.operated.HEALTH_CHECK,
    });
    for (const alarm of metricAlarms(metrics)) {
      serviceAlarm(this, constructId(alarm.name), { alarms, ...alarm });
    }
    const dashboard = addDashboard(this, {
      stage,
      tableName: table.name,
      api,
      metrics,
      backups: this.production ? backupCounts(stage) : undefined,
      undone: undoneIn(this),
      alarms: this.#allAlarms(),
      ...this.#shown(stage, triggers),
    });
    new CfnOutput(this, 'DashboardName', { value: dashboard });
  }

  /** The queues, stream readers and jobs of the stack `events`. */
  #shown(
    stage: Stage,
    triggers: readonly Trigger[],
  ): Pick<DashboardProps, 'queues' | 'readers' | 'jobs' | 'consumers'> {
    const read = (name: string): string => this.shared('events', name);
    const queueAt = (queue: QueueName, attribute: 'arn' | 'dead-letters-arn') =>
      Queue.fromQueueArn(this, constructId(queueValue(queue, attribute)), read(queueValue(queue, attribute)));
    return {
      queues: triggers.flatMap((trigger) => {
        if (trigger.kind !== 'queue') return [];
        const { queue: name } = trigger;
        return [{ name, queue: queueAt(name, 'arn'), deadLetterQueue: queueAt(name, 'dead-letters-arn') }];
      }),
      readers: triggers.flatMap(({ id, kind }) => {
        if (kind !== 'stream') return [];
        const source = { functionName: read(functionValue(id)), sourceId: read(sourceValue(id)) };
        return [{ id, ...streamMetrics(source) }];
      }),
      jobs: triggers.flatMap((trigger) =>
        trigger.kind === 'schedule'
          ? [{ id: trigger.id, ...jobMetrics(trigger, read(functionValue(trigger.id))) }]
          : [],
      ),
      consumers: triggers.flatMap((trigger) => {
        if (trigger.kind !== 'queue') return [];
        const functionName = read(functionValue(trigger.id));
        return [{ id: trigger.id, ...consumerMetrics({ stage, trigger, functionName }) }];
      }),
    };
  }

  /** Refers to each alarm by its name, so no stack has to export its alarms. */
  #allAlarms(): IAlarm[] {
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
