/** @module The removed parts of a deployed stage, before and after a deployment. */
import {
  ApiGatewayV2Client,
  DeleteRouteCommand,
  DeleteRouteSettingsCommand,
  GetStageCommand,
} from '@aws-sdk/client-apigatewayv2';
import {
  CloudFormationClient,
  DeleteStackCommand,
  DescribeStacksCommand,
  GetTemplateCommand,
  ListStackResourcesCommand,
  UpdateTerminationProtectionCommand,
} from '@aws-sdk/client-cloudformation';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { readBuiltStage } from '../../infra/deploy/stage/assembly.ts';
import { deleteMovedRoutes, describeMovedRoutes, findMovedRoutes } from '../../infra/deploy/stage/moved-routes.ts';
import { deleteOtherRouteSettings } from '../../infra/deploy/stage/removed-routes.ts';
import { destroyStacks, findRemovedStacks, type RemovedStack } from '../../infra/deploy/stage/removed-stacks.ts';
import { synthesize } from './synthesized.ts';

const synthesized = synthesize();

const region = 'eu-west-1';
const cloudFormation = mockClient(CloudFormationClient);
const gateway = mockClient(ApiGatewayV2Client);
beforeEach(() => {
  cloudFormation.reset();
  gateway.reset();
});
afterAll(() => {
  cloudFormation.restore();
  gateway.restore();
});

const named = (name: string): Error => Object.assign(new Error(name), { name });

interface DeployedStack {
  readonly name: string;
  readonly stage?: string;
  readonly service?: string;
  readonly createdAt?: string;
  readonly isProtected?: boolean;
}

const stackOf = ({ name, stage = 'dev', service = 'payments', createdAt = '2026-11-01', ...rest }: DeployedStack) => ({
  StackName: name,
  StackId: `arn:${name}`,
  StackStatus: 'UPDATE_COMPLETE' as const,
  CreationTime: new Date(createdAt),
  EnableTerminationProtection: rest.isProtected ?? false,
  Tags: [
    { Key: 'service', Value: service },
    { Key: 'stage', Value: stage },
  ],
});

const template = (resources: Readonly<Record<string, object>>): string => JSON.stringify({ Resources: resources });
const client = new CloudFormationClient({ region });

describe('deployed stacks missing from a build', () => {
  const deployStacks = (stacks: readonly DeployedStack[], TemplateBody = template({})) => {
    const [first = [], ...more] = [stacks.slice(0, 1), stacks.slice(1)].map((page) => page.map(stackOf));
    cloudFormation.on(DescribeStacksCommand).resolves({ Stacks: first, NextToken: 'more' });
    cloudFormation.on(DescribeStacksCommand, { NextToken: 'more' }).resolves({ Stacks: more.flat() });
    cloudFormation.on(GetTemplateCommand).resolves({ TemplateBody });
  };
  const namesOf = (stacks: readonly RemovedStack[]) => stacks.map(({ name }) => name);

  test('are found on all pages for this stage and service only, newest first', async () => {
    deployStacks([
      { name: 'payments-dev-api-console', createdAt: '2026-11-01' },
      { name: 'payments-dev-api-old', createdAt: '2026-11-02' },
      { name: 'payments-dev-data' },
      { name: 'payments-devices-x', stage: 'devices' },
      { name: 'payments-dev-of-others', service: 'shop' },
      { name: 'payments-prod-api-console', stage: 'prod' },
    ]);
    const removed = await findRemovedStacks(client, 'dev', new Set(['payments-dev-data']));
    expect(namesOf(removed)).toEqual(['payments-dev-api-old', 'payments-dev-api-console']);
  });

  test('include the route groups of version 0.2.0', async () => {
    const groups = ['payments-dev-api-payments', 'payments-dev-api-admin'];
    const built = readBuiltStage(synthesized.outDir);
    deployStacks([...built.resources.keys(), ...groups].map((name) => ({ name })));
    const removed = await findRemovedStacks(client, 'dev', new Set(built.resources.keys()));
    expect(namesOf(removed)).toEqual(groups);
  });

  test('name the resources with data, and whether they stay', async () => {
    deployStacks(
      [{ name: 'payments-dev-api-old' }],
      template({
        Logs: { Type: 'AWS::Logs::LogGroup', DeletionPolicy: 'RetainExceptOnCreate' },
        Waiting: { Type: 'AWS::SQS::Queue', DeletionPolicy: 'Delete' },
        Handler: { Type: 'AWS::Lambda::Function' },
      }),
    );
    const [stack] = await findRemovedStacks(client, 'dev', new Set());
    expect(stack).toMatchObject({ kept: ['log group Logs'], lost: ['queue Waiting'] });
  });

  test('never include the stack with the table', async () => {
    deployStacks([{ name: 'payments-dev-data' }], template({ Table: { Type: 'AWS::DynamoDB::Table' } }));
    await expect(findRemovedStacks(client, 'dev', new Set())).rejects.toThrow('payments-dev-data holds the table');
  });

  test('lose their protection only when they are destroyed, one after another', async () => {
    cloudFormation.on(UpdateTerminationProtectionCommand).resolves({});
    cloudFormation.on(DeleteStackCommand).resolves({});
    cloudFormation
      .on(DescribeStacksCommand)
      .resolves({ Stacks: [{ ...stackOf({ name: 'x' }), StackStatus: 'DELETE_COMPLETE' }] });
    const said: string[] = [];
    const stack = { id: 'arn:one', name: 'one', isProtected: true, kept: [], lost: [] };
    await destroyStacks(client, [stack, { ...stack, id: 'arn:two', name: 'two', isProtected: false }], (line) =>
      said.push(line),
    );
    expect(cloudFormation.commandCalls(UpdateTerminationProtectionCommand).map(({ args }) => args[0].input)).toEqual([
      { StackName: 'arn:one', EnableTerminationProtection: false },
    ]);
    expect(cloudFormation.commandCalls(DeleteStackCommand).map(({ args }) => args[0].input.StackName)).toEqual([
      'arn:one',
      'arn:two',
    ]);
    expect(said).toEqual(['one is destroyed, 0 s', 'two is destroyed, 0 s']);
  });

  test('cause an error if CloudFormation cannot finish a deletion', async () => {
    cloudFormation.on(DeleteStackCommand).resolves({});
    cloudFormation
      .on(DescribeStacksCommand)
      .resolves({ Stacks: [{ ...stackOf({ name: 'x' }), StackStatus: 'DELETE_FAILED' }] });
    const stack = { id: 'arn:one', name: 'one', isProtected: false, kept: [], lost: [] };
    await expect(destroyStacks(client, [stack], () => undefined)).rejects.toThrow('DELETE_FAILED');
  });
});

