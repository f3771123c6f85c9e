/** @module Finds refused changes and lost resources in an update of a stage. */

import type { StageStack, StageTemplates, Template, TemplateResource } from './stage-templates.ts';
import type { Value } from './synthesized.ts';

interface Update {
  readonly before: StageTemplates;
  readonly after: StageTemplates;
  /** The beginnings of logical ids. The update removes these resources on purpose, although they hold data. */
  readonly removes?: readonly string[];
}

/** @returns the problems, in words; empty if every stack of the stage can be updated in turn. */
export const updateProblemsOf = (update: Update): readonly string[] => [
  ...lostExports(update),
  ...missingImports(update),
  ...missingParameters(update),
  ...lostResources(update),
  ...takenNames(update),
  ...vanishedStacks(update),
];

const found = (value: unknown, name: string): readonly string[] => {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === name && typeof inner === 'string' ? [inner] : found(inner, name),
  );
};

const importsOf = ({ template }: StageStack): readonly string[] => found(template, 'Fn::ImportValue');

const exportsOf = ({ Outputs = {} }: Template): ReadonlyMap<string, string> =>
  new Map(
    Object.values(Outputs).flatMap(({ Export, Value: value }) =>
      Export ? [[Export.Name, JSON.stringify(value)]] : [],
    ),
  );

const templateIn = (stage: StageTemplates, name: string): Template =>
  stage.find((stack) => stack.name === name)?.template ?? { Resources: {} };

/** CloudFormation refuses to remove or change an export while a stack imports it. */
const lostExports = ({ before, after }: Update): readonly string[] =>
  before.flatMap(({ name, template }) => {
    const kept = exportsOf(templateIn(after, name));
    return [...exportsOf(template)]
      .filter(([exported, value]) => kept.get(exported) !== value)
      .flatMap(([exported]) =>
        before
          .filter((stack) => stack.name !== name && importsOf(stack).includes(exported))
          .map((importer) => `${name} drops or changes the export ${exported}, which ${importer.name} imports`),
      );
  });

const missingImports = ({ after }: Update): readonly string[] => {
  const exported = new Set(after.flatMap(({ template }) => [...exportsOf(template).keys()]));
  return after.flatMap((stack) =>
    importsOf(stack)
      .filter((name) => !exported.has(name))
      .map((name) => `${stack.name} imports ${name}, which no stack exports`),
  );
};

export const parametersReadBy = ({ Parameters = {} }: Template): readonly string[] =>
  Object.values(Parameters).flatMap(({ Type, Default }) =>
    Type.startsWith('AWS::SSM::Parameter::Value') && Default?.startsWith('/payments/') ? [Default] : [],
  );

export const parametersWrittenBy = ({ Resources }: Template): readonly string[] =>
  Object.values(Resources).flatMap(({ Type, Properties }) =>
    Type === 'AWS::SSM::Parameter' ? [String(Properties?.['Name'])] : [],
  );

/** CloudFormation reads a parameter when it deploys the stack, so an earlier stack must write the parameter. */
const missingParameters = ({ after }: Update): readonly string[] => {
  const written = new Set<string>();
  return after.flatMap(({ name, template }) => {
    const missing = parametersReadBy(template).filter((parameter) => !written.has(parameter));
    for (const parameter of parametersWrittenBy(template)) written.add(parameter);
    return missing.map((parameter) => `${name} reads ${parameter}, which no stack before it writes`);
  });
};

/** Resources with data or a public address, each with the properties whose change replaces the resource. */
const KEPT: Readonly<Record<string, readonly string[]>> = {
  'AWS::DynamoDB::Table': ['TableName', 'KeySchema'],
  'AWS::ApiGatewayV2::Api': ['ProtocolType'],
  'AWS::SQS::Queue': ['QueueName', 'FifoQueue'],
  'AWS::KMS::Key': ['KeySpec'],
  'AWS::SecretsManager::Secret': ['Name'],
  'AWS::Events::EventBus': ['Name'],
  'AWS::S3::Bucket': ['BucketName'],
  'AWS::SNS::Topic': ['TopicName', 'FifoTopic'],
  'AWS::Backup::BackupVault': ['BackupVaultName', 'EncryptionKeyArn'],
};

