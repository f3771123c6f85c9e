import { describe, expect, test } from 'vitest';
import { triggers } from '../../functions/api/catalogue.ts';
import {
  deadLettersOutput,
  FAILURE_BUCKET_OUTPUT,
  OPERATED_FUNCTION_OUTPUT,
  queueOutput,
} from '../../infra/deploy/stage/settings.ts';
import { isWanted } from '../../infra/local/dynamodb/stream-records.ts';
import { matchesPattern } from '../../infra/local/messaging/bus-pattern.ts';
import { ALARM_TOPIC, GUEST_TOKEN_SECRET, SIGNATURE_SECRETS } from '../../infra/payctl/installation/stage.ts';
import { type Resource, synthesize } from './synthesized.ts';

const { ofType, functionOf, words, outputs } = synthesize({ env: { HEALTH_CHECK: 'on' } });

const queueTriggers = triggers.filter((trigger) => trigger.kind === 'queue');
const streamTriggers = triggers.filter((trigger) => trigger.kind === 'stream');
const scheduleTriggers = triggers.filter((trigger) => trigger.kind === 'schedule');

const alarms = ofType('AWS::CloudWatch::Alarm');
const only = (found: readonly Resource[]): Resource => {
  expect(found).toHaveLength(1);
  return found[0] as Resource;
};
const sourceOf = (id: string): Resource =>
  only(
    ofType('AWS::Lambda::EventSourceMapping').filter(
      ({ Properties }) => Properties.FunctionName.Ref === functionOf(id).logicalId,
    ),
  );
const byReference = (type: string, reference: string): Resource =>
  only(ofType(type).filter(({ logicalId }) => logicalId.slice(0, -8) === reference));
const queueOf = (source: Resource): Resource =>
  byReference('AWS::SQS::Queue', words(source.Properties.EventSourceArn).replace('.Arn', ''));
const deadLettersOf = (queue: Resource): Resource =>
  byReference('AWS::SQS::Queue', words(queue.Properties.RedrivePolicy.deadLetterTargetArn).replace('.Arn', ''));

describe.each(queueTriggers)('the queue of $id', (trigger) => {
  const source = sourceOf(trigger.id);
  const queue = queueOf(source);
  const deadLetters = deadLettersOf(queue);

  test('hides a message for six times its function’s timeout', () => {
    const { Timeout } = functionOf(trigger.id).Properties;
    expect(Timeout).toBe(trigger.timeoutSeconds);
    expect(queue.Properties.VisibilityTimeout).toBeGreaterThanOrEqual(6 * Timeout);
    expect(queue.Properties.VisibilityTimeout).toBeGreaterThanOrEqual(trigger.visibilitySeconds);
  });

  test('moves a message after the declared number of receives to a dead-letter queue with a longer retention', () => {
    expect(queue.Properties.RedrivePolicy.maxReceiveCount).toBe(trigger.maxReceives);
    expect(deadLetters.Properties.MessageRetentionPeriod).toBeGreaterThan(queue.Properties.MessageRetentionPeriod);
  });

  test('raises an alarm that states the impact, at the first dead letter unless dead letters can wait', () => {
    const own = alarms.filter(({ Properties }) =>
      (Properties.Dimensions ?? []).some(
        ({ Value }: { Value: { 'Fn::GetAtt'?: string[] } }) => Value['Fn::GetAtt']?.[0] === deadLetters.logicalId,
      ),
    );
    const canWait = 'deadLettersCanWait' in trigger;
    expect(own.map(({ Properties }) => [Properties.MetricName, Properties.Threshold])).toEqual(
      (canWait ? [10, 1] : [1]).map((threshold) => ['ApproximateNumberOfMessagesVisible', threshold]),
    );
    for (const { Properties } of own) {
      expect(Properties.AlarmDescription).toContain(trigger.impact);
      expect(Properties.AlarmActions.map(words)).toEqual(['Alarms']);
    }
  });

  test('accepts partial batch failures, and limits its concurrency as declared', () => {
    expect(source.Properties.FunctionResponseTypes).toEqual(['ReportBatchItemFailures']);
    expect(source.Properties.BatchSize).toBe(trigger.batchSize);
    expect(source.Properties.ScalingConfig).toEqual({ MaximumConcurrency: trigger.maxConcurrency });
  });

  test.each(trigger.rules)('is fed by the rule $name', ({ pattern }) => {
    const rule = only(
      ofType('AWS::Events::Rule').filter(
        ({ Properties }) =>
          Properties.EventPattern && words(Properties.Targets[0].Arn) === `${queue.logicalId.slice(0, -8)}.Arn`,
      ),
    );
    expect(rule.Properties.EventPattern).toEqual(pattern);
    expect(words(rule.Properties.EventBusName)).toBe('Bus');
    const policy = only(
      ofType('AWS::SQS::QueuePolicy').filter(({ Properties }) => Properties.Queues[0].Ref === queue.logicalId),
    );
    expect(policy.Properties.PolicyDocument.Statement).toContainEqual({
      Effect: 'Allow',
      Action: 'sqs:SendMessage',
      Principal: { Service: 'events.amazonaws.com' },
      Resource: { 'Fn::GetAtt': [queue.logicalId, 'Arn'] },
      Condition: { ArnEquals: { 'aws:SourceArn': { 'Fn::GetAtt': [rule.logicalId, 'Arn'] } } },
    });
  });
});

