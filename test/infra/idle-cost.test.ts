import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { synthesize } from './synthesized.ts';

const { ofType } = synthesize();
const docs = readFileSync(new URL('../../docs/deployment.md', import.meta.url), 'utf8');

const PER_MONTH = { alarmMetric: 0.1, secret: 0.4, key: 1, dashboard: 3 } as const;
const SWEEP = 0.38;
const MINUTES = 30 * 24 * 60;
/** Lambda keeps at least this many long polls of 20 s open at each queue. */
const POLLS_A_MINUTE = 5 * 3;
const SQS_REQUEST = 0.4 / 1_000_000;

const alarmMetrics = ofType('AWS::CloudWatch::Alarm')
  .map(({ Properties }) => (Properties.Metrics ?? [{ MetricStat: {} }]) as readonly { readonly MetricStat?: unknown }[])
  .flatMap((metrics) => metrics.filter(({ MetricStat }) => MetricStat !== undefined)).length;
const polledQueues = ofType('AWS::Lambda::EventSourceMapping').filter(
  ({ Properties }) => Properties.ScalingConfig !== undefined,
).length;
const schedules = ofType('AWS::Events::Rule').filter(({ Properties }) => Properties.ScheduleExpression).length;

const counted: readonly (readonly [count: number, dollars: number])[] = [
  [alarmMetrics, alarmMetrics * PER_MONTH.alarmMetric],
  [ofType('AWS::SecretsManager::Secret').length, ofType('AWS::SecretsManager::Secret').length * PER_MONTH.secret],
  [ofType('AWS::KMS::Key').length, ofType('AWS::KMS::Key').length * PER_MONTH.key],
  [ofType('AWS::CloudWatch::Dashboard').length, ofType('AWS::CloudWatch::Dashboard').length * PER_MONTH.dashboard],
  [polledQueues, polledQueues * POLLS_A_MINUTE * MINUTES * SQS_REQUEST],
  [schedules, schedules * SWEEP],
];

test('the documented cost of an idle stage equals the cost of the stacks', () => {
  const [, section = ''] = docs.split('## Cost when idle');
  const [table = ''] = section.split('| sum |');
  const rows = [...table.matchAll(/^\|[^|]*\| (\d+) \| ([\d.]+) \|$/gm)].map(([, count, dollars]) => [count, dollars]);
  expect(rows).toEqual(counted.map(([count, dollars]) => [String(count), dollars.toFixed(2)]));
  const sum = counted.reduce((total, [, dollars]) => total + Number(dollars.toFixed(2)), 0);
  expect(section).toContain(`| sum | | ${sum.toFixed(2)} |`);
});

test.each(['README.md', 'docs/deployment.md', 'docs/performance.md', 'docs/decisions/0011-the-sweep-always-runs.md'])(
  '%s states the cost of an idle stage without and with the dashboard',
  (page) => {
    const sum = counted.reduce((total, [, dollars]) => total + dollars, 0);
    const range = `$${Math.floor(sum - PER_MONTH.dashboard)} to $${Math.ceil(sum)}`;
    const text = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8');
    expect([...text.matchAll(/\$\d+ to \$\d+/g)].map(([stated]) => stated)).toEqual([range]);
  },
);

test('no other resource of a stage has a monthly price', () => {
  const types = ['AWS::EC2::NatGateway', 'AWS::EC2::VPCEndpoint', 'AWS::RDS::DBInstance', 'AWS::WAFv2::WebACL'];
  expect(types.flatMap((type) => ofType(type))).toEqual([]);
  expect(ofType('AWS::DynamoDB::Table').map(({ Properties }) => Properties.BillingMode)).toEqual(['PAY_PER_REQUEST']);
  expect(ofType('AWS::Lambda::Alias').filter(({ Properties }) => Properties.ProvisionedConcurrencyConfig)).toEqual([]);
});
