import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { metricsOf } from '../../shared/core/metrics.ts';
import { TABLE } from '../../shared/platform/keys.ts';
import { evaluate, type Point } from './metric-math.ts';
import { type Resource, synthesize, type Value } from './synthesized.ts';

const prod = synthesize({ env: { STAGE: 'prod', ALARM_EMAIL: 'ops@example.com', CUSTOM_DOMAIN: 'pay.example.com' } });
const { ofType, words } = prod;
const PREFIX = 'payments-prod-';

const alarms = ofType('AWS::CloudWatch::Alarm');
const nameOf = ({ Properties }: Resource): string => Properties.AlarmName;
const docs = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
const cellsOf = (line: string): readonly string[] =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());
/** The rows of the alarms in docs/operations.md. `<…>` in a name stands for any word. */
const runbook = docs
  .split('\n')
  .map(cellsOf)
  .flatMap(([name = '', hurt = '', command = '', ...rest]) => {
    const [, pattern] = /^`([\w<>-]+)`$/.exec(name) ?? [];
    return pattern === undefined || rest.length !== 1 ? [] : [{ pattern, hurt, command, then: rest.join() }];
  });
const entryOf = (name: string) =>
  runbook.find(({ pattern }) => new RegExp(`^${pattern.replaceAll(/<\w+>/g, '.+')}$`).test(name));
const documented = [...docs.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, name]) => `${PREFIX}${name}`);

interface Watched {
  readonly Namespace: string;
  readonly MetricName?: string;
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: Value }[];
}

const identity = (namespace: string, name: string, dimensions: readonly string[]): string =>
  [namespace, name, ...dimensions.toSorted()].join(' ');

/**
 * The metrics that an alarm watches, directly or in a formula, as
 * `AWS/SQS ApproximateNumberOfMessagesVisible QueueName=…`.
 */
const watchedBy = ({ Properties }: Resource): readonly string[] => {
  const inMath: readonly { readonly MetricStat?: { readonly Metric: Watched } }[] = Properties.Metrics ?? [];
  const all: readonly Watched[] = [Properties, ...inMath.flatMap(({ MetricStat }) => MetricStat?.Metric ?? [])];
  return all.flatMap(({ Namespace, MetricName, Dimensions = [] }) =>
    MetricName === undefined
      ? []
      : [
          identity(
            Namespace,
            MetricName,
            Dimensions.map(({ Name, Value }) => `${Name}=${words(Value)}`),
          ),
        ],
  );
};

interface InFormula {
  readonly Id: string;
  readonly Expression?: string;
  readonly MetricStat?: { readonly Metric: Watched; readonly Period: number; readonly Stat: string };
}

/**
 * What an alarm measures, such as `Sum of Errors over 60 s`. A formula is followed by its metrics, without id numbers.
 */
const measuredBy = ({ Properties }: Resource): string => {
  const { Statistic, ExtendedStatistic, MetricName, Period } = Properties;
  const parts: readonly InFormula[] = Properties.Metrics ?? [];
  const formula = parts.find(({ Expression }) => Expression !== undefined)?.Expression;
  if (formula === undefined) return `${Statistic ?? ExtendedStatistic} of ${MetricName} over ${Period} s`;
  const stats = parts.flatMap(({ Id, MetricStat: stat }) =>
    stat ? [`${Id.replace(/\d+$/, '')} = ${stat.Stat} of ${stat.Metric.MetricName} over ${stat.Period} s`] : [],
  );
  return [formula, ...new Set(stats)].join('; ');
};

const COMPARED: Readonly<Record<string, string>> = {
  GreaterThanOrEqualToThreshold: '>=',
  GreaterThanThreshold: '>',
  LessThanThreshold: '<',
};

