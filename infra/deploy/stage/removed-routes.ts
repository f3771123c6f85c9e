/**
 * @module Removes leftover route limits. API Gateway keeps the limits of a deleted route, and the next change of the
 * stage then fails with "Unable to find Route by key". So such limits are deleted before a deployment. Limits of routes
 * that now use the stage's default are deleted afterwards.
 */

import { type ApiGatewayV2Client, DeleteRouteSettingsCommand, GetStageCommand } from '@aws-sdk/client-apigatewayv2';
import { type CloudFormationClient, paginateListStackResources } from '@aws-sdk/client-cloudformation';
import { type Stage, stackName } from './settings.ts';

interface Clients {
  readonly cloudFormation: CloudFormationClient;
  readonly gateway: Pick<ApiGatewayV2Client, 'send'>;
}

const STAGE_NAME = '$default';

/**
 * @param wanted the routes that may keep their limits
 * @returns the routes whose limits were deleted; empty before the first deployment.
 */
export const deleteOtherRouteSettings = async (
  { cloudFormation, gateway }: Clients,
  stage: Stage,
  wanted: Pick<ReadonlySet<string>, 'has'>,
): Promise<readonly string[]> => {
  const ApiId = await apiIdOf(cloudFormation, stage);
  if (ApiId === undefined) return [];
  const deployed = await unlessMissing(gateway.send(new GetStageCommand({ ApiId, StageName: STAGE_NAME })));
  const removed = Object.keys(deployed?.RouteSettings ?? {}).filter((route) => !wanted.has(route));
  for (const RouteKey of removed) {
    // It is no error if an earlier run has already deleted these limits.
    await unlessMissing(gateway.send(new DeleteRouteSettingsCommand({ ApiId, StageName: STAGE_NAME, RouteKey })));
  }
  return removed;
};

/** @returns undefined before the first deployment. */
export const apiIdOf = async (client: CloudFormationClient, stage: Stage): Promise<string | undefined> =>
  unlessMissing(findApi(client, stackName(stage, 'api')));

const findApi = async (client: CloudFormationClient, StackName: string): Promise<string | undefined> => {
  for await (const { StackResourceSummaries = [] } of paginateListStackResources({ client }, { StackName })) {
    const api = StackResourceSummaries.find(({ ResourceType }) => ResourceType === 'AWS::ApiGatewayV2::Api');
    if (api) return api.PhysicalResourceId;
  }
  return undefined;
};

/** CloudFormation calls a missing stack a ValidationError. */
const MISSING: readonly string[] = ['NotFoundException', 'ValidationError'];

export const unlessMissing = async <T>(sent: Promise<T>): Promise<T | undefined> =>
  sent.catch((error: unknown) => {
    if (error instanceof Error && MISSING.includes(error.name)) return undefined;
    throw error;
  });