describe('the outbound webhook queue', () => {
  test('uses the operator’s number of retries and timeout', () => {
    const configured = synthesize({
      endpoints: [],
      env: { EXTERNAL_WEBHOOK_MAX_RETRIES: '6', EXTERNAL_WEBHOOK_TIMEOUT: '45000' },
    });
    const { Timeout, Environment } = configured.functionOf('workers.deliver-webhook').Properties;
    expect(Timeout).toBe(55);
    expect(Environment.Variables).toMatchObject({ EXTERNAL_WEBHOOK_TIMEOUT: '45000' });
    const queue = only(
      configured.ofType('AWS::SQS::Queue').filter(({ logicalId }) => logicalId.slice(0, -8) === 'WebhookDeliveryQueue'),
    );
    expect(queue.Properties.RedrivePolicy.maxReceiveCount).toBe(7);
    expect(queue.Properties.VisibilityTimeout).toBe(6 * 55);
  });
});

describe('the outbound webhook queue with a schedule of retries', () => {
  const LONGEST_SCHEDULE = '259200';
  const queueWith = (schedule: string): Resource => {
    const env = { EXTERNAL_WEBHOOK_RETRY_SCHEDULE: schedule, EXTERNAL_WEBHOOK_MAX_RETRIES: '2' };
    return only(
      synthesize({ env, endpoints: [] })
        .ofType('AWS::SQS::Queue')
        .filter(({ logicalId }) => logicalId.slice(0, -8) === 'WebhookDeliveryQueue'),
    );
  };

  test('receives a message once per attempt of the schedule', () => {
    expect(queueWith('5,30,120,900,3600,21600,86400').Properties.RedrivePolicy.maxReceiveCount).toBe(8);
  });

  test('keeps a message for longer than the longest schedule', () => {
    expect(queueWith(LONGEST_SCHEDULE).Properties.MessageRetentionPeriod).toBeGreaterThan(Number(LONGEST_SCHEDULE));
  });
});

