/**
 * @module Describes changes of rights briefly. Roles with equal changes share a paragraph. Actions on one resource
 * share a line.
 */

import { withoutHashes } from './template.ts';
import type { RightsChange, TemplateRight } from './template-rights.ts';

/** Above this number, each resource gets its own line. */
const ON_ONE_LINE = 8;

/** @returns one line per right, under the roles that get or lose it; empty without changes. */
export const describeRights = (changes: readonly RightsChange[]): readonly string[] => {
  const paragraphs = new Map<string, string[]>();
  for (const { added, removed } of changes) {
    const all = [...signed('+', added), ...signed('-', removed)];
    for (const holder of new Set(all.map(({ right }) => right.holder))) {
      const text = rightLines(all.filter(({ right }) => right.holder === holder)).join('\n');
      paragraphs.set(text, [...(paragraphs.get(text) ?? []), holder]);
    }
  }
  return [...paragraphs]
    .flatMap(([text, holders]) => [`  ${holders.toSorted().join(', ')}`, ...text.split('\n')])
    .map(withoutHashes);
};

interface SignedRight {
  readonly sign: '+' | '-';
  readonly right: TemplateRight;
}

const signed = (sign: SignedRight['sign'], rights: readonly TemplateRight[]): readonly SignedRight[] =>
  rights.map((right) => ({ sign, right }));

/** Groups the actions per resource, then the resources with equal actions. */
const rightLines = (rights: readonly SignedRight[]): readonly string[] => {
  const actionsOn = grouped(rights, ({ sign, right: { effect, on, action } }) => ({
    key: { what: `${sign} ${effect}`, on },
    value: action,
  }));
  const resourcesOf = grouped(actionsOn, ({ key: { what, on }, values }) => ({
    key: `    ${what} ${values.toSorted().join(', ')} on`,
    value: on,
  }));
  return resourcesOf
    .flatMap(({ key, values }) =>
      values.length > ON_ONE_LINE ? values.map((on) => `${key} ${on}`) : [`${key} ${values.toSorted().join('; ')}`],
    )
    .toSorted();
};

interface Group<K> {
  readonly key: K;
  readonly values: readonly string[];
}

const grouped = <T, K>(items: readonly T[], of: (item: T) => { key: K; value: string }): readonly Group<K>[] => {
  const groups = new Map<string, { key: K; values: string[] }>();
  for (const { key, value } of items.map(of)) {
    const text = JSON.stringify(key);
    const group = groups.get(text) ?? { key, values: [] };
    group.values.push(value);
    groups.set(text, group);
  }
  return [...groups.values()];
};
