import { describe, expect, test } from 'vitest';
import { endpoints, triggers } from '../../functions/api/catalogue.ts';
import { DEFAULT_ID } from '../../infra/deploy/build.ts';
import type { Right } from '../../shared/core/rights.ts';
import type { Trigger } from '../../shared/platform/trigger.ts';
import { synthesize, type Value } from './synthesized.ts';

const unbound = synthesize({ env: { HEALTH_CHECK: 'on' } });
const { ofType, words, resources } = unbound;

type Grants = Readonly<Record<string, readonly string[]>>;

const INDEXES = ['owner', 'project', 'due'].map((name) => `Table.Arn/index/${name}`);

const theSecret = (name: string): Grants => ({
  'secretsmanager:GetSecretValue': [name],
  'kms:Decrypt': ['Key.Arn where secretsmanager.AWS::Region.amazonaws.com'],
});

/**
 * The permissions of each right. This copy is independent of the code, because permissions must not change by accident.
 */
const WORTH: Readonly<Record<Right, Grants>> = {
  'table:read': {
    'dynamodb:BatchGetItem': ['Table.Arn', ...INDEXES],
    'dynamodb:ConditionCheckItem': ['Table.Arn', ...INDEXES],
    'dynamodb:GetItem': ['Table.Arn', ...INDEXES],
    'dynamodb:Query': ['Table.Arn', ...INDEXES],
  },
  'table:delete': { 'dynamodb:DeleteItem': ['Table.Arn'] },
  'table:scan': { 'dynamodb:Scan': ['Table.Arn'] },
  'table:put': {
    'dynamodb:PutItem': ['Table.Arn'],
    'dynamodb:UpdateItem': ['Table.Arn'],
  },
  'table:count': { 'dynamodb:UpdateItem': ['Table.Arn where there is a key that begins with RATE#*, KEYUSE#*'] },
  'table:receive': { 'dynamodb:PutItem': ['Table.Arn where there is a key that begins with EVT#*, LOG#*'] },
  'table:keys': { 'dynamodb:PutItem': ['Table.Arn where there is a key that begins with KEY#*'] },
  'events:put': { 'events:PutEvents': ['Bus.Arn'] },
  'secrets:provider_a': theSecret('ProviderASecret'),
  'secrets:provider_b': theSecret('ProviderBSecret'),
  'secrets:provider_c': theSecret('ProviderCSecret'),
  'secrets:provider_d': theSecret('ProviderDSecret'),
  'signatures:provider_a': theSecret('ProviderASignatureSecret'),
  'signatures:provider_b': theSecret('ProviderBSignatureSecret'),
  'signatures:provider_c': theSecret('ProviderCSignatureSecret'),
  'secrets:guest-tokens': theSecret('GuestTokenSecret'),
  'secrets:ids': theSecret('IdSecret'),
  'queue:send:apply-provider-event': { 'sqs:SendMessage': ['ApplyProviderEventQueue.Arn'] },
  'secrets:webhooks': theSecret('WebhookSecret'),
  'queue:send:follow-payment': { 'sqs:SendMessage': ['FollowPaymentQueue.Arn'] },
  'queue:depth:run-due': { 'sqs:GetQueueAttributes': ['RunDueQueue.Arn'] },
  'queue:send:run-due': { 'sqs:SendMessage': ['RunDueQueue.Arn'] },
  'queue:send:webhook-dispatch': { 'sqs:SendMessage': ['WebhookDispatchQueue.Arn'] },
  'queue:send:webhook-delivery': { 'sqs:SendMessage': ['WebhookDeliveryQueue.Arn'] },
};

/** Writing logs and traces, and sending a failed invocation to its failure destination. */
const EVERY_FUNCTION: Grants = {
  'logs:CreateLogStream': ['Logs.Arn'],
  'logs:PutLogEvents': ['Logs.Arn'],
  'sqs:SendMessage': ['UndoneQueue.Arn'],
  'xray:PutTelemetryRecords': ['*'],
  'xray:PutTraceSegments': ['*'],
};