describe('a queue of the service', () => {
  test.each(ofType('AWS::SQS::Queue').map((queue) => [queue.logicalId, queue] as const))(
    '%s is encrypted, requires TLS, and is a consumed queue or a dead-letter queue',
    (_, queue) => {
      expect(queue.Properties.SqsManagedSseEnabled).toBe(true);
      const policy = only(
        ofType('AWS::SQS::QueuePolicy').filter(({ Properties }) => Properties.Queues[0].Ref === queue.logicalId),
      );
      expect(policy.Properties.PolicyDocument.Statement).toContainEqual(
        expect.objectContaining({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
      );
      const known = queueTriggers.map(({ id }) => queueOf(sourceOf(id)));
      const undone = byReference('AWS::SQS::Queue', 'UndoneQueue');
      expect([...known, ...known.map(deadLettersOf), undone].map(({ logicalId }) => logicalId)).toContain(
        queue.logicalId,
      );
    },
  );
});

describe.each(streamTriggers)('the stream consumer $id', (trigger) => {
  const source = sourceOf(trigger.id);

  test('splits a failing batch, retries ten times, and stores the failed batch in full', () => {
    expect(source.Properties).toMatchObject({
      BatchSize: trigger.batchSize,
      ParallelizationFactor: trigger.batchesAtOnce,
      ...(trigger.gatherSeconds !== undefined && { MaximumBatchingWindowInSeconds: trigger.gatherSeconds }),
      BisectBatchOnFunctionError: true,
      MaximumRetryAttempts: 10,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      StartingPosition: 'TRIM_HORIZON',
    });
    expect(words(source.Properties.EventSourceArn)).toBe('Table.StreamArn');
    expect(words(source.Properties.DestinationConfig.OnFailure.Destination)).toBe('Failures.Arn');
    const { LoggingConfiguration, VersioningConfiguration } = byReference('AWS::S3::Bucket', 'Failures').Properties;
    expect(words(LoggingConfiguration.DestinationBucketName)).toBe('FailureReaders');
    expect(VersioningConfiguration).toEqual({ Status: 'Enabled' });
  });

  test('reads new and changed records, and its declared removals, as the local stream does', () => {
    const filters: { Pattern: string }[] = source.Properties.FilterCriteria.Filters;
    const patterns = filters.map(({ Pattern }) => JSON.parse(Pattern));
    const reads = (eventName: 'INSERT' | 'MODIFY' | 'REMOVE', sk: string): boolean => {
      const dynamodb = { Keys: { pk: { S: 'X#1' }, sk: { S: sk } } };
      const isRead = patterns.some((pattern) => matchesPattern(pattern, { eventName, dynamodb }));
      const NewImage = { a: { S: '1' } };
      expect(isWanted(trigger, { eventName, dynamodb: { ...dynamodb, NewImage } })).toBe(isRead);
      return isRead;
    };
    const removalsOf: readonly string[] = 'removalsOf' in trigger ? trigger.removalsOf : [];
    for (const sk of trigger.sortKeys) {
      expect([sk, reads('INSERT', sk), reads('MODIFY', sk)]).toEqual([sk, true, true]);
      expect([sk, reads('REMOVE', sk)]).toEqual([sk, removalsOf.includes(sk)]);
    }
    for (const sk of ['REF', 'HIST#000001', 'IDEM', '2026-01-01']) {
      expect([sk, reads('INSERT', sk), reads('REMOVE', sk)]).toEqual([sk, false, false]);
    }
  });

  test('raises alarms that state the impact when it is late and when it gives up', () => {
    const alarm = only(
      alarms.filter(({ Properties }) => JSON.stringify(Properties.Metrics ?? []).includes(`"${source.logicalId}"`)),
    );
    const late = only(
      alarms.filter(
        ({ Properties }) =>
          Properties.MetricName === 'IteratorAge' &&
          Properties.Dimensions[0].Value.Ref === functionOf(trigger.id).logicalId,
      ),
    );
    expect(late.Properties.AlarmDescription).toContain(trigger.impact);
    expect(source.Properties.MetricsConfig).toEqual({ Metrics: ['EventCount'] });
    expect(JSON.stringify(alarm.Properties.Metrics)).toContain('OnFailureDestinationDeliveredEventCount');
    expect(alarm.Properties.AlarmDescription).toContain(trigger.impact);
    expect(alarm.Properties.AlarmActions.map(words)).toEqual(['Alarms']);
  });
});

test('the table’s stream has at most two consumers', () => {
  expect(streamTriggers.length).toBeLessThanOrEqual(2);
});

describe.each(scheduleTriggers)('the job $id', (trigger) => {
  const lambda = functionOf(trigger.id);

  test('sends a run that failed for good, or could not start, to the dead-letter queue', () => {
    const [config] = ofType('AWS::Lambda::EventInvokeConfig').filter(
      ({ Properties }) => Properties.FunctionName.Ref === lambda.logicalId,
    );
    expect(words(config?.Properties.DestinationConfig.OnFailure.Destination)).toBe('UndoneQueue.Arn');
    const [rule] = ofType('AWS::Events::Rule').filter(
      ({ Properties }) => words(Properties.Targets[0].Arn) === `${lambda.logicalId.slice(0, -8)}.Arn`,
    );
    expect(words(rule?.Properties.Targets[0].DeadLetterConfig.Arn)).toBe('UndoneQueue.Arn');
  });

  test('runs at its declared rate', () => {
    const rule = only(
      ofType('AWS::Events::Rule').filter(
        ({ Properties }) => words(Properties.Targets[0].Arn) === `${lambda.logicalId.slice(0, -8)}.Arn`,
      ),
    );
    const unit = trigger.everyMinutes === 1 ? 'minute' : 'minutes';
    expect(rule.Properties.ScheduleExpression).toBe(`rate(${trigger.everyMinutes} ${unit})`);
  });

  test('raises an alarm when it fails and when it does not run', () => {
    const own = alarms.filter(({ Properties }) => Properties.Dimensions?.[0]?.Value?.Ref === lambda.logicalId);
    expect(own.map(({ Properties }) => [Properties.MetricName, Properties.TreatMissingData])).toEqual([
      ['Errors', 'notBreaching'],
      ['Invocations', 'breaching'],
    ]);
    for (const { Properties } of own) expect(Properties.AlarmDescription).toContain(trigger.impact);
  });
});

describe('the stack outputs for an operator’s tools', () => {
  test('name every queue, its dead-letter queue, the function with the service’s environment, and the failure bucket', () => {
    for (const { queue } of queueTriggers) {
      expect(outputs).toHaveProperty([queueOutput(queue), 'Value', 'Ref'], expect.stringContaining('Queue'));
      expect(outputs).toHaveProperty(
        [deadLettersOutput(queue), 'Value', 'Ref'],
        expect.stringContaining('DeadLetters'),
      );
    }
    const { logicalId } = functionOf('workers.run-due');
    expect(outputs).toHaveProperty([OPERATED_FUNCTION_OUTPUT, 'Value', 'Ref'], logicalId);
    const bucket = expect.objectContaining({ Ref: expect.stringMatching(/^Failures/) });
    expect(outputs).toHaveProperty([FAILURE_BUCKET_OUTPUT, 'Value'], bucket);
  });

  test.each([ALARM_TOPIC, GUEST_TOKEN_SECRET, ...Object.values(SIGNATURE_SECRETS)])(
    'need not name $type $id, which has a fixed logical id in the data stack',
    ({ type, id }) => {
      expect(ofType(type).filter(({ logicalId }) => logicalId.startsWith(id))).toMatchObject([
        { stack: expect.stringMatching(/-data$/) },
      ]);
    },
  );
});
