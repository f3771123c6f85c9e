/**
 * @module Moves routes to another stack when the build removes their stack. API Gateway refuses a second route with the
 * same key, so the old route is deleted right before its new stack is deployed.
 */
import { type ApiGatewayV2Client, DeleteRouteCommand } from '@aws-sdk/client-apigatewayv2';
import {
  type CloudFormationClient,
  GetTemplateCommand,
  paginateListStackResources,
} from '@aws-sdk/client-cloudformation';
import * as z from 'zod';
import type { BuiltStage } from './assembly.ts';
import { apiIdOf, unlessMissing } from './removed-routes.ts';
import type { RemovedStack } from './removed-stacks.ts';
import type { Stage } from './settings.ts';

interface Clients {
  readonly cloudFormation: CloudFormationClient;
  readonly gateway: Pick<ApiGatewayV2Client, 'send'>;
}

export interface MovedRoute {
  readonly id: string;
  /** The new stack of this route. */
  readonly stack: string;
}

export interface MovedRoutes {
  readonly routes: readonly MovedRoute[];
  /**
   * The reasons why the new stacks cannot be deployed while the old ones exist. Each is one sentence with the remedy.
   */
  readonly obstacles: readonly string[];
}

const templateSchema = z.object({
  Resources: z.record(
    z.string(),
    z.object({ Type: z.string(), Properties: z.record(z.string(), z.unknown()).default({}) }),
  ),
});
type Resources = z.output<typeof templateSchema>['Resources'];

/** Deletes these routes, but keeps their limits. CloudFormation can still delete the old stacks afterwards. */
export const deleteMovedRoutes = async (
  { cloudFormation, gateway }: Clients,
  stage: Stage,
  routes: readonly MovedRoute[],
): Promise<void> => {
  const ApiId = routes.length > 0 ? await apiIdOf(cloudFormation, stage) : undefined;
  if (ApiId === undefined) return;
  for (const { id: RouteId } of routes) await unlessMissing(gateway.send(new DeleteRouteCommand({ ApiId, RouteId })));
};

/** @returns one line per receiving stack, for the operator's decision. */
export const describeMovedRoutes = ({ routes }: MovedRoutes): readonly string[] =>
  [...Map.groupBy(routes, ({ stack }) => stack)].map(
    ([stack, { length }]) =>
      `${stack} gets routes of former stacks (${length}); they answer 404 while it is deployed, for some minutes`,
  );

/** @param removed the deployed stacks missing from the build */
export const findMovedRoutes = async (
  client: CloudFormationClient,
  removed: readonly Pick<RemovedStack, 'id' | 'name'>[],
  built: BuiltStage,
): Promise<MovedRoutes> => {
  const routes: MovedRoute[] = [];
  const obstacles: string[] = [];
  for (const { id, name } of removed) {
    const { TemplateBody } = await client.send(new GetTemplateCommand({ StackName: id, TemplateStage: 'Original' }));
    const { Resources } = templateSchema.parse(JSON.parse(TemplateBody ?? ''));
    obstacles.push(...obstaclesOf(name, Resources, built));
    const keys = new Map(
      Object.entries(Resources).flatMap(([logicalId, { Type, Properties }]) =>
        Type === 'AWS::ApiGatewayV2::Route' ? [[logicalId, String(Properties['RouteKey'])] as const] : [],
      ),
    );
    for (const [logicalId, route] of await idsOf(client, id)) {
      const key = keys.get(logicalId);
      const stack = key === undefined ? undefined : built.routes.get(key);
      if (stack !== undefined) routes.push({ id: route, stack });
    }
  }
  return { routes, obstacles };
};

/** Physical ids by logical ids. */
const idsOf = async (client: CloudFormationClient, StackName: string): Promise<ReadonlyMap<string, string>> => {
  const ids = new Map<string, string>();
  for await (const { StackResourceSummaries = [] } of paginateListStackResources({ client }, { StackName })) {
    for (const { LogicalResourceId, PhysicalResourceId } of StackResourceSummaries) {
      if (LogicalResourceId && PhysicalResourceId) ids.set(LogicalResourceId, PhysicalResourceId);
    }
  }
  return ids;
};

const obstaclesOf = (name: string, resources: Resources, { alarms }: BuiltStage): readonly string[] => {
  const all = Object.values(resources).map(({ Properties }) => Properties);
  const reserving = all.filter((properties) => properties['ReservedConcurrentExecutions'] !== undefined).length;
  const shared = all.map((properties) => String(properties['AlarmName'])).filter((alarm) => alarms.has(alarm));
  return [
    ...(reserving > 0
      ? [`${name} reserves instances for ${reserving} functions; deploy its own version with BULKHEADS=off first`]
      : []),
    ...(shared.length > 0
      ? [`${name} has the alarms ${shared.join(', ')}; deploy its own version with DEPLOY=all-at-once first`]
      : []),
  ];
};