const lostResources = ({ before, after, removes = [] }: Update): readonly string[] =>
  before.flatMap(({ name, template }) =>
    Object.entries(template.Resources).flatMap(([id, resource]) => {
      const replacing = KEPT[resource.Type];
      if (replacing === undefined || removes.some((start) => id.startsWith(start))) return [];
      const now = templateIn(after, name).Resources[id];
      if (now === undefined) return [`${name} loses ${resource.Type} ${id}`];
      return replacing
        .filter((property) => propertyOf(now, property) !== propertyOf(resource, property))
        .map((property) => `${name} replaces ${resource.Type} ${id}, because its ${property} changes`);
    }),
  );

const propertyOf = ({ Properties }: TemplateResource, name: string): string | undefined =>
  JSON.stringify(Properties?.[name]);

/** The naming properties of resources. Each name is unique per resource type. */
const NAMES: Readonly<Record<string, string>> = {
  'AWS::CloudWatch::Alarm': 'AlarmName',
  'AWS::CloudWatch::Dashboard': 'DashboardName',
  'AWS::SSM::Parameter': 'Name',
  'AWS::SecretsManager::Secret': 'Name',
  'AWS::ApiGatewayV2::Route': 'RouteKey',
  'AWS::ApiGatewayV2::DomainName': 'DomainName',
  'AWS::Backup::BackupVault': 'BackupVaultName',
};

interface Named {
  readonly stack: string;
  readonly id: string;
}

const namesIn = (stage: StageTemplates): ReadonlyMap<string, Named> =>
  new Map(
    stage.flatMap(({ name: stack, template }) =>
      Object.entries(template.Resources).flatMap(([id, { Type, Properties }]) => {
        const name: Value | undefined = Properties?.[NAMES[Type] ?? ''];
        return typeof name === 'string' ? [[`${Type} ${name}`, { stack, id }] as const] : [];
      }),
    ),
  );

/**
 * CloudFormation creates the new resources of a stack before it deletes the old ones. So a new resource can take the
 * name of an old one only if the old one belongs to a stack that is deployed earlier. Removed stacks are deleted last.
 */
const takenNames = ({ before, after }: Update): readonly string[] => {
  const old = namesIn(before);
  const turnOf = (stack: string): number => {
    const turn = after.findIndex(({ name }) => name === stack);
    return turn === -1 ? after.length : turn;
  };
  return [...namesIn(after)].flatMap(([name, { stack, id }]) => {
    const holder = old.get(name);
    if (holder === undefined || (holder.stack === stack && holder.id === id)) return [];
    if (turnOf(holder.stack) < turnOf(stack)) return [];
    return [`${stack} creates ${name} as ${id}, but ${holder.id} of ${holder.stack} still has that name`];
  });
};

/** Reports removed stacks with data or with values that other stacks read, because `deploy` deletes removed stacks. */
const vanishedStacks = ({ before, after }: Update): readonly string[] =>
  before
    .filter(({ name }) => !after.some((stack) => stack.name === name))
    .flatMap(({ name, template }) => {
      const held = Object.values(template.Resources).find(({ Type }) => Type in KEPT);
      const written = parametersWrittenBy(template);
      const readers = after.filter(({ template: { Parameters } }) =>
        parametersReadBy({ Resources: {}, ...(Parameters && { Parameters }) }).some((read) => written.includes(read)),
      );
      return [
        ...(held ? [`${name} vanishes and holds ${held.Type}`] : []),
        ...readers.map((reader) => `${name} vanishes, but ${reader.name} reads its values`),
      ];
    });