/** When an alarm rises, as `Sum of Errors over 60 s >= 1, 3 of 3, without data: notBreaching`. */
const risesWhen = (alarm: Resource): string => {
  const { ComparisonOperator, Threshold, EvaluationPeriods, DatapointsToAlarm, TreatMissingData } = alarm.Properties;
  const periods = `${DatapointsToAlarm ?? EvaluationPeriods} of ${EvaluationPeriods}`;
  return `${measuredBy(alarm)} ${COMPARED[ComparisonOperator]} ${Threshold}, ${periods}, without data: ${TreatMissingData}`;
};

const addedUp = (count: number): string => Array.from({ length: count }, (_, at) => `FILL(m${at}, 0)`).join(' + ');
const worstProvider = (enough: number): string =>
  `MAX([${[0, 1, 2, 3].map((at) => `IF(FILL(n${at}, 0) >= ${enough}, 100 * FILL(rate${at}, 0), 0)`).join(', ')}])`;

const DEAD_LETTERS = 'Maximum of ApproximateNumberOfMessagesVisible over 60 s >= 1, 1 of 1, without data: notBreaching';
const GAVE_UP =
  'FILL(kept, 0) + FILL(dropped, 0); kept = Sum of OnFailureDestinationDeliveredEventCount over 60 s; ' +
  'dropped = Sum of DroppedEventCount over 60 s >= 1, 1 of 1, without data: notBreaching';
const LATE = 'Maximum of IteratorAge over 60 s >= 300000, 5 of 5, without data: notBreaching';
const counted = (metric: string, threshold: number, minutes = 5): string =>
  `Sum of ${metric} over ${60 * minutes} s >= ${threshold}, 1 of 1, without data: notBreaching`;
const FUNCTION_FAILS = 'Sum of Errors over 60 s >= 1, 1 of 1, without data: notBreaching';
const API_FAILS = 'Sum of 5xx over 60 s >= 5, 1 of 1, without data: notBreaching';

const mostOf = (asked: string, ...failed: readonly string[]): string =>
  `IF((${asked} >= 3) AND (2 * (${failed.join(' + ')}) > ${asked}), 1, 0)`;
const CONSUMER_FAILS =
  `${mostOf('(FILL(asked0, 0))', 'FILL(failed0, 0)', 'FILL(failed1, 0)')}; asked = Sum of Invocations over 300 s; ` +
  'failed = Sum of Errors over 300 s; failed = Sum of ConsumerFailures over 300 s ' +
  '>= 1, 1 of 1, without data: notBreaching';