const QUEUES: Readonly<Record<string, string>> = {
  'apply-provider-event': 'ApplyProviderEventQueue.Arn',
  'follow-payment': 'FollowPaymentQueue.Arn',
  'run-due': 'RunDueQueue.Arn',
  'webhook-dispatch': 'WebhookDispatchQueue.Arn',
  'webhook-delivery': 'WebhookDeliveryQueue.Arn',
};

const sourceOf = (trigger: Trigger | undefined): Grants => {
  if (trigger?.kind === 'stream') {
    return {
      'dynamodb:DescribeStream': ['Table.StreamArn'],
      'dynamodb:GetRecords': ['Table.StreamArn'],
      'dynamodb:GetShardIterator': ['Table.StreamArn'],
      'dynamodb:ListStreams': ['Table.StreamArn'],
      's3:ListBucket': ['Failures.Arn'],
      's3:PutObject': ['Failures.Arn/*'],
      'kms:GenerateDataKey': ['Key.Arn'],
    };
  }
  if (trigger?.kind !== 'queue') return {};
  const queue = QUEUES[trigger.queue] ?? 'unknown';
  return {
    'sqs:ChangeMessageVisibility': [queue],
    'sqs:DeleteMessage': [queue],
    'sqs:GetQueueAttributes': [queue],
    'sqs:ReceiveMessage': [queue],
  };
};

const lines = (grants: readonly Grants[]): readonly string[] =>
  grants
    .flatMap((grant) => Object.entries(grant))
    .flatMap(([action, on]) => on.map((resource) => `${action} on ${resource}`))
    .sort();

const list = <T>(value: T | readonly T[]): readonly T[] => (Array.isArray(value) ? value : [value as T]);

interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: Value | readonly Value[];
  readonly Condition?:
    | { readonly StringEquals: { readonly 'kms:ViaService': Value } }
    | {
        readonly 'ForAllValues:StringLike': { readonly 'dynamodb:LeadingKeys': readonly string[] };
        readonly Null: { readonly 'dynamodb:LeadingKeys': string };
      };
}

const conditionOf = ({ Condition }: Statement): string => {
  if (!Condition) return '';
  if ('StringEquals' in Condition) return ` where ${words(Condition.StringEquals['kms:ViaService'])}`;
  expect(Condition.Null).toEqual({ 'dynamodb:LeadingKeys': 'false' });
  const keys = Condition['ForAllValues:StringLike']['dynamodb:LeadingKeys'];
  return ` where there is a key that begins with ${keys.join(', ')}`;
};

const statementsOf = (id: string, { functionOf, ofType } = unbound): readonly Statement[] => {
  const { stack, Properties } = functionOf(id);
  const inStack = (type: string) => ofType(type).filter((resource) => resource.stack === stack);
  const role = inStack('AWS::IAM::Role').find(({ logicalId }) => logicalId === Properties.Role['Fn::GetAtt'][0]);
  expect(role?.Properties.Policies).toBeUndefined();
  expect(role?.Properties.ManagedPolicyArns).toHaveLength(1);
  const policy = inStack('AWS::IAM::ManagedPolicy').find(
    ({ logicalId }) => logicalId === role?.Properties.ManagedPolicyArns[0].Ref,
  );
  return policy?.Properties.PolicyDocument.Statement;
};

const allowedTo = (id: string): readonly Statement[] => statementsOf(id).filter(({ Effect }) => Effect === 'Allow');

const all = [
  ...endpoints.map(({ id, uses }) => ({ id, uses, trigger: undefined })),
  ...triggers.map((trigger) => ({ id: trigger.id, uses: trigger.uses, trigger })),
  { id: DEFAULT_ID, uses: [], trigger: undefined },
];

