/**
 * @module The metrics in log lines. CloudWatch extracts them from the lines (embedded metric format), so the metrics
 * need no request of their own. The dimensions are the provider's slot and the consumer's name, which have few values
 * and no personal data.
 */

import type { LogFields, LogMessage } from './log-line.ts';

export type MetricName =
  | 'Anomalies'
  | 'ConsumerFailures'
  | 'Declines'
  | 'KeyDeclinesLimited'
  | 'ProviderErrors'
  | 'ProviderLatency'
  | 'PublishFailures'
  | 'QuarantinedEvents'
  | 'RefusedSignatures'
  | 'StuckPayments'
  | 'StuckRefunds'
  | 'OpenedDisputes'
  | 'DisputesDue'
  | 'UnhealthyProbes';

type Dimension = 'provider' | 'trigger';

interface Metric {
  readonly name: MetricName;
  readonly unit: 'Count' | 'Milliseconds';
  /** A log line's sample; undefined adds none. The average of samples of 0 or 1 is a rate. */
  readonly of: (fields: LogFields) => number | undefined;
}

interface Counted {
  readonly by?: Dimension;
  readonly metrics: readonly Metric[];
}

const countOne = (name: MetricName): Metric => ({ name, unit: 'Count', of: () => 1 });
const anomalies: Counted = { by: 'provider', metrics: [countOne('Anomalies')] };

const COUNTED: Readonly<Partial<Record<LogMessage, Counted>>> = {
  'payment anomaly': anomalies,
  'subscription anomaly': anomalies,
  'payment stuck': { by: 'provider', metrics: [countOne('StuckPayments')] },
  'subscription stuck': { by: 'provider', metrics: [countOne('StuckPayments')] },
  'refund anomaly': anomalies,
  'refund stuck': { by: 'provider', metrics: [countOne('StuckRefunds')] },
  'dispute changed': {
    by: 'provider',
    metrics: [{ name: 'OpenedDisputes', unit: 'Count', of: ({ outcome }) => Number(outcome === 'opened') }],
  },
  'dispute due soon': { by: 'provider', metrics: [countOne('DisputesDue')] },
  'payment settled': {
    by: 'provider',
    metrics: [{ name: 'Declines', unit: 'Count', of: ({ outcome }) => Number(outcome === 'declined') }],
  },
  'provider called': {
    by: 'provider',
    metrics: [
      {
        name: 'ProviderErrors',
        unit: 'Count',
        of: ({ outcome }) => Number(outcome === 'unknown' || outcome === 'not_done'),
      },
      { name: 'ProviderLatency', unit: 'Milliseconds', of: (fields) => fields.duration_ms },
    ],
  },
  'provider event applied': {
    by: 'provider',
    metrics: [{ name: 'QuarantinedEvents', unit: 'Count', of: ({ outcome }) => Number(outcome === 'quarantined') }],
  },
  'key declines limited': { metrics: [countOne('KeyDeclinesLimited')] },
  'provider event refused': { by: 'provider', metrics: [countOne('RefusedSignatures')] },
  'changes published': { metrics: [{ name: 'PublishFailures', unit: 'Count', of: ({ failed }) => failed }] },
  'health probed': { metrics: [{ name: 'UnhealthyProbes', unit: 'Count', of: ({ failed }) => failed }] },
  'consumer failed': { by: 'trigger', metrics: [countOne('ConsumerFailures')] },
};

/** Each stage in an account has its own metrics. */
export const metricsNamespace = (stage: string): string => `Payments/${stage}`;

export interface EmbeddedMetrics extends Readonly<Partial<Record<MetricName, number>>> {
  readonly _aws: {
    readonly Timestamp: number;
    readonly CloudWatchMetrics: readonly {
      readonly Namespace: string;
      /** The metric without dimensions and, if it has a dimension, also by that dimension. */
      readonly Dimensions: readonly (readonly Dimension[])[];
      readonly Metrics: readonly { readonly Name: MetricName; readonly Unit: Metric['unit'] }[];
    }[];
  };
}

interface CountedLine {
  readonly stage: string;
  readonly message: LogMessage;
  readonly fields: LogFields;
  /** Epoch milliseconds. */
  readonly at: number;
}

export const metricsOf = ({ stage, message, fields, at }: CountedLine): EmbeddedMetrics | undefined => {
  const counted = COUNTED[message];
  const values = (counted?.metrics ?? []).flatMap(({ name, unit, of }) => {
    const value = of(fields);
    return value === undefined ? [] : [{ name, unit, value }];
  });
  if (!counted || values.length === 0) return undefined;
  const { by } = counted;
  return {
    ...Object.fromEntries(values.map(({ name, value }) => [name, value])),
    _aws: {
      Timestamp: at,
      CloudWatchMetrics: [
        {
          Namespace: metricsNamespace(stage),
          Dimensions: by !== undefined && fields[by] !== undefined ? [[], [by]] : [[]],
          Metrics: values.map(({ name, unit }) => ({ Name: name, Unit: unit })),
        },
      ],
    },
  };
};