describe('the rate limits of routes missing from a build', () => {
  const clients = { cloudFormation: client, gateway: new ApiGatewayV2Client({ region }) };
  const deployRoutes = (...routes: readonly string[]) => {
    cloudFormation
      .on(ListStackResourcesCommand, { StackName: 'payments-dev-api' })
      .resolves({ StackResourceSummaries: [{ ...RESOURCE, ResourceType: 'AWS::SQS::Queue' }], NextToken: 'more' });
    cloudFormation.on(ListStackResourcesCommand, { StackName: 'payments-dev-api', NextToken: 'more' }).resolves({
      StackResourceSummaries: [{ ...RESOURCE, ResourceType: 'AWS::ApiGatewayV2::Api', PhysicalResourceId: 'a1' }],
    });
    gateway.on(GetStageCommand, { ApiId: 'a1', StageName: '$default' }).resolves({
      RouteSettings: Object.fromEntries(routes.map((route) => [route, { ThrottlingRateLimit: 20 }])),
    });
    gateway.on(DeleteRouteSettingsCommand).resolves({});
  };
  const RESOURCE = {
    LogicalResourceId: 'Api',
    LastUpdatedTimestamp: new Date(0),
    ResourceStatus: 'CREATE_COMPLETE',
  } as const;
  const deletedRoutes = () =>
    gateway.commandCalls(DeleteRouteSettingsCommand).map(({ args }) => args[0].input.RouteKey);

  test('are the only limits deleted before the deployment', async () => {
    const { routes, routeSettings } = readBuiltStage(synthesized.outDir);
    expect([...routeSettings].filter((route) => !routes.has(route))).toEqual([]);
    deployRoutes('POST /old', ...routes.keys());
    expect(await deleteOtherRouteSettings(clients, 'dev', routes)).toEqual(['POST /old']);
    expect(deletedRoutes()).toEqual(['POST /old']);
  });

  test('may be deleted already', async () => {
    deployRoutes('POST /old', 'POST /older');
    gateway.on(DeleteRouteSettingsCommand, { RouteKey: 'POST /old' }).rejects(named('NotFoundException'));
    expect(await deleteOtherRouteSettings(clients, 'dev', new Set())).toEqual(['POST /old', 'POST /older']);
  });

  test('do not exist before the first deployment, or without a stage of the API', async () => {
    cloudFormation.on(ListStackResourcesCommand).rejects(named('ValidationError'));
    expect(await deleteOtherRouteSettings(clients, 'dev', new Set())).toEqual([]);
    deployRoutes('POST /old');
    gateway.on(GetStageCommand).rejects(named('NotFoundException'));
    expect(await deleteOtherRouteSettings(clients, 'dev', new Set())).toEqual([]);
  });

  test('stop the deployment if they cannot be read', async () => {
    deployRoutes('POST /old');
    gateway.on(GetStageCommand).rejects(named('AccessDeniedException'));
    await expect(deleteOtherRouteSettings(clients, 'dev', new Set())).rejects.toThrow('AccessDenied');
  });
});

