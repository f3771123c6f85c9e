/** @module What a deployment would change, read from the built and the deployed templates. */
import { describe, expect, test } from 'vitest';
import { compareStack, describeChanges, isCodeOnly } from '../../infra/deploy/stage/stack-changes.ts';
import { parseTemplate, type StackTemplate } from '../../infra/deploy/stage/template.ts';
import { isBroadening } from '../../infra/deploy/stage/template-rights.ts';

interface Given {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly Metadata?: unknown;
}

const template = (Resources: Readonly<Record<string, Given>>, more: object = {}): StackTemplate =>
  parseTemplate(JSON.stringify({ Parameters: PARAMETERS, Resources, ...more }));

const PARAMETERS = { TableArn: { Type: 'String', Default: '/payments/dev/data/table-arn' } };

const policy = (...Statement: readonly object[]): Given => ({
  Type: 'AWS::IAM::ManagedPolicy',
  Properties: { PolicyDocument: { Statement } },
});
const READ = { Effect: 'Allow', Action: ['dynamodb:GetItem', 'dynamodb:Query'], Resource: { Ref: 'TableArn' } };
const DENY = { Effect: 'Deny', Action: 'dynamodb:PutItem', Resource: { Ref: 'TableArn' } };
const ROLE: Given = {
  Type: 'AWS::IAM::Role',
  Properties: {
    AssumeRolePolicyDocument: {
      Statement: [{ Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { Service: 'lambda.amazonaws.com' } }],
    },
    ManagedPolicyArns: [{ Ref: 'Rights12345678' }],
  },
};
const withRights = (...statements: readonly object[]): StackTemplate =>
  template({ ConfirmRole12345678: ROLE, Rights12345678: policy(...statements) });

const compared = (before: StackTemplate | undefined, after: StackTemplate) =>
  compareStack({ name: 'payments-dev-api', isProtected: false, template: after }, before);

describe('the rights that a deployment changes', () => {
  test('include the rights of a managed policy, listed under its role', () => {
    const change = compared(withRights(READ), withRights(READ, { Effect: 'Allow', Action: 's3:*', Resource: '*' }));
    expect(isBroadening(change.rights)).toBe(true);
    expect(describeChanges([change], false)).toEqual([
      'rights that change:',
      '  ConfirmRole',
      '    + allow s3:* on *',
      'payments-dev-api: 1 changed',
    ]);
  });

  test.each([
    ['a right that is removed', withRights(READ, DENY), withRights(DENY), false],
    ['a denial that is removed', withRights(READ, DENY), withRights(READ), true],
    ['a denial that is added', withRights(READ), withRights(READ, DENY), false],
    ['a new stack', undefined, withRights(READ), true],
  ])('are wider after %s: %s', (_name, before, after, wider) => {
    expect(isBroadening(compared(before, after).rights)).toBe(wider);
  });

  test('are wider without a condition or boundary, or with another resource, principal or AWS policy', () => {
    const role = (properties: object): StackTemplate =>
      template({ R: { Type: 'AWS::IAM::Role', Properties: { ...ROLE.Properties, ...properties } } });
    const queue = (Principal: unknown): StackTemplate =>
      template({
        QP: {
          Type: 'AWS::SQS::QueuePolicy',
          Properties: { PolicyDocument: { Statement: { Effect: 'Allow', Action: 'sqs:*', Principal, Resource: '*' } } },
        },
      });
    const invoke = (SourceArn: string): StackTemplate =>
      template({ P: { Type: 'AWS::Lambda::Permission', Properties: { Action: 'a', FunctionName: 'f', SourceArn } } });
    const pairs = [
      [withRights({ ...READ, Condition: { Bool: { x: 'true' } } }), withRights(READ)],
      [
        withRights({ ...READ, Resource: { Ref: 'Queue12345678' } }),
        withRights({ ...READ, Resource: { Ref: 'Queue87654321' } }),
      ],
      [withRights(READ), withRights({ Effect: 'Allow', NotAction: 'iam:*', Resource: '*' })],
      [queue({ Service: 'events.amazonaws.com' }), queue('*')],
      [role({}), role({ ManagedPolicyArns: ['arn:aws:iam::aws:policy/AdministratorAccess'] })],
      [role({ PermissionsBoundary: 'arn:boundary' }), role({})],
      [role({}), role({ Policies: [{ PolicyDocument: { Statement: [READ] } }] })],
      [invoke('arn:one'), invoke('arn:*')],
    ] as const;
    for (const [before, after] of pairs) expect(isBroadening(compared(before, after).rights)).toBe(true);
  });

  test('do not change if statements are split or in another order', () => {
    const split = [
      { ...READ, Action: 'dynamodb:Query' },
      { ...READ, Action: 'dynamodb:GetItem' },
    ];
    const { rights } = compared(withRights(READ), withRights(...split));
    expect(rights).toEqual({ added: [], removed: [] });
  });

  test('are printed once for roles with equal rights, with one line per resource', () => {
    const both = template({
      ConfirmRole12345678: ROLE,
      CancelRole12345678: ROLE,
      Rights12345678: policy(READ, DENY),
    });
    expect(describeChanges([compared(undefined, both)], false)).toEqual([
      'rights that change:',
      '  CancelRole, ConfirmRole',
      '    + allow dynamodb:GetItem, dynamodb:Query on /payments/dev/data/table-arn',
      '    + allow sts:AssumeRole on itself for lambda.amazonaws.com',
      '    + deny dynamodb:PutItem on /payments/dev/data/table-arn',
      'payments-dev-api (new): 3 added',
    ]);
  });
});

