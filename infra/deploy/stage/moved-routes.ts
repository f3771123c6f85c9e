/**
 * @module Routes that move to another stack, because the build no longer has their stack. API Gateway refuses a second route
 * with the same key, so a former route is deleted right before the new stacks are deployed. Until then it is served.
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
import { findRemovedStacks, type RemovedStack } from './removed-stacks.ts';
import type { Stage } from './settings.ts';

interface Clients {
  readonly cloudFormation: CloudFormationClient;
  readonly gateway: Pick<ApiGatewayV2Client, 'send'>;
}

interface FormerRoute {
  readonly id: string;
  /** Such as `GET /payments`. */
  readonly key: string;
}

interface FormerParts {
  readonly routes: readonly FormerRoute[];
  /** Why the new stacks cannot be deployed beside the former stacks, one sentence each, with what to do. */
  readonly obstacles: readonly string[];
}

const templateSchema = z.object({
  Resources: z.record(
    z.string(),
    z.object({ Type: z.string(), Properties: z.record(z.string(), z.unknown()).default({}) }),
  ),
});
type Resources = z.output<typeof templateSchema>['Resources'];

/**
 * Deletes the routes that move, right before the new stacks are deployed. CloudFormation later deletes the former stacks
 * without these routes. The limits of the routes stay.
 * @throws Error, before anything changes, if reservations or alarms would exist twice.
 */
export const releaseMovedRoutes = async (clients: Clients, stage: Stage, built: BuiltStage): Promise<void> => {
  const { cloudFormation, gateway } = clients;
  const former = await findRemovedStacks(cloudFormation, stage, new Set(built.resources.keys()));
  const { routes, obstacles } = await readFormerParts(cloudFormation, former, built);
  if (obstacles.length > 0) throw new Error(['nothing is deployed:', ...obstacles].join('\n'));
  const ApiId = routes.length > 0 ? await apiIdOf(cloudFormation, stage) : undefined;
  if (ApiId === undefined) return;
  for (const { id: RouteId } of routes) await unlessMissing(gateway.send(new DeleteRouteCommand({ ApiId, RouteId })));
};

const readFormerParts = async (
  client: CloudFormationClient,
  former: readonly Pick<RemovedStack, 'id' | 'name'>[],
  built: BuiltStage,
): Promise<FormerParts> => {
  const routes: FormerRoute[] = [];
  const obstacles: string[] = [];
  for (const { id, name } of former) {
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
      if (key !== undefined && built.routes.has(key)) routes.push({ id: route, key });
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
