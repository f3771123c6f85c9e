import type { LogFields, LogMessage } from './log-line.ts';

/**
 * What log lines count for. CloudWatch reads the metrics out of the lines themselves (its embedded metric format), so
 * that they cost no request. Their dimensions are the provider's slot and the consumer's name: nothing with many values,
 * and nothing about anybody.
 */
export type MetricName =
  | 'Anomalies'
  | 'ConsumerFailures'
  | 'Declines'
  | 'ProviderErrors'
  | 'ProviderLatency'
  | 'PublishFailures'
  | 'QuarantinedEvents'
  | 'RefusedSignatures'
  | 'StuckPayments';

type Dimension = 'provider' | 'trigger';

interface Metric {
  readonly name: MetricName;
  readonly unit: 'Count' | 'Milliseconds';
  /** 0 counts too: the average of a metric of 0 and 1 is a rate, its number of samples the whole. */
  readonly of: (fields: LogFields) => number | undefined;
}

interface Counted {
  readonly by?: Dimension;
  readonly metrics: readonly Metric[];
}

const one = (name: MetricName): Metric => ({ name, unit: 'Count', of: () => 1 });
const anomalies: Counted = { by: 'provider', metrics: [one('Anomalies')] };

const COUNTED: Readonly<Partial<Record<LogMessage, Counted>>> = {
  'payment anomaly': anomalies,
  'subscription anomaly': anomalies,
  'payment stuck': { by: 'provider', metrics: [one('StuckPayments')] },
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
  'provider event refused': { by: 'provider', metrics: [one('RefusedSignatures')] },
  'changes published': { metrics: [{ name: 'PublishFailures', unit: 'Count', of: ({ failed }) => failed }] },
  'consumer failed': { by: 'trigger', metrics: [one('ConsumerFailures')] },
};

/** Stages of one account keep their numbers apart. */
export const metricsNamespace = (stage: string): string => `Payments/${stage}`;

export interface EmbeddedMetrics extends Readonly<Partial<Record<MetricName, number>>> {
  readonly _aws: {
    readonly Timestamp: number;
    readonly CloudWatchMetrics: readonly {
      readonly Namespace: string;
      /** Each metric as a whole, and by its dimension where it has one. */
      readonly Dimensions: readonly (readonly Dimension[])[];
      readonly Metrics: readonly { readonly Name: MetricName; readonly Unit: Metric['unit'] }[];
    }[];
  };
}

/** What a line carries beside its fields, if it counts for anything. @param at epoch milliseconds */
export const metricsOf = (
  stage: string,
  message: LogMessage,
  fields: LogFields,
  at: number,
): EmbeddedMetrics | undefined => {
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