describe('the routes of stacks missing from a build', () => {
  const built = readBuiltStage(synthesized.outDir);
  const API = 'payments-dev-api';
  const [served = '', other = ''] = [...built.routes].filter(([, stack]) => stack === API).map(([key]) => key);
  const [alarm = ''] = built.alarms;
  const clients = { cloudFormation: client, gateway: new ApiGatewayV2Client({ region }) };
  const FORMER = 'payments-dev-api-payments';
  const resourcesOf = (types: Readonly<Record<string, string>>) => ({
    StackResourceSummaries: Object.entries(types).map(([LogicalResourceId, ResourceType]) => ({
      LogicalResourceId,
      ResourceType,
      PhysicalResourceId: `id-of-${LogicalResourceId}`,
      LastUpdatedTimestamp: new Date(0),
      ResourceStatus: 'CREATE_COMPLETE' as const,
    })),
  });
  const deploy = (resources: Readonly<Record<string, { readonly Type: string; readonly Properties?: object }>>) => {
    const stacks = [FORMER, ...built.resources.keys()].map((name) => stackOf({ name }));
    cloudFormation.on(DescribeStacksCommand).resolves({ Stacks: stacks });
    cloudFormation
      .on(GetTemplateCommand, { StackName: `arn:${FORMER}` })
      .resolves({ TemplateBody: template(resources) });
    const types = Object.fromEntries(Object.entries(resources).map(([id, { Type }]) => [id, Type]));
    cloudFormation.on(ListStackResourcesCommand, { StackName: `arn:${FORMER}` }).resolves(resourcesOf(types));
    cloudFormation
      .on(ListStackResourcesCommand, { StackName: 'payments-dev-api' })
      .resolves(resourcesOf({ Api: 'AWS::ApiGatewayV2::Api' }));
    gateway.on(DeleteRouteCommand).resolves({});
  };
  const route = (RouteKey: string) => ({ Type: 'AWS::ApiGatewayV2::Route', Properties: { RouteKey } });
  const found = async () => {
    const removed = await findRemovedStacks(client, 'dev', new Set(built.resources.keys()));
    return findMovedRoutes(client, removed, built);
  };
  const deleted = () => gateway.commandCalls(DeleteRouteCommand).map(({ args }) => args[0].input);

  test('are deleted by their ids if the build has their keys, and may be missing already', async () => {
    deploy({
      One: route(served),
      Two: route(other),
      Gone: route('GET /gone'),
      Code: { Type: 'AWS::Lambda::Function' },
    });
    gateway.on(DeleteRouteCommand, { RouteId: 'id-of-One' }).rejects(named('NotFoundException'));
    const moved = await found();
    expect(describeMovedRoutes(moved)).toEqual([
      `${API} gets routes of former stacks (2); they answer 404 while it is deployed, for some minutes`,
    ]);
    expect(deleted()).toEqual([]);
    await deleteMovedRoutes(clients, 'dev', moved.routes);
    expect(deleted()).toEqual([
      { ApiId: 'id-of-Api', RouteId: 'id-of-One' },
      { ApiId: 'id-of-Api', RouteId: 'id-of-Two' },
    ]);
  });

  test('cannot move while a reservation or alarm would exist twice', async () => {
    deploy({
      One: route(served),
      Code: { Type: 'AWS::Lambda::Function', Properties: { ReservedConcurrentExecutions: 50 } },
      Alarm: { Type: 'AWS::CloudWatch::Alarm', Properties: { AlarmName: alarm } },
      Other: { Type: 'AWS::CloudWatch::Alarm', Properties: { AlarmName: 'payments-dev-of-former' } },
    });
    expect((await found()).obstacles).toEqual([
      `${FORMER} reserves instances for 1 functions; deploy its own version with BULKHEADS=off first`,
      `${FORMER} has the alarms ${alarm}; deploy its own version with DEPLOY=all-at-once first`,
    ]);
  });

  test('are absent if every deployed stack is in the build', async () => {
    deploy({});
    cloudFormation.on(DescribeStacksCommand).resolves({ Stacks: [stackOf({ name: 'payments-dev-api' })] });
    expect(await found()).toEqual({ routes: [], obstacles: [] });
  });
});