describe('the other changes of a deployment', () => {
  const before = template({
    Table12345678: { Type: 'AWS::DynamoDB::Table', Properties: { Description: 'Payments …' } },
    Old12345678: { Type: 'AWS::SNS::Topic' },
  });
  const after = template({
    Table12345678: { Type: 'AWS::DynamoDB::Table', Properties: { BillingMode: 'PROVISIONED' } },
    New12345678: { Type: 'AWS::SNS::Topic' },
  });

  test('are counted, and only resources with data are named', () => {
    expect(describeChanges([compared(before, after)], false)).toEqual([
      'no right changes',
      'payments-dev-api: 1 added, 1 changed, 1 removed',
      '  changed: Table (AWS::DynamoDB::Table)',
    ]);
  });

  test('are all named with --verbose', () => {
    expect(describeChanges([compared(before, after)], true).slice(2)).toEqual([
      '  changed: Table (AWS::DynamoDB::Table)',
      '  removed: Old (AWS::SNS::Topic)',
      '  added: New (AWS::SNS::Topic)',
    ]);
  });

  test('ignore metadata, and characters that CloudFormation cannot store', () => {
    const same = template({
      Table12345678: { Type: 'AWS::DynamoDB::Table', Properties: { Description: 'Payments ?' }, Metadata: { a: 1 } },
      Old12345678: { Type: 'AWS::SNS::Topic' },
    });
    expect(describeChanges([compared(before, same)], false)).toEqual([
      'no right changes',
      'payments-dev-api: no change',
    ]);
  });

  test('include outputs and parameters', () => {
    const other = template({ Old12345678: { Type: 'AWS::SNS::Topic' } }, { Outputs: { Url: { Value: 'u' } } });
    const one = template({ Old12345678: { Type: 'AWS::SNS::Topic' } });
    expect(describeChanges([compared(one, other)], false)[1]).toBe('payments-dev-api: Outputs');
  });
});

describe('the check for a release of code alone', () => {
  const fn = (properties: object, more: Readonly<Record<string, Given>> = {}): StackTemplate =>
    template({ F: { Type: 'AWS::Lambda::Function', Properties: { Timeout: 3, ...properties } }, ...more });
  const alias = (version: string): Readonly<Record<string, Given>> => ({
    [version]: { Type: 'AWS::Lambda::Version', Properties: { FunctionName: { Ref: 'F' } } },
    A: { Type: 'AWS::Lambda::Alias', Properties: { Name: 'live', FunctionVersion: { Ref: version } } },
  });

  test.each([
    ['the code of a function', fn({ Code: 'a' }), fn({ Code: 'b' }), true],
    ['the code behind an alias', fn({ Code: 'a' }, alias('V1')), fn({ Code: 'b' }, alias('V2')), true],
    ['the code and a time-out', fn({ Code: 'a' }), fn({ Code: 'b', Timeout: 9 }), false],
    ['an environment', fn({}), fn({ Environment: {} }), false],
    ['nothing', fn({}), fn({}), false],
    ['another resource', fn({ Code: 'a' }), fn({ Code: 'b' }, { T: { Type: 'AWS::SNS::Topic' } }), false],
    ['the code and an output', fn({ Code: 'a' }), { ...fn({ Code: 'b' }), Outputs: { Url: { Value: 'u' } } }, false],
    ['the code and a parameter', fn({ Code: 'a' }), { ...fn({ Code: 'b' }), Parameters: {} }, false],
    ['the code, and removes a resource', fn({ Code: 'a' }, alias('V1')), fn({ Code: 'b' }), false],
    ['a new stack', undefined, fn({}), false],
  ])('decides correctly about a change of %s (case %#)', (_name, before, after, expected) => {
    expect(isCodeOnly([compared(before, after), compared(after, after)])).toBe(expected);
  });
});
