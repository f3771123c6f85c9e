/** @module The templates of a stage without bundles and rule packs, because a test makes hundreds of stages. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { endpoints, triggers } from '../../functions/api/catalogue.ts';
import { DEFAULT_ID } from '../../infra/deploy/build.ts';
import { addStacks } from '../../infra/deploy/stacks/service.ts';
import { readDeploymentSettings } from '../../infra/deploy/stage/settings.ts';
import type { Environment } from '../../shared/core/setting.ts';
import type { Endpoint } from '../../shared/http/endpoint.ts';
import type { Trigger } from '../../shared/platform/trigger.ts';
import { temporaryFolder, type Value } from './synthesized.ts';

export interface TemplateResource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, Value>>;
}

export interface Template {
  readonly Resources: Readonly<Record<string, TemplateResource>>;
  readonly Parameters?: Readonly<Record<string, { readonly Type: string; readonly Default?: string }>>;
  readonly Outputs?: Readonly<Record<string, { readonly Value: Value; readonly Export?: { readonly Name: string } }>>;
}

export interface StageStack {
  readonly name: string;
  readonly template: Template;
  /** The names of the stacks that must be deployed before this stack. */
  readonly after: readonly string[];
}

/** The stacks in the order of their deployment. */
export type StageTemplates = readonly StageStack[];

interface StageOptions {
  readonly env?: Environment;
  readonly endpoints?: readonly Endpoint[];
  readonly triggers?: readonly Trigger[];
}

export const templatesOf = ({ env = {}, ...catalogue }: StageOptions = {}): StageTemplates => {
  const declared = { endpoints: catalogue.endpoints ?? endpoints, triggers: catalogue.triggers ?? triggers };
  const app = new App({
    outdir: temporaryFolder(),
    analyticsReporting: false,
    builtinCloudFormationValidation: false,
    stackTraces: false,
    treeMetadata: false,
  });
  addStacks(app, {
    settings: readDeploymentSettings(env),
    codeDir: codeOf([...declared.endpoints, ...declared.triggers, { id: DEFAULT_ID }]),
    defaultId: DEFAULT_ID,
    ...declared,
  });
  return app.synth().stacks.map(({ stackName, template, dependencies }) => ({
    name: stackName,
    template,
    after: dependencies.flatMap((artifact) => ('stackName' in artifact ? [String(artifact.stackName)] : [])),
  }));
};

let codeDir: string | undefined;
const written = new Set<string>();

/** Writes the code of the functions. All functions have the same code, so a stage has one asset. */
const codeOf = (functions: readonly { readonly id: string }[]): string => {
  codeDir ??= temporaryFolder();
  for (const { id } of functions) {
    if (written.has(id)) continue;
    mkdirSync(join(codeDir, id));
    writeFileSync(join(codeDir, id, 'index.mjs'), 'export const handler = () => undefined;');
    written.add(id);
  }
  return codeDir;
};
