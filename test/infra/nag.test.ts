import { App, Stack, Validations } from 'aws-cdk-lib';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { describe, expect, test } from 'vitest';
import { packs } from '../../infra/deploy/stacks/service.ts';
import { synthesize } from './synthesized.ts';

const MOST = 8;

const prod = synthesize({ env: { STAGE: 'prod', ALARM_EMAIL: 'ops@example.com', CUSTOM_DOMAIN: 'pay.example.com' } });
const dev = synthesize({ env: { STAGE: 'dev' } });

const violations = (app: App): readonly string[] =>
  packs(app).flatMap((pack) => pack.validateScope(app).violations.map(({ ruleName }) => ruleName));

/** The reasons for which rules are acknowledged, by rule, over all packs. */
const acknowledged = (): ReadonlyMap<string, readonly string[]> => {
  const reasons = new Map<string, string[]>();
  for (const { metadata } of prod.app.node.findAll().map(({ node }) => node)) {
    for (const { type, data } of metadata) {
      if (type !== Validations.ACKNOWLEDGED_RULES_METADATA_KEY) continue;
      for (const [id, reason] of Object.entries<string>(data)) {
        const rule = id.replace(/^\w+::/, '').replace(/\[.*/, '');
        reasons.set(rule, [...(reasons.get(rule) ?? []), reason]);
      }
    }
  }
  return reasons;
};

describe('cdk-nag', () => {
  test('reports no open finding in AwsSolutions, Serverless and PCI DSS', () => {
    expect(packs(prod.app).map(({ readPackName }) => readPackName)).toEqual([
      'AwsSolutions',
      'Serverless',
      'PCI.DSS.321',
    ]);
    for (const stage of [prod, dev]) expect(violations(stage.app)).toEqual([]);
  });

  test('has at most eight acknowledged rules, each with its reason', () => {
    const rules = acknowledged();
    expect([...rules.keys()].sort()).toEqual([
      'AwsSolutions-APIG4',
      'AwsSolutions-IAM5',
      'AwsSolutions-SMG4',
      'PCI.DSS.321-LambdaFunctionPublicAccessProhibited',
      'PCI.DSS.321-LambdaInsideVPC',
      'PCI.DSS.321-S3BucketReplicationEnabled',
      'Serverless-LambdaEventSourceMappingDestination',
      'Serverless-SQSRedrivePolicy',
    ]);
    expect(rules.size).toBeLessThanOrEqual(MOST);
    for (const reasons of rules.values()) {
      expect(new Set(reasons).size).toBe(1);
      expect(reasons[0]?.length).toBeGreaterThan(40);
    }
  });

  test('reports a violation in each pack', () => {
    const app = new App();
    const stack = new Stack(app, 'Wrong');
    new Queue(stack, 'Queue');
    new Topic(stack, 'Topic');
    expect(violations(app)).toEqual(
      expect.arrayContaining(['AwsSolutions-SQS4', 'Serverless-SQSRedrivePolicy', 'PCI.DSS.321-SNSEncryptedKMS']),
    );
  });
});