describe('the role of a function', () => {
  test.each(all)('$id holds exactly its declared rights', ({ id, uses, trigger }) => {
    const held = allowedTo(id).flatMap((statement) => {
      return list(statement.Action).flatMap((action) =>
        list<Value>(statement.Resource).map((resource) => `${action} on ${words(resource)}${conditionOf(statement)}`),
      );
    });
    const declared = lines([EVERY_FUNCTION, sourceOf(trigger), ...uses.map((right) => WORTH[right])]);
    // Several rights to secrets include the same right to use the key, so duplicates are removed.
    expect([...new Set(held)].sort()).toEqual([...new Set(declared)]);
  });

  test('belongs to all functions of its stack with the same rights, and to no other function', () => {
    const functions = all.map(({ id }) => {
      const { stack, Properties } = unbound.functionOf(id);
      return { stack, role: Properties.Role['Fn::GetAtt'][0], rights: JSON.stringify(statementsOf(id)) };
    });
    const setsOf = (stack: string, one: 'role' | 'rights') =>
      new Set(functions.filter((each) => each.stack === stack).map((each) => each[one])).size;
    for (const stack of unbound.stacks) expect(setsOf(stack, 'role'), stack).toBe(setsOf(stack, 'rights'));
    expect(new Set(functions.map(({ stack, role }) => `${stack}/${role}`)).size).toBe(ofType('AWS::IAM::Role').length);
  });

  test('fits in one policy of 6,144 characters', () => {
    // Counts the characters in the template. Its references are longer than the resulting ARNs.
    const sizes = ofType('AWS::IAM::ManagedPolicy').map(({ Properties }) => JSON.stringify(Properties.PolicyDocument));
    expect(Math.max(...sizes.map(({ length }) => length))).toBeLessThan(6_144);
  });

  test('has exactly one policy, a managed policy', () => {
    const types = new Set(resources.map(({ Type }) => Type).filter((type) => type.startsWith('AWS::IAM::')));
    expect([...types].sort()).toEqual(['AWS::IAM::ManagedPolicy', 'AWS::IAM::Role']);
    expect(ofType('AWS::IAM::ManagedPolicy')).toHaveLength(ofType('AWS::IAM::Role').length);
  });

  const holders = (wanted: string): readonly string[] =>
    all
      .filter(({ id }) =>
        allowedTo(id).some(({ Action, Resource }) =>
          list(Action).some((action) => list<Value>(Resource).some((on) => `${action} ${words(on)}` === wanted)),
        ),
      )
      .map(({ id }) => id);

  test('holds DeleteItem only if its use case deletes', () => {
    expect(holders('dynamodb:DeleteItem Table.Arn').toSorted()).toEqual(
      [
        'addresses.remove',
        'admin.delete-record',
        'customers.remove',
        'organizations.leave',
        'organizations.remove',
        'organizations.remove-member',
        'pay.cancel',
        'pay.confirm',
        'pay.keep',
        'pay.method',
        'pay.start',
        'payment-methods.create',
        'payment-methods.link-address',
        'payment-methods.remove',
        'payment-methods.update',
        'payments.capture',
        'payments.confirm',
        'payments.create',
        'payments.create-intent',
        'refunds.create',
        'subscriptions.cancel',
        'subscriptions.create',
        'subscriptions.change',
        'subscriptions.link-address',
        'subscriptions.pause',
        'subscriptions.reactivate',
        'subscriptions.resume',
        'subscriptions.update',
        'subscriptions.withdraw-change',
        'workers.apply-provider-event',
        'workers.follow-payment',
        'workers.project-changes',
        'workers.run-due',
      ].toSorted(),
    );
  });

  test('reads a provider’s keys only if it can call that provider, and Braintree’s keys only for customer operations', () => {
    const reads = (secret: string) => holders(`secretsmanager:GetSecretValue ${secret}`);
    const [a, b, c, d] = ['A', 'B', 'C', 'D'].map((letter) => reads(`Provider${letter}Secret`));
    expect(a).toContain('payments.confirm');
    expect([b, c]).toEqual([a, a]);
    expect(a?.filter((id) => id.startsWith('webhooks.'))).toEqual([]);
    expect(d).toEqual(['customers.create', 'customers.update', 'customers.remove', 'workers.run-due']);
  });

  test('reads a provider’s signature secret only if it receives that provider’s events', () => {
    for (const letter of ['A', 'B', 'C']) {
      expect(holders(`secretsmanager:GetSecretValue Provider${letter}SignatureSecret`)).toEqual([
        `webhooks.provider-${letter.toLowerCase()}`,
      ]);
    }
  });

  test('gives a receiver only the secret that verifies its events, which for PayPal is the API keys', () => {
    const bound = synthesize({ env: { PROVIDER_A: 'stripe', PROVIDER_B: 'paypal', PROVIDER_C: 'square' } });
    const expected = { a: 'ProviderASignatureSecret', b: 'ProviderBSecret', c: 'ProviderCSignatureSecret' };
    for (const [letter, secret] of Object.entries(expected)) {
      const id = `webhooks.provider-${letter}`;
      const { Variables } = bound.functionOf(id).Properties.Environment;
      const arns = Object.entries<Value>(Variables).filter(([name]) => name.endsWith('SECRET_ARN'));
      expect(arns.map(([name, arn]) => [name, words(arn)])).toEqual([
        [`PROVIDER_${letter.toUpperCase()}_SIGNATURE_SECRET_ARN`, secret],
      ]);
      const reads = statementsOf(id, bound).filter(({ Action }) =>
        list(Action).includes('secretsmanager:GetSecretValue'),
      );
      expect(reads.flatMap(({ Resource }) => list<Value>(Resource).map(bound.words))).toEqual([secret]);
    }
  });

  test('may write service keys only if it serves /admin/keys', () => {
    const denied = all.filter(({ id }) => {
      const denials = statementsOf(id).filter(({ Effect }) => Effect !== 'Allow');
      for (const { Resource, ...denial } of denials) {
        expect(words(Resource as Value)).toBe('Table.Arn');
        expect(denial).toEqual({
          Effect: 'Deny',
          Action: ['dynamodb:BatchWriteItem', 'dynamodb:DeleteItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
          Condition: { 'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': ['KEY#*'] } },
        });
      }
      return denials.length === 1;
    });
    const writesKeys = ['admin.create-key', 'admin.revoke-key', 'admin.rotate-key', 'admin.update-key'];
    const writes = (id: string): boolean =>
      allowedTo(id).some(({ Action }) =>
        list(Action).some((action) => /^dynamodb:(?!Get|Query|List|Desc)/.test(action)),
      );
    const others = all.filter((one) => !denied.includes(one) && writes(one.id)).map(({ id }) => id);
    expect(others.toSorted()).toEqual(writesKeys);
    expect(holders('dynamodb:PutItem Table.Arn')).toEqual(expect.arrayContaining(writesKeys));
  });

  test('lets a receiver of provider events write only events, their log and rate windows', () => {
    for (const letter of ['a', 'b', 'c']) {
      const writes = allowedTo(`webhooks.provider-${letter}`).filter(({ Action }) =>
        list(Action).some((action) => /^dynamodb:/.test(action)),
      );
      const found = writes.map(({ Action, Condition }) => [Action, Condition]);
      expect(found.toSorted(([one], [other]) => String(one).localeCompare(String(other)))).toEqual([
        [
          'dynamodb:PutItem',
          {
            'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['EVT#*', 'LOG#*'] },
            Null: { 'dynamodb:LeadingKeys': 'false' },
          },
        ],
        [
          'dynamodb:UpdateItem',
          {
            'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['RATE#*', 'KEYUSE#*'] },
            Null: { 'dynamodb:LeadingKeys': 'false' },
          },
        ],
      ]);
    }
  });

  test('scans only to erase or export a person, and allows no wildcard action', () => {
    expect(holders('dynamodb:Scan Table.Arn')).toEqual(['admin.export-person', 'workers.run-due']);
    const actions = all.flatMap(({ id }) => statementsOf(id).flatMap(({ Action }) => list(Action)));
    expect(actions.filter((action) => action.includes('*'))).toEqual([]);
    expect(actions.filter((action) => /scan/i.test(action))).toEqual(['dynamodb:Scan', 'dynamodb:Scan']);
  });
});
