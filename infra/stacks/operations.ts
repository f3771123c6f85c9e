import { ArnFormat, CfnOutput } from 'aws-cdk-lib';
import { Alarm, CfnAlarm, type IAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { serviceAlarm } from '../constructs/alarm.ts';
import { constructId } from '../constructs/service-function.ts';
import { addDashboard, type Shown } from './dashboard.ts';
import { metricAlarms } from './metric-alarms.ts';
import { ServiceStack } from './service-stack.ts';
import { serviceMetrics } from './watched.ts';

export interface OperationsStackProps extends Shown {
  /** Names of the functions that have their own URL, by endpoint id. */
  readonly urls: ReadonlyMap<string, string>;
  /** True if a function of the stage probes its health. */
  readonly probed: boolean;
}

/** The alarms for the service as a whole, and one dashboard. No other stack depends on this stack. */
export class OperationsStack extends ServiceStack {
  constructor(scope: Construct, props: OperationsStackProps) {
    super(scope, { stage: props.stage, part: 'operations', description: 'Payments: alarms, dashboard' });
    const { stage, kept, api, urls, probed } = props;
    const metrics = serviceMetrics({ stage, apiId: api.apiId, tableName: kept.table.tableName, urls, probed });
    for (const alarm of metricAlarms(metrics)) {
      serviceAlarm(this, constructId(alarm.name), { alarms: kept.alarms, ...alarm });
    }
    const dashboard = addDashboard(this, { ...props, metrics, alarms: this.#allAlarms() });
    new CfnOutput(this, 'DashboardName', { value: dashboard });
  }

  /** Imports resources by name, so that no stack has to export them. */
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
