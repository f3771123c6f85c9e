import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { inject } from 'vitest';
import { endpoints, triggers } from '../../functions/api/catalogue.ts';
import { DEFAULT_ID } from '../../infra/deploy/build.ts';
import { addService } from '../../infra/deploy/stacks/service.ts';
import { readDeploymentSettings } from '../../infra/deploy/stage/settings.ts';
import type { Environment } from '../../shared/core/setting.ts';
import type { Endpoint } from '../../shared/http/endpoint.ts';

/** A template value, either text or an intrinsic function of CloudFormation. */
export type Value = string | number | boolean | null | readonly Value[] | { readonly [name: string]: Value };

export interface Resource {
  readonly stack: string;
  readonly logicalId: string;
  readonly Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: a template's properties are as many as AWS has resources
  readonly Properties: any;
  readonly DeletionPolicy?: string;
  readonly UpdatePolicy?: { readonly CodeDeployLambdaAliasUpdate?: unknown };
}

export interface Synthesized {
  readonly app: App;
  readonly outDir: string;
  readonly resources: readonly Resource[];
  readonly stacks: readonly string[];
  /** The outputs of all stacks. */
  readonly outputs: Readonly<Record<string, Value>>;
  readonly ofType: (type: string) => readonly Resource[];
  /** The Lambda function for an id of the catalogue. */
  readonly functionOf: (id: string) => Resource;
  /** A reference in words, such as `Table.Arn/index/owner`. Resolves shared values of other stacks. */
  readonly words: (value: Value) => string;
}

export interface SynthesizeOptions {
  readonly env?: Environment;
  readonly endpoints?: readonly Endpoint[];
  /** The folder of the bundles; by default it has an empty handler per id. */
  readonly codeDir?: string;
}

/** The folder is removed after all tests. */
export const temporaryFolder = (): string => mkdtempSync(join(inject('infraFolder'), 'run-'));

const emptyHandlers = (ids: readonly string[]): string => {
  const folder = temporaryFolder();
  for (const id of ids) {
    mkdirSync(join(folder, id));
    writeFileSync(join(folder, id, 'index.mjs'), `export const handler = () => '${id}';`);
  }
  return folder;
};

/** Test files in one process share stacks with equal options. */
const made = new Map<string, Synthesized>();

/** The stacks of the catalogue, written to their own folder. @throws if cdk-nag reports a finding. */
export const synthesize = (options: SynthesizeOptions = {}): Synthesized => {
  const key = JSON.stringify(options.env ?? {});
  const known = options.codeDir || options.endpoints ? undefined : made.get(key);
  if (known) return known;
  const synthesized = synthesizeStacks(options);
  if (!options.codeDir && !options.endpoints) made.set(key, synthesized);
  return synthesized;
};

const synthesizeStacks = ({ env = {}, codeDir, ...catalogue }: SynthesizeOptions): Synthesized => {
  const served = catalogue.endpoints ?? endpoints;
  const outDir = temporaryFolder();
  const app = new App({ outdir: outDir, analyticsReporting: false });
  addService(app, {
    settings: readDeploymentSettings(env),
    codeDir: codeDir ?? emptyHandlers([...served, ...triggers].map(({ id }) => id).concat(DEFAULT_ID)),
    endpoints: served,
    triggers,
    defaultId: DEFAULT_ID,
  });
  const assembly = app.synth();
  const templates = new Map(
    assembly.stacks.map(({ stackName, templateFullPath }) => [
      stackName,
      JSON.parse(readFileSync(templateFullPath, 'utf8')),
    ]),
  );
  const resources = [...templates].flatMap(([stack, { Resources }]) =>
    Object.entries<Omit<Resource, 'stack' | 'logicalId'>>(Resources).map(([logicalId, resource]) => ({
      ...resource,
      stack,
      logicalId,
    })),
  );
  const shared = sharedValues([...templates.values()], resources);
  const ofType = (type: string) => resources.filter(({ Type }) => Type === type);
  return {
    app,
    outDir,
    resources,
    stacks: [...templates.keys()],
    outputs: Object.assign({}, ...[...templates.values()].map(({ Outputs }) => Outputs)),
    ofType,
    functionOf: (id) => {
      const found = ofType('AWS::Lambda::Function').filter(({ Properties }) =>
        Properties.Description.startsWith(`${id}: `),
      );
      if (found.length !== 1 || !found[0]) throw new Error(`${found.length} functions for ${id}`);
      return found[0];
    },
    words: (value) => inWords(value, shared),
  };
};

/** The values that other stacks read, by the template parameters that read them. */
const sharedValues = (
  templates: readonly { readonly Parameters?: Readonly<Record<string, { readonly Default: string }>> }[],
  resources: readonly Resource[],
): ReadonlyMap<string, Value> => {
  const written = new Map<string, Value>(
    resources
      .filter(({ Type }) => Type === 'AWS::SSM::Parameter')
      .map(({ Properties }) => [Properties.Name, Properties.Value]),
  );
  return new Map(
    templates.flatMap(({ Parameters = {} }) =>
      Object.entries(Parameters).flatMap(([id, { Default }]) => {
        const value = written.get(Default);
        return value === undefined ? [] : [[id, value] as const];
      }),
    ),
  );
};

const readable = (logicalId: string): string => logicalId.replace(/[0-9A-F]{8}$/, '');

const inWords = (value: Value, shared: ReadonlyMap<string, Value>): string => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return String(value);
  const [[name, argument] = ['', '']] = Object.entries(value);
  if (name === 'Ref') {
    const found = shared.get(String(argument));
    return found === undefined ? readable(String(argument)) : inWords(found, shared);
  }
  if (name === 'Fn::GetAtt')
    return (argument as string[]).map((part, at) => (at === 0 ? readable(part) : part)).join('.');
  if (name === 'Fn::Join') {
    const [glue, parts] = argument as [string, Value[]];
    return parts.map((part) => inWords(part, shared)).join(glue);
  }
  if (name === 'Fn::Select') {
    const [at, parts] = argument as [number, { readonly 'Fn::Split': readonly [string, Value] }];
    return partOfArn(at, inWords(parts['Fn::Split'][1], shared));
  }
  throw new Error(`${name} is not known here`);
};

/** The part of a queue's ARN at this position, in words. */
const partOfArn = (at: number, arn: string): string => {
  const part = { 1: 'AWS::Partition', 3: 'AWS::Region', 4: 'AWS::AccountId', 5: arn.replace(/\.Arn$/, '.QueueName') }[
    at
  ];
  if (part === undefined) throw new Error(`part ${at} of ${arn} is not known here`);
  return part;
};