const EVERY_ALARM: Readonly<Record<string, string>> = {
  anomalies: counted('Anomalies', 1),
  'apply-provider-event-dead-letters': DEAD_LETTERS,
  'backup-failed':
    'FILL(failed, 0) + FILL(expired, 0) + FILL(aborted, 0) + FILL(copies, 0); ' +
    'failed = Sum of NumberOfBackupJobsFailed over 3600 s; ' +
    'expired = Sum of NumberOfBackupJobsExpired over 3600 s; ' +
    'aborted = Sum of NumberOfBackupJobsAborted over 3600 s; ' +
    'copies = Sum of NumberOfCopyJobsFailed over 3600 s >= 1, 1 of 1, without data: notBreaching',
  'backup-silent': 'Sum of NumberOfBackupJobsCompleted over 86400 s < 1, 2 of 2, without data: breaching',
  'apply-provider-event-fails': CONSUMER_FAILS,
  'canary-5xx': API_FAILS,
  'canary-errors-payments-confirm': FUNCTION_FAILS,
  'canary-errors-payments-create': FUNCTION_FAILS,
  'canary-errors-payments-create-intent': FUNCTION_FAILS,
  'canary-errors-subscriptions-change': FUNCTION_FAILS,
  'canary-errors-subscriptions-create': FUNCTION_FAILS,
  'decline-rate':
    `${worstProvider(20)}; n = SampleCount of Declines over 1800 s; rate = Average of Declines over 1800 s ` +
    '>= 50, 1 of 1, without data: notBreaching',
  'disputes-due': counted('DisputesDue', 1),
  'follow-payment-dead-letters': DEAD_LETTERS,
  'follow-payment-fails': CONSUMER_FAILS,
  'key-declines': counted('KeyDeclinesLimited', 1),
  'opened-disputes': counted('OpenedDisputes', 1),
  'probe-health-fails': 'Sum of Errors over 60 s >= 1, 3 of 3, without data: notBreaching',
  'probe-health-silent': 'Sum of Invocations over 60 s < 1, 3 of 3, without data: breaching',
  'project-changes-gave-up': GAVE_UP,
  'project-changes-late': LATE,
  'provider-errors':
    `${worstProvider(10)}; n = SampleCount of ProviderErrors over 300 s; rate = Average of ProviderErrors over 300 s ` +
    '>= 10, 2 of 2, without data: notBreaching',
  'provider-fails':
    `${worstProvider(3)}; n = SampleCount of ProviderErrors over 300 s; rate = Average of ProviderErrors over 300 s ` +
    '> 50, 1 of 1, without data: notBreaching',
  'publish-changes-gave-up': GAVE_UP,
  'publish-changes-late': LATE,
  'publish-failures':
    `${addedUp(2)}; m = Sum of PublishFailures over 300 s; m = Sum of ConsumerFailures over 300 s ` +
    '>= 1, 2 of 2, without data: notBreaching',
  'quarantined-events': counted('QuarantinedEvents', 1),
  'refused-events': counted('RefusedSignatures', 5),
  'request-errors':
    'IF(asked >= 20, 100 * failed / asked, 0); asked = SampleCount of Count over 300 s; failed = Sum of 5xx over 300 s ' +
    '>= 5, 2 of 2, without data: notBreaching',
  'request-latency': 'p99 of Latency over 300 s >= 8000, 3 of 3, without data: notBreaching',
  'requests-fail':
    `${mostOf('(FILL(asked0, 0) - FILL(left0, 0))', 'FILL(failed0, 0)')}; ` +
    'left = SampleCount of UnhealthyProbes over 300 s; asked = SampleCount of Count over 300 s; ' +
    'failed = Sum of 5xx over 300 s >= 1, 1 of 1, without data: notBreaching',
  'run-due-dead-letters': DEAD_LETTERS,
  'run-due-fails': CONSUMER_FAILS,
  'stuck-payments': counted('StuckPayments', 1, 60),
  'stuck-refunds': counted('StuckRefunds', 1, 60),
  'sweep-due-fails': 'Sum of Errors over 60 s >= 1, 3 of 3, without data: notBreaching',
  'sweep-due-silent': 'Sum of Invocations over 60 s < 1, 3 of 3, without data: breaching',
  'throttled-functions': 'Sum of Throttles over 300 s >= 1, 2 of 2, without data: notBreaching',
  'throttled-requests': counted('ThrottledRequests', 50),
  'throttled-table':
    `${addedUp(8)}; m = Sum of ReadThrottleEvents over 300 s; m = Sum of WriteThrottleEvents over 300 s ` +
    '>= 10, 1 of 1, without data: notBreaching',
  'undone-invocations': DEAD_LETTERS,
  unhealthy: 'Sum of UnhealthyProbes over 60 s >= 1, 3 of 3, without data: notBreaching',
  'url-errors': `${addedUp(3)}; m = Sum of Url5xxCount over 900 s >= 3, 1 of 1, without data: notBreaching`,
  'urls-fail':
    `MAX([${[0, 1, 2].map((at) => mostOf(`(FILL(asked${at}, 0))`, `FILL(failed${at}, 0)`)).join(', ')}]); ` +
    'asked = Sum of UrlRequestCount over 900 s; failed = Sum of Url5xxCount over 900 s ' +
    '>= 1, 1 of 1, without data: notBreaching',
  'webhook-delivery-dead-letters': DEAD_LETTERS.replace('>= 1', '> 10'),
  'webhook-delivery-dead-letters-wait':
    'Maximum of ApproximateNumberOfMessagesVisible over 300 s >= 1, 12 of 12, without data: notBreaching',
  'deliver-webhook-fails': CONSUMER_FAILS,
  'webhook-dispatch-dead-letters': DEAD_LETTERS,
  'dispatch-webhooks-fails': CONSUMER_FAILS,
};

