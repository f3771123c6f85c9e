import { afterEach, describe, expect, test, vi } from 'vitest';
import type { LogFields, LogMessage } from '../../shared/core/log-line.ts';
import { jsonLog } from '../../shared/core/logger.ts';
import { metricsOf } from '../../shared/core/metrics.ts';

const AT = 1_795_215_858_000;
const values = (message: LogMessage, fields: LogFields) => {
  const { _aws, ...rest } = metricsOf({ stage: 'prod', message, fields, at: AT }) ?? {};
  return rest;
};

describe('the metrics of a log line', () => {
  test.each<[LogMessage, LogFields, Readonly<Record<string, number>>]>([
    ['payment anomaly', { provider: 'provider_a' }, { Anomalies: 1 }],
    ['subscription anomaly', { provider: 'provider_a' }, { Anomalies: 1 }],
    ['payment stuck', { provider: 'provider_a' }, { StuckPayments: 1 }],
    ['payment settled', { provider: 'provider_a', outcome: 'declined' }, { Declines: 1 }],
    ['payment settled', { provider: 'provider_a', outcome: 'succeeded' }, { Declines: 0 }],
    ['payment settled', { provider: 'provider_a', outcome: 'failed' }, { Declines: 0 }],
    ['provider called', { outcome: 'unknown', duration_ms: 9 }, { ProviderErrors: 1, ProviderLatency: 9 }],
    ['provider called', { outcome: 'declined', duration_ms: 9 }, { ProviderErrors: 0, ProviderLatency: 9 }],
    ['provider called', { outcome: 'done' }, { ProviderErrors: 0 }],
    ['provider event applied', { outcome: 'quarantined' }, { QuarantinedEvents: 1 }],
    ['provider event applied', { outcome: 'applied' }, { QuarantinedEvents: 0 }],
    ['key declines limited', { key_id: 'key_1' }, { KeyDeclinesLimited: 1 }],
    ['provider event refused', {}, { RefusedSignatures: 1 }],
    ['changes published', { count: 3, failed: 2 }, { PublishFailures: 2 }],
    ['consumer failed', { trigger: 'run-due' }, { ConsumerFailures: 1 }],
    ['request served', { status: 500 }, {}],
  ])('are correct for %s %o: %o', (message, fields, expected) => {
    expect(values(message, fields)).toEqual(expected);
  });

  test('include a total and a total per provider, in the stage’s own namespace', () => {
    expect(
      metricsOf({
        stage: 'prod',
        message: 'payment anomaly',
        fields: { provider: 'provider_a', payment_id: 'pay_1' },
        at: AT,
      })?._aws,
    ).toEqual({
      Timestamp: AT,
      CloudWatchMetrics: [
        {
          Namespace: 'Payments/prod',
          Dimensions: [[], ['provider']],
          Metrics: [{ Name: 'Anomalies', Unit: 'Count' }],
        },
      ],
    });
  });

  test('include only the total if the line names no provider', () => {
    const [directive] =
      metricsOf({ stage: 'dev', message: 'changes published', fields: { failed: 0 }, at: AT })?._aws
        .CloudWatchMetrics ?? [];
    expect(directive).toMatchObject({ Namespace: 'Payments/dev', Dimensions: [[]] });
  });
});

describe('the log output of a function', () => {
  const written = (stage: string): Readonly<Record<string, unknown>> => {
    const lines: string[] = [];
    vi.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
    vi.spyOn(console, 'error').mockImplementation((line) => lines.push(String(line)));
    jsonLog({ level: 'INFO', stage }).info('payment stuck', { payment_id: 'pay_1', provider: 'provider_b' });
    expect(lines).toHaveLength(1);
    return JSON.parse(lines[0] ?? '');
  };
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test('is one line that contains its fields and the metrics for CloudWatch', () => {
    const line = written('prod');
    expect(line).toMatchObject({
      message: 'payment stuck',
      payment_id: 'pay_1',
      provider: 'provider_b',
      StuckPayments: 1,
      _aws: { CloudWatchMetrics: [{ Dimensions: [[], ['provider']] }] },
    });
  });

  test('is a plain line on the local host', () => {
    const line = written('local');
    expect(line).toMatchObject({ message: 'payment stuck', provider: 'provider_b' });
    expect(Object.keys(line)).not.toContain('_aws');
  });
});
