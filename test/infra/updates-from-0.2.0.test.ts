import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { endpoints } from '../../functions/api/catalogue.ts';
import { routesPart } from '../../infra/deploy/stacks/routes.ts';
import { type StageTemplates, type TemplateResource, templatesOf } from './stage-templates.ts';
import { PROD } from './update-pairs.ts';
import { updateProblemsOf } from './update-problems.ts';

/** Properties by stack, type and logical id of a prod stage of version 0.2.0 (commit 0e90ded5). */
type Stored = Readonly<
  Record<string, Readonly<Record<string, Readonly<Record<string, TemplateResource['Properties']>>>>>
>;
const stored: Stored = JSON.parse(readFileSync(new URL('stage-of-0.2.0.json', import.meta.url), 'utf8'));

const former: StageTemplates = Object.entries(stored).map(([name, types], at, all) => ({
  name,
  after: all.slice(0, at).map(([earlier]) => earlier),
  template: {
    Resources: Object.fromEntries(
      Object.entries(types).flatMap(([Type, found]) =>
        Object.entries(found).map(([id, Properties]) => [id, { Type, ...(Properties && { Properties }) }] as const),
      ),
    ),
  },
}));
const now = templatesOf({
  env: {
    ...PROD,
    CUSTOM_DOMAIN: 'pay.example.com',
    BULKHEADS: 'on',
    CONSOLE: 'on',
    DEPLOY: 'canary',
    PROVIDER_A: 'stripe',
  },
});

/** The stage's resources of one type, by keys such as `payments-prod-api Handler`. */
const resourcesOf = (stage: StageTemplates, type: string): ReadonlyMap<string, TemplateResource> =>
  new Map(
    stage.flatMap(({ name, template }) =>
      Object.entries(template.Resources).flatMap(([id, resource]) =>
        resource.Type === type ? [[`${name} ${id}`, resource] as const] : [],
      ),
    ),
  );
const idsOf = (stage: StageTemplates, type: string): readonly string[] => [...resourcesOf(stage, type).keys()];

const KEPT_STACKS = ['data', 'api', 'events', 'api-webhooks', 'operations', 'front'].map(
  (part) => `payments-prod-${part}`,
);
const isInKeptStack = (id: string): boolean => KEPT_STACKS.includes(id.split(' ')[0] ?? '');

describe('the update from 0.2.0', () => {
  test('keeps six of nineteen stacks, and adds no stack', () => {
    expect(former).toHaveLength(19);
    expect(now.map(({ name }) => name)).toEqual(KEPT_STACKS);
  });

  test('keeps all data and addresses, and reuses only the names of routes and canary alarms', () => {
    const problems = updateProblemsOf({ before: former, after: now });
    const ofMoved = problems.filter((problem) =>
      /creates AWS::(?:ApiGatewayV2::Route|CloudWatch::Alarm payments-prod-canary-errors)/.test(problem),
    );
    expect(problems.filter((problem) => !ofMoved.includes(problem))).toEqual([]);
    expect(ofMoved.length).toBeGreaterThan(50);
  });

  test.each([
    ['AWS::Lambda::Url', 3],
    ['AWS::ApiGatewayV2::Api', 1],
    ['AWS::ApiGatewayV2::Stage', 1],
    ['AWS::ApiGatewayV2::DomainName', 1],
    ['AWS::ApiGatewayV2::ApiMapping', 1],
    ['AWS::CertificateManager::Certificate', 1],
    ['AWS::Lambda::EventSourceMapping', 7],
    ['AWS::Events::Rule', 4],
    ['AWS::SQS::Queue', 11],
  ])('keeps each %s in its stack under its logical id, with unchanged address properties', (type, count) => {
    const kept = resourcesOf(now, type);
    const before = resourcesOf(former, type);
    expect(before.size).toBeGreaterThanOrEqual(count);
    for (const [id, { Properties = {} }] of before) {
      expect(kept.get(id)?.Properties, id).toMatchObject(Properties);
    }
  });

  test('keeps the log groups of all stacks that stay', () => {
    const before = idsOf(former, 'AWS::Logs::LogGroup').filter(isInKeptStack);
    expect(before).toHaveLength(4);
    expect(idsOf(now, 'AWS::Logs::LogGroup').toSorted()).toEqual(before.toSorted());
  });

  test('moves no receiver, worker or health probe, and gives no function a fixed name', () => {
    const functions = resourcesOf(now, 'AWS::Lambda::Function');
    const stay = idsOf(former, 'AWS::Lambda::Function').filter(isInKeptStack);
    expect(stay.filter((id) => !functions.has(id))).toEqual([]);
    expect(stay.length).toBeGreaterThan(15);
    for (const [id, { Properties }] of functions) expect(Properties?.['FunctionName'], id).toBeUndefined();
  });

  test('moves reserved concurrency only for the payment path, whose old stacks must release it first', () => {
    const reserving = [...resourcesOf(former, 'AWS::Lambda::Function')].flatMap(([id, { Properties }]) =>
      Properties?.['ReservedConcurrentExecutions'] === undefined || isInKeptStack(id) ? [] : [id.split(' ')[0]],
    );
    expect([...new Set(reserving)]).toEqual(['payments-prod-api-payments', 'payments-prod-api-subscriptions']);
    expect(reserving).toHaveLength(endpoints.filter(({ paymentPath }) => paymentPath).length);
  });

  test('can be undone, and 0.2.0 then finds every resource with data or an address', () => {
    const added = ['IdSecret'];
    expect(updateProblemsOf({ before: now, after: former, removes: added })).toEqual([]);
    for (const type of ['AWS::Lambda::Url', 'AWS::ApiGatewayV2::Api', 'AWS::DynamoDB::Table', 'AWS::SQS::Queue']) {
      expect(idsOf(former, type).toSorted()).toEqual(idsOf(now, type).toSorted());
    }
  });
});

describe('the stacks of a stage', () => {
  const resources = now.flatMap(({ name, template }) =>
    Object.entries(template.Resources).map(([id, resource]) => ({ name, id, ...resource })),
  );

  test('have fewer than 400 of the 500 resources that CloudFormation allows', () => {
    for (const { name, template } of now) expect(Object.keys(template.Resources).length, name).toBeLessThan(400);
  });

  test('have fewer than half as many roles as functions', () => {
    const count = (type: string): number => resources.filter(({ Type }) => Type === type).length;
    expect(count('AWS::Lambda::Function')).toBeGreaterThan(endpoints.length);
    expect(count('AWS::IAM::Role')).toBeLessThan(count('AWS::Lambda::Function') / 2);
  });

  test('refer only to their own resources and parameters', () => {
    const namesIn = (value: unknown): readonly string[] => {
      if (typeof value !== 'object' || value === null) return [];
      return Object.entries(value).flatMap(([key, inner]) => {
        if (key === 'Ref' && typeof inner === 'string') return [inner];
        if (key === 'Fn::GetAtt' && Array.isArray(inner)) return [String(inner[0])];
        if (key === 'DependsOn') return [inner].flat().map(String);
        return namesIn(inner);
      });
    };
    for (const { name, template } of now) {
      const known = new Set([...Object.keys(template.Resources), ...Object.keys(template.Parameters ?? {})]);
      const unknown = namesIn(template).filter((id) => !known.has(id) && !id.startsWith('AWS::'));
      expect(unknown, name).toEqual([]);
    }
  });

  test('deploy queues before the endpoints that send to them', () => {
    const senders = endpoints.filter(({ uses }) => uses.some((right) => right.startsWith('queue:')));
    expect(senders.map(routesPart)).toEqual(senders.map(() => 'api-webhooks'));
  });
});