describe('an alarm of the service', () => {
  test('has the statistic, threshold, periods and treatment of missing data listed in this file', () => {
    const canary = synthesize({ env: { STAGE: 'prod', DEPLOY: 'canary', CUSTOM_DOMAIN: 'pay.example.com' } });
    const all = [...alarms, ...canary.ofType('AWS::CloudWatch::Alarm')];
    const found = all.map((alarm) => [nameOf(alarm).slice(PREFIX.length), risesWhen(alarm)] as const);
    expect(Object.fromEntries(found)).toEqual(EVERY_ALARM);
  });

  test('has its row in docs/operations.md, and every row has its alarm', () => {
    expect(alarms.length).toBeGreaterThan(20);
    expect(alarms.map(nameOf).sort()).toEqual(documented.toSorted());
  });

  test.each(alarms.map((alarm) => [nameOf(alarm), alarm] as const))(
    '%s states its cause and its impact in full sentences',
    (_, { Properties }) => {
      expect(Properties.AlarmDescription).toMatch(/^[A-Za-z][^\n]{20,}\. [A-Z][^\n]{20,}\.$/);
      expect(Properties.AlarmActions.map(words)).toEqual(['Alarms']);
      expect([[], ['Alarms']]).toContainEqual((Properties.OKActions ?? []).map(words));
    },
  );

  test('also notifies when it ends, unless it reports a single event', () => {
    const silent = alarms.filter(({ Properties }) => !Properties.OKActions).map(nameOf);
    expect(silent.toSorted()).toEqual(
      [
        'anomalies',
        'backup-failed',
        'disputes-due',
        'key-declines',
        'opened-disputes',
        'project-changes-gave-up',
        'publish-changes-gave-up',
        'quarantined-events',
        'refused-events',
        'stuck-payments',
        'stuck-refunds',
      ].map((name) => `${PREFIX}${name}`),
    );
    const [paragraph = ''] = /An alarm on an occurrence.*?\n\n/s.exec(docs) ?? [];
    const named = [...paragraph.matchAll(/`([a-z-]+)`/g)].map(([, name]) => `${PREFIX}${name}`);
    expect(named.toSorted()).toEqual(silent.toSorted());
  });
});

/** The calls of one API, function or provider in a period, and how many of them failed. */
interface Calls {
  readonly asked: Point;
  readonly failed: Point;
  /** The health probe's share of the calls. */
  readonly probes?: number;
}

/** The value of a metric in a formula if only the first function, provider or API of the formula was called. */
const pointOf = ({ Id, MetricStat: stat }: InFormula, { asked, failed, probes }: Calls): Point => {
  if (stat?.Metric.MetricName === 'UnhealthyProbes') return probes;
  if (stat?.Metric.MetricName === 'ConsumerFailures' || /[1-9]$/.test(Id)) return undefined;
  if (/^(?:asked|n)\d*$/.test(Id)) return asked;
  const isRate = stat?.Stat === 'Average';
  return isRate && asked !== undefined && failed !== undefined ? failed / asked : failed;
};

/** True if the alarm rises after one period with these calls. */
const rises = (name: string, calls: Calls): boolean => {
  const alarm = alarms.find((each) => nameOf(each) === `${PREFIX}${name}`);
  const { Metrics, Threshold, ComparisonOperator, EvaluationPeriods } = alarm?.Properties ?? {};
  const parts: readonly InFormula[] = Metrics ?? [];
  const formula = parts.find(({ Expression }) => Expression !== undefined)?.Expression ?? '';
  const metrics = parts.filter(({ MetricStat }) => MetricStat !== undefined);
  const value = evaluate(formula, Object.fromEntries(metrics.map((part) => [part.Id, pointOf(part, calls)])));
  if (value === undefined || EvaluationPeriods > 1) return false;
  return COMPARED[ComparisonOperator] === '>' ? value > Threshold : value >= Threshold;
};

