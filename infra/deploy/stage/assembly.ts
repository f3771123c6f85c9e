/** @module Reads the stacks of the last synth in `cdk.out`, for the checks and for the deployment. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';

/** The resources, routes, alarms and rules of a stage's built stacks. */
export interface BuiltStage {
  /** Number of resources per stack name. */
  readonly resources: ReadonlyMap<string, number>;
  /** The stack of each API route, such as `GET /payments`. */
  readonly routes: ReadonlyMap<string, string>;
  readonly integrations: number;
  /** The names of all alarms. */
  readonly alarms: ReadonlySet<string>;
  /** The rules of the service's own bus. */
  readonly rules: number;
  /** Routes with their own limits in the new stage. */
  readonly routeSettings: ReadonlySet<string>;
}

const manifestSchema = z.object({
  artifacts: z.record(
    z.string(),
    z.object({
      type: z.string(),
      displayName: z.string().optional(),
      properties: z.object({ templateFile: z.string().optional(), stackName: z.string().optional() }).optional(),
    }),
  ),
});

const templateSchema = z.object({
  Resources: z.record(
    z.string(),
    z.object({ Type: z.string(), Properties: z.record(z.string(), z.unknown()).default({}) }),
  ),
});
const routeSettingsSchema = z.record(z.string(), z.unknown()).default({});

/** @throws if `folder` holds no synthesized app. */
export const readBuiltStage = (folder: string): BuiltStage => {
  const read = (file: string): unknown => JSON.parse(readFileSync(join(folder, file), 'utf8'));
  const { artifacts } = manifestSchema.parse(read('manifest.json'));
  const stacks = Object.entries(artifacts).flatMap(([id, { type, displayName, properties }]) =>
    type === 'aws:cloudformation:stack' && properties?.templateFile
      ? [
          {
            name: properties.stackName ?? displayName ?? id,
            resources: Object.values(templateSchema.parse(read(properties.templateFile)).Resources),
          },
        ]
      : [],
  );
  const all = stacks.flatMap(({ resources }) => resources);
  const ofType = (type: string) => all.filter(({ Type }) => Type === type);
  return {
    resources: new Map(stacks.map(({ name, resources }) => [name, resources.length])),
    routes: new Map(
      stacks.flatMap(({ name, resources }) =>
        resources
          .filter(({ Type }) => Type === 'AWS::ApiGatewayV2::Route')
          .map(({ Properties }) => [String(Properties['RouteKey']), name]),
      ),
    ),
    alarms: new Set(ofType('AWS::CloudWatch::Alarm').map(({ Properties }) => String(Properties['AlarmName']))),
    integrations: ofType('AWS::ApiGatewayV2::Integration').length,
    rules: ofType('AWS::Events::Rule').filter(({ Properties }) => Properties['EventBusName'] !== undefined).length,
    routeSettings: new Set(
      ofType('AWS::ApiGatewayV2::Stage').flatMap(({ Properties }) =>
        Object.keys(routeSettingsSchema.parse(Properties['RouteSettings'])),
      ),
    ),
  };
};
