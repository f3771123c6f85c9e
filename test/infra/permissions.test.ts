import { describe, expect, test } from 'vitest';
import { endpoints, triggers } from '../../functions/api/catalogue.ts';
import { DEFAULT_ID } from '../../infra/deploy/build.ts';
import { type Resource, synthesize, type Value } from './synthesized.ts';

const { ofType, functionOf, words, resources } = synthesize({ env: { HEALTH_CHECK: 'on' } });

interface Statement {
  readonly Effect: 'Allow' | 'Deny';
  readonly Action: string | readonly string[];
  readonly Principal?: Value;
  readonly Condition?: unknown;
  readonly Sid?: string;
}

/** Every statement of every policy in every template. */
const statementsIn = (value: unknown): readonly Statement[] => {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(statementsIn);
  const own = 'Effect' in value && 'Action' in value ? [value as Statement] : [];
  return [...own, ...Object.values(value).flatMap(statementsIn)];
};
const allowed = resources
  .flatMap(({ Type, Properties }) => statementsIn(Properties).map((statement) => ({ Type, ...statement })))
  .filter(({ Effect }) => Effect === 'Allow');

const actionsOf = ({ Action }: Statement): readonly string[] => [Action].flat();

describe('the set of all policies', () => {
  test('lets only the functions of erasure and export scan the table', () => {
    expect(allowed.flatMap(actionsOf).filter((action) => /scan/i.test(action))).toEqual([
      'dynamodb:Scan',
      'dynamodb:Scan',
    ]);
  });

  test('allows wildcard actions only to the account, and only on its own encryption key', () => {
    const wild = allowed.filter((statement) => actionsOf(statement).some((action) => action.includes('*')));
    expect(wild.map(({ Type, Action }) => [Type, Action])).toEqual([['AWS::KMS::Key', 'kms:*']]);
  });

  test('has no public principal', () => {
    expect(allowed.filter(({ Principal }) => JSON.stringify(Principal ?? '').includes('"*"'))).toEqual([]);
  });
});

const permissionsOf = (lambda: Resource): readonly Resource[] =>
  ofType('AWS::Lambda::Permission').filter(
    ({ stack, Properties }) =>
      stack === lambda.stack && words(Properties.FunctionName) === `${lambda.logicalId.slice(0, -8)}.Arn`,
  );
const callersOf = (id: string): readonly string[] =>
  permissionsOf(functionOf(id))
    .map(({ Properties }) => `${Properties.Action} by ${Properties.Principal}`)
    .toSorted();

const BY_GATEWAY = 'lambda:InvokeFunction by apigateway.amazonaws.com';

describe('the resource policy of a function', () => {
  test.each(endpoints.map(({ id, auth }) => [id, auth] as const))(
    'lets only the gateway call %s, and providers through a function URL',
    (id, auth) => {
      const byUrl = ['lambda:InvokeFunction by *', 'lambda:InvokeFunctionUrl by *'];
      expect(callersOf(id)).toEqual(auth === 'provider-signature' ? [...byUrl, BY_GATEWAY].toSorted() : [BY_GATEWAY]);
      for (const { Properties } of permissionsOf(functionOf(id))) {
        if (Properties.Principal !== '*') continue;
        const onlyByUrl = Properties.InvokedViaFunctionUrl === true || Properties.FunctionUrlAuthType === 'NONE';
        expect(onlyByUrl).toBe(true);
      }
    },
  );

  test.each(triggers.map(({ id, kind }) => [id, kind] as const))(
    'lets no caller except its own schedule call %s (%s)',
    (id, kind) => {
      // Queues and streams are read with the function's own rights.
      expect(callersOf(id)).toEqual(kind === 'schedule' ? ['lambda:InvokeFunction by events.amazonaws.com'] : []);
    },
  );

  test('lets only the gateway call the default function', () => {
    expect(callersOf(DEFAULT_ID)).toEqual([BY_GATEWAY]);
  });
});

describe('the function URLs', () => {
  test('serve the webhooks of three providers, and are printed after a deployment', () => {
    const urls = ofType('AWS::Lambda::Url');
    expect(urls.map(({ Properties }) => words(Properties.TargetFunctionArn)).sort()).toEqual(
      ['a', 'b', 'c'].map((letter) => `${functionOf(`webhooks.provider-${letter}`).logicalId.slice(0, -8)}.Arn`),
    );
    expect(urls.map(({ Properties }) => Properties.AuthType)).toEqual(['NONE', 'NONE', 'NONE']);
    const { outputs } = synthesize();
    for (const letter of ['A', 'B', 'C']) expect(Object.keys(outputs)).toContain(`WebhooksProvider${letter}Url`);
  });
});