describe('the runbook', () => {
  const canary = synthesize({ env: { STAGE: 'prod', DEPLOY: 'canary', CUSTOM_DOMAIN: 'pay.example.com' } });
  const names = [...alarms, ...canary.ofType('AWS::CloudWatch::Alarm')].map((alarm) =>
    nameOf(alarm).slice(PREFIX.length),
  );
  const source = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  const payctlCommands = [...source('infra/payctl/command.ts').matchAll(/\.command\('([a-z-]+)/g)].map(
    ([, name]) => name,
  );
  const messages = [...source('shared/core/log-line.ts').matchAll(/^ {2}\| '([a-z ]+)'/gm)].map(
    ([, message]) => message,
  );

  test.each([...new Set(names)])('names for %s the affected people and the first command', (name) => {
    const { hurt = '', command = '', then = '' } = entryOf(name) ?? {};
    expect(hurt).toMatch(/\b(?:payers?|shops?|merchant|subscribers?|operators?)\b/);
    expect(then).toMatch(/^[A-Z0-9`].{20}/);
    const [, line = ''] = /^`([^`]+)`$/.exec(command) ?? [];
    const [tool = '', first = ''] = line.split(' ');
    expect(['payctl', 'logs', 'aws', 'curl']).toContain(tool);
    if (tool === 'payctl') expect(payctlCommands).toContain(first);
    if (tool === 'logs') {
      const [, message, field] = /^logs '([a-z ]+)'(?: '\$\.(\w+) [=>] [^']+')?$/.exec(line) ?? [];
      expect(messages).toContain(message);
      if (field !== undefined) expect(source('shared/core/log-line.ts')).toContain(`readonly ${field}?:`);
    }
  });

  test.each([
    ['quarantined-events', 'outcome'],
    ['publish-failures', 'failed'],
    ['decline-rate', 'outcome'],
    ['provider-errors', 'reason'],
    ['provider-fails', 'reason'],
  ])('shows for %s only the lines of failures, by their field %s', (name, field) => {
    expect(entryOf(name)?.command).toContain(`' '$.${field} `);
  });

  test.each(['sweep-due-fails', 'probe-health-fails'])(
    'shows for %s Lambda’s own error line, because a schedule logs no error',
    (name) => expect(entryOf(name)?.command).toContain('{ $.level = "ERROR" }'),
  );
});

describe.each([
  'requests-fail',
  'urls-fail',
  'provider-fails',
  ...['apply-provider-event', 'follow-payment', 'run-due', 'dispatch-webhooks', 'deliver-webhook'].map(
    (worker) => `${worker}-fails`,
  ),
])('the alarm %s on the failure rate of a period', (name) => {
  test.each([
    [3, 3],
    [19, 19],
    [2, 3],
    [501, 1000],
  ])('rises if %i of %i calls fail', (failed, asked) => {
    expect(rises(name, { asked, failed })).toBe(true);
  });

  test.each([
    [0, 0],
    [0, 3],
    [1, 1],
    [2, 2],
    [1, 3],
    [2, 4],
    [10, 1000],
    [undefined, undefined],
    [undefined, 19],
  ])('does not rise if %s of %s calls fail', (failed, asked) => {
    expect(rises(name, { asked, failed })).toBe(false);
  });
});

test('if 19 of 19 requests fail, the alarm requests-fail rises and request-errors does not', () => {
  expect(rises('request-errors', { asked: 19, failed: 19 })).toBe(false);
  expect(rises('requests-fail', { asked: 19, failed: 19 })).toBe(true);
});

test('the failure rate of a few requests excludes the calls of the health probe', () => {
  expect(rises('requests-fail', { asked: 9, failed: 4, probes: 5 })).toBe(true);
  expect(rises('requests-fail', { asked: 7, failed: 2, probes: 5 })).toBe(false);
  expect(rises('requests-fail', { asked: 5, failed: 0, probes: 5 })).toBe(false);
});

describe('the dead letters of outbound webhooks', () => {
  const numbers = [...ofType('AWS::CloudWatch::Alarm')].filter((alarm) => nameOf(alarm).includes('-dead-letters'));
  const depths = (perFiveMinutes: readonly number[]): readonly string[] =>
    numbers
      .filter(({ Properties: { Threshold, ComparisonOperator, EvaluationPeriods } }) => {
        const isOver = (depth: number) =>
          COMPARED[ComparisonOperator] === '>' ? depth > Threshold : depth >= Threshold;
        return perFiveMinutes.some((_, at) => {
          const window = perFiveMinutes.slice(at, at + EvaluationPeriods);
          return window.length === EvaluationPeriods && window.every(isOver);
        });
      })
      .map((alarm) => nameOf(alarm).slice(PREFIX.length));

  test('raise an alarm above ten messages or after an hour, unlike other queues, which alarm immediately', () => {
    const others = ['apply-provider-event', 'follow-payment', 'run-due', 'webhook-dispatch'];
    const alwaysPaging = others.map((queue) => `${queue}-dead-letters`);
    const pile = 'webhook-delivery-dead-letters';
    expect(depths([0, 0]).toSorted()).toEqual([]);
    expect(depths([1, 0]).toSorted()).toEqual(alwaysPaging);
    expect(depths([10, 10, 0]).toSorted()).toEqual(alwaysPaging);
    expect(depths([11]).toSorted()).toEqual([...alwaysPaging, pile].toSorted());
    expect(depths([...Array(11).fill(1), 0]).toSorted()).toEqual(alwaysPaging);
    expect(depths(Array(12).fill(1)).toSorted()).toEqual([...alwaysPaging, `${pile}-wait`].toSorted());
  });
});

describe('the function URLs', () => {
  test('have the same alarms as the API', () => {
    const alarm = alarms.find((each) => nameOf(each) === `${PREFIX}url-errors`);
    const urls = ofType('AWS::Lambda::Url').map(({ Properties }) => words(Properties.TargetFunctionArn));
    expect(urls).toHaveLength(3);
    expect(alarm ? watchedBy(alarm).toSorted() : []).toEqual(
      urls.map((url) => `AWS/Lambda Url5xxCount FunctionName=${url.replace(/\.Arn$/, '')}`).toSorted(),
    );
  });
});

describe('the metrics of the alarms', () => {
  /** The names of all metrics of our namespace in an alarm. */
  const own = alarms.flatMap(watchedBy).flatMap((watched) => /^Payments\/prod (\w+)/.exec(watched)?.[1] ?? []);

  test('are in the namespace of the stage’s log lines', () => {
    const line = metricsOf({ stage: 'prod', message: 'payment stuck', fields: {}, at: 0 });
    expect(line?._aws.CloudWatchMetrics[0]?.Namespace).toBe('Payments/prod');
    expect([...new Set(own)].sort()).toEqual([
      'Anomalies',
      'ConsumerFailures',
      'Declines',
      'DisputesDue',
      'KeyDeclinesLimited',
      'OpenedDisputes',
      'ProviderErrors',
      'PublishFailures',
      'QuarantinedEvents',
      'RefusedSignatures',
      'StuckPayments',
      'StuckRefunds',
      'ThrottledRequests',
      'UnhealthyProbes',
    ]);
  });

  test('number at most ten per alarm, which is CloudWatch’s limit', () => {
    for (const alarm of alarms) expect((alarm.Properties.Metrics ?? []).length, nameOf(alarm)).toBeLessThanOrEqual(11);
  });

  test('count throttled reads and writes of the table and each index', () => {
    const throttled = alarms.find((alarm) => nameOf(alarm) === `${PREFIX}throttled-table`);
    const watched = throttled ? watchedBy(throttled) : [];
    const where = ['', ...TABLE.indexes.map(({ name }) => `GlobalSecondaryIndexName=${name} `)];
    expect(watched.toSorted()).toEqual(
      where
        .flatMap((index) => ['Read', 'Write'].map((way) => `AWS/DynamoDB ${way}ThrottleEvents ${index}TableName=Table`))
        .toSorted(),
    );
  });

  test('count the requests that the gateway itself throttles, from its access log', () => {
    const [filter] = ofType('AWS::Logs::MetricFilter');
    expect(filter?.Properties).toMatchObject({
      FilterPattern: '{ ($.status = "429") && ($.integrationStatus = "-") }',
      MetricTransformations: [{ MetricNamespace: 'Payments/prod', MetricName: 'ThrottledRequests', MetricValue: '1' }],
    });
    const [stage] = ofType('AWS::ApiGatewayV2::Stage');
    expect(JSON.parse(stage?.Properties.AccessLogSettings.Format)).toMatchObject({
      status: '$context.status',
      integrationStatus: '$context.integrationStatus',
    });
  });
});

describe('the alarm topic', () => {
  test('accepts messages from CloudWatch, over TLS only', () => {
    const statements = ofType('AWS::SNS::TopicPolicy').flatMap(({ Properties }) => Properties.PolicyDocument.Statement);
    expect(statements).toContainEqual(
      expect.objectContaining({
        Effect: 'Allow',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Action: 'sns:Publish',
      }),
    );
    expect(statements.filter(({ Effect }) => Effect === 'Deny')).toHaveLength(1);
  });

  test('sends mail to the configured address, and keeps undelivered mail in a dead-letter queue', () => {
    const [mail, ...more] = ofType('AWS::SNS::Subscription');
    expect(more).toEqual([]);
    expect(mail?.Properties).toMatchObject({ Protocol: 'email', Endpoint: 'ops@example.com' });
    expect(words(mail?.Properties.TopicArn)).toBe('Alarms');
    expect(words(mail?.Properties.RedrivePolicy.deadLetterTargetArn)).toBe('UndoneQueue.Arn');
    expect(synthesize({ env: { STAGE: 'dev' }, endpoints: [] }).ofType('AWS::SNS::Subscription')).toEqual([]);
  });
});

describe('the dashboard', () => {
  const shownMetrics = z.object({ metrics: z.array(z.array(z.unknown())).optional() });
  const widgets = z.object({ widgets: z.array(z.object({ properties: shownMetrics })) });
  const dashboards = ofType('AWS::CloudWatch::Dashboard');
  const body = words(dashboards[0]?.Properties.DashboardBody);

  test('exists once, and shows every alarm', () => {
    expect(dashboards).toHaveLength(1);
    for (const name of alarms.map(nameOf)) expect(body).toContain(`:alarm:${name}"`);
  });

  test('shows the metrics of every alarm', () => {
    const shown = widgets
      .parse(JSON.parse(body))
      .widgets.flatMap(({ properties }) => properties.metrics ?? [])
      .flatMap((line) => {
        const [namespace, name, ...rest] = line.filter((part) => typeof part === 'string');
        const pairs = rest.flatMap((part, at) => (at % 2 === 0 ? [`${part}=${rest[at + 1]}`] : []));
        return namespace && name ? [identity(namespace, name, pairs)] : [];
      });
    expect(alarms.flatMap(watchedBy).filter((watched) => !shown.includes(watched))).toEqual([]);
  });

  test('shows money, providers, the API, queues and the table', () => {
    for (const shown of ['StuckPayments', 'Declines', 'ProviderLatency', 'AWS/ApiGateway', 'AWS/SQS', 'AWS/DynamoDB']) {
      expect(body).toContain(`"${shown}"`);
    }
  });
});

describe('a function of the service', () => {
  test.each(
    ofType('AWS::Lambda::Function').map((lambda) => [lambda.Properties.Description.split(':')[0], lambda] as const),
  )('%s stores its final failures, and is traced', (_, { Properties }) => {
    expect(words(Properties.DeadLetterConfig.TargetArn)).toBe('UndoneQueue.Arn');
    expect(Properties.TracingConfig).toEqual({ Mode: 'Active' });
  });
});
