/**
 * @module The rights in a template, and how they differ from the deployed rights. `cdk diff` does not suffice, because
 * it omits the statements of a managed policy named by a role. All rights of functions are in such policies.
 */

import { inTemplateWords, type StackTemplate, type StackTemplateResource } from './template.ts';

/** One action on one resource, allowed or denied to a holder. */
export interface TemplateRight {
  /** The logical id of a role or of a resource with its own policy, or a service allowed to invoke a function. */
  readonly holder: string;
  readonly effect: 'allow' | 'deny';
  readonly action: string;
  /** The resource in words, with the statement's principal and condition, if any. */
  readonly on: string;
}

export interface RightsChange {
  readonly added: readonly TemplateRight[];
  readonly removed: readonly TemplateRight[];
}

/** True if a permission is new or a denial is gone. */
export const isBroadening = ({ added, removed }: RightsChange): boolean =>
  added.some(({ effect }) => effect === 'allow') || removed.some(({ effect }) => effect === 'deny');

export const compareRights = (deployed: StackTemplate, built: StackTemplate): RightsChange => {
  const before = byKey(rightsOf(deployed));
  const after = byKey(rightsOf(built));
  return {
    added: [...after].flatMap(([key, right]) => (before.has(key) ? [] : [right])),
    removed: [...before].flatMap(([key, right]) => (after.has(key) ? [] : [right])),
  };
};

const byKey = (rights: readonly TemplateRight[]): ReadonlyMap<string, TemplateRight> =>
  new Map(rights.map((right) => [JSON.stringify(right), right]));

const POLICIES: readonly string[] = ['AWS::IAM::ManagedPolicy', 'AWS::IAM::Policy'];
/** Roles, users and groups. */
const IDENTITY = /^AWS::IAM::(Role|User|Group)$/;

const rightsOf = (template: StackTemplate): readonly TemplateRight[] =>
  Object.entries(template.Resources).flatMap(([id, resource]) => [
    ...(POLICIES.includes(resource.Type)
      ? holdersOf(id, resource, template).flatMap((holder) => rightsIn(resource.Properties, holder, template))
      : rightsIn(resource.Properties, id, template)),
    ...(IDENTITY.test(resource.Type) ? policiesOf(id, resource, template) : []),
    ...(resource.Type === 'AWS::Lambda::Permission' ? [invocationOf(resource, template)] : []),
  ]);

/** The roles, users and groups with this policy; the policy itself if there are none. */
const holdersOf = (
  policy: string,
  { Properties }: StackTemplateResource,
  { Resources }: StackTemplate,
): readonly string[] => {
  const named = ['Roles', 'Users', 'Groups'].flatMap((kind) => listOf(Properties[kind]).map(idOf));
  const naming = Object.entries(Resources)
    .filter(([, resource]) => IDENTITY.test(resource.Type))
    .filter(([, resource]) => listOf(resource.Properties['ManagedPolicyArns']).some((arn) => idOf(arn) === policy))
    .map(([id]) => id);
  const holders = new Set([...named, ...naming]);
  return holders.size > 0 ? [...holders] : [policy];
};

const idOf = (value: unknown): string =>
  isRecord(value) && typeof value['Ref'] === 'string' ? value['Ref'] : JSON.stringify(value);

/**
 * The rights of a holder from outside its template: the policies of AWS or another stack, and the boundary. The
 * boundary only limits, so it counts as a denial.
 */
const policiesOf = (
  holder: string,
  { Properties }: StackTemplateResource,
  template: StackTemplate,
): readonly TemplateRight[] => {
  const boundary = Properties['PermissionsBoundary'];
  return [
    ...listOf(Properties['ManagedPolicyArns'])
      .filter((arn) => !(idOf(arn) in template.Resources))
      .map((arn) => ({
        holder,
        effect: 'allow' as const,
        action: 'everything',
        on: `what the policy ${inTemplateWords(arn, template)} allows`,
      })),
    ...(boundary === undefined
      ? []
      : [
          {
            holder,
            effect: 'deny' as const,
            action: 'everything',
            on: `what the boundary ${inTemplateWords(boundary, template)} leaves out`,
          },
        ]),
  ];
};

const invocationOf = ({ Properties }: StackTemplateResource, template: StackTemplate): TemplateRight => {
  const { Action, FunctionName, Principal, ...conditions } = Properties;
  const limits = Object.entries(conditions).map(([name, value]) => `${name} ${inTemplateWords(value, template)}`);
  return {
    holder: inTemplateWords(Principal, template),
    effect: 'allow',
    action: inTemplateWords(Action, template),
    on: [inTemplateWords(FunctionName, template), ...limits].join(', '),
  };
};

/** The statements of every policy document in these properties. */
const rightsIn = (value: unknown, holder: string, template: StackTemplate): readonly TemplateRight[] => {
  if (Array.isArray(value)) return value.flatMap((part) => rightsIn(part, holder, template));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, part]) =>
    name === 'Statement'
      ? listOf(part).flatMap((statement) => rightsOfStatement(statement, holder, template))
      : rightsIn(part, holder, template),
  );
};

const rightsOfStatement = (statement: unknown, holder: string, template: StackTemplate): readonly TemplateRight[] => {
  if (!isRecord(statement)) return [{ holder, effect: 'allow', action: JSON.stringify(statement), on: '?' }];
  const { Effect, Action, NotAction, Resource, NotResource, Principal, NotPrincipal, Condition } = statement;
  const words = (value: unknown): string => inTemplateWords(value, template);
  const who = [
    ...(Principal === undefined ? [] : [` for ${principalWords(Principal, words)}`]),
    ...(NotPrincipal === undefined ? [] : [` for all but ${principalWords(NotPrincipal, words)}`]),
    ...(Condition === undefined ? [] : [` if ${conditionWords(Condition, words)}`]),
  ].join('');
  const actions = [...listOf(Action).map(words), ...listOf(NotAction).map((action) => `all but ${words(action)}`)];
  const resources = [
    ...listOf(Resource).map(words),
    ...listOf(NotResource).map((resource) => `all but ${words(resource)}`),
  ];
  const ons = resources.length > 0 ? resources : ['itself'];
  const effect = Effect === 'Deny' ? 'deny' : 'allow';
  return actions.flatMap((action) => ons.map((on) => ({ holder, effect, action, on: `${on}${who}` }) as const));
};

type Words = (value: unknown) => string;

const principalWords = (principal: unknown, words: Words): string =>
  isRecord(principal) && !isIntrinsic(principal)
    ? Object.values(principal).flatMap(listOf).map(words).join(', ')
    : words(principal);

/** A condition in words, such as `StringEquals aws:SourceArn Queue.Arn`, joined by `and`. */
const conditionWords = (condition: unknown, words: Words): string =>
  isRecord(condition) && !isIntrinsic(condition)
    ? Object.entries(condition)
        .flatMap(([operator, tests]) =>
          isRecord(tests)
            ? Object.entries(tests).map(([key, value]) => `${operator} ${key} ${words(value)}`)
            : [`${operator} ${words(tests)}`],
        )
        .join(' and ')
    : words(condition);

const isIntrinsic = (value: Readonly<Record<string, unknown>>): boolean =>
  Object.keys(value).length === 1 && Object.keys(value).every((key) => key === 'Ref' || key.startsWith('Fn::'));

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const listOf = (value: unknown): readonly unknown[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value];
