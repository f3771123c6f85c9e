/** @module Compares the templates of the built and the deployed stacks to list a deployment's changes. */

import { isDeepStrictEqual } from 'node:util';
import type { BuiltStack } from './built-stacks.ts';
import { describeRights } from './described-rights.ts';
import { DATA_TYPES } from './removed-stacks.ts';
import { NO_TEMPLATE, type StackTemplate, type StackTemplateResource, withoutHashes } from './template.ts';
import { compareRights, isBroadening, type RightsChange } from './template-rights.ts';

export interface ResourceChange {
  readonly id: string;
  readonly type: string;
  readonly change: 'added' | 'changed' | 'removed';
  /** True if only the code of functions changes. */
  readonly isCode: boolean;
}

export interface StackChange {
  readonly name: string;
  /** True if the stack does not exist yet. */
  readonly isNew: boolean;
  readonly resources: readonly ResourceChange[];
  readonly rights: RightsChange;
  /** Changed template sections other than resources, such as `Outputs`. */
  readonly sections: readonly string[];
}

/** @param deployed the template of the deployed stack; undefined if the stack does not exist. */
export const compareStack = ({ name, template }: BuiltStack, deployed: StackTemplate | undefined): StackChange => {
  const before = deployed ?? NO_TEMPLATE;
  const ids = new Set([...Object.keys(before.Resources), ...Object.keys(template.Resources)]);
  return {
    name,
    isNew: deployed === undefined,
    resources: [...ids].flatMap((id) => compareResource(id, before.Resources[id], template.Resources[id])),
    rights: compareRights(before, template),
    sections: sectionsOf(before, template),
  };
};

export const isChanged = ({ isNew, resources, sections }: StackChange): boolean =>
  isNew || resources.length > 0 || sections.length > 0;

/** True if the release changes only the code of functions. */
export const isCodeOnly = (changes: readonly StackChange[]): boolean =>
  changes.some(isChanged) &&
  changes.every(
    ({ isNew, resources, sections }) => !isNew && sections.length === 0 && resources.every(({ isCode }) => isCode),
  );

const compareResource = (
  id: string,
  before: StackTemplateResource | undefined,
  after: StackTemplateResource | undefined,
): readonly ResourceChange[] => {
  const type = after?.Type ?? before?.Type ?? '';
  if (before === undefined || after === undefined) {
    // A version is a published copy of the code with its own id.
    const isCode = type === 'AWS::Lambda::Version';
    return [{ id, type, change: before === undefined ? 'added' : 'removed', isCode }];
  }
  const [one, other] = [before, after].map(withoutMetadata);
  if (isDeepStrictEqual(one, other)) return [];
  return [{ id, type, change: 'changed', isCode: isDeepStrictEqual(...bothWithoutCode(before, after)) }];
};

/** The only property per resource type that changes with the code. */
const CODE: Readonly<Record<string, string>> = {
  'AWS::Lambda::Function': 'Code',
  'AWS::Lambda::Alias': 'FunctionVersion',
};

const bothWithoutCode = (before: StackTemplateResource, after: StackTemplateResource): [unknown, unknown] => {
  const without = (resource: StackTemplateResource) => {
    const { [CODE[resource.Type] ?? '']: _code, ...Properties } = resource.Properties;
    return { ...withoutMetadata(resource), Properties };
  };
  return [without(before), without(after)];
};

/** Ignores CDK's metadata, such as construct paths and files, because it changes no resource. */
const withoutMetadata = ({
  Metadata: _metadata,
  ...resource
}: StackTemplateResource): Omit<StackTemplateResource, 'Metadata'> => resource;

const sectionsOf = (before: StackTemplate, after: StackTemplate): readonly string[] => {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => name !== 'Resources' && !isDeepStrictEqual(before[name], after[name]));
};

/** Lists rights first, then each stack with its counts. @param verbose names each resource. */
export const describeChanges = (changes: readonly StackChange[], verbose: boolean): readonly string[] => {
  const rights = describeRights(changes.map((change) => change.rights));
  const broadens = changes.some((change) => isBroadening(change.rights));
  return [
    ...(rights.length === 0
      ? ['no right changes']
      : [`rights that change${broadens ? '' : ' (none is wider)'}:`, ...rights]),
    ...changes.flatMap((change) => describeStack(change, verbose)),
  ];
};

const describeStack = (change: StackChange, verbose: boolean): readonly string[] => {
  const { name, isNew, resources, sections } = change;
  if (!isChanged(change)) return [`${name}: no change`];
  const counts = (['added', 'changed', 'removed'] as const).flatMap((kind) => {
    const count = resources.filter((resource) => resource.change === kind).length;
    return count > 0 ? [`${count} ${kind}`] : [];
  });
  const others = resources.length === 0 ? sections : [];
  const held = resources.filter(({ type, change: kind }) => kind !== 'added' && DATA_TYPES[type] !== undefined);
  const named = verbose ? resources : held;
  return [
    `${name}${isNew ? ' (new)' : ''}: ${[...counts, ...others].join(', ')}`,
    ...named.map(({ id, type, change: kind }) => withoutHashes(`  ${kind}: ${id} (${type})`)),
  ];
};
