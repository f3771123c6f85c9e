import * as z from 'zod';

/** An explanatory text of the API document, with the group of operations that shows it. */
export interface Described {
  /** The first operation's group. */
  readonly group: string;
  readonly at: string;
  readonly kind: 'operation' | 'parameter' | 'header' | 'field' | 'schema' | 'response';
  /** The described name. A text that only repeats the name is refused. */
  readonly name: string;
  readonly text: string | undefined;
}

type Node = Readonly<Record<string, unknown>>;

const node = z.record(z.string(), z.unknown());
const asNode = (value: unknown): Node => node.safeParse(value).data ?? {};
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** @param document the whole document, as JSON. */
export const describedIn = (document: unknown): readonly Described[] => {
  const root = asNode(document);
  const found: Described[] = [];
  const seen = new Set<string>();
  for (const section of [root['paths'], root['webhooks']]) {
    for (const [path, methods] of Object.entries(asNode(section))) {
      for (const [method, value] of Object.entries(asNode(methods))) {
        const operation = asNode(value);
        const [group] = z.array(z.string()).parse(operation['tags']);
        const walk = walker({ root, group: group ?? '', seen, found });
        walk.operation(operation, `${method.toUpperCase()} ${path}`);
      }
    }
  }
  return found;
};

interface Walk {
  readonly root: Node;
  readonly group: string;
  readonly seen: Set<string>;
  readonly found: Described[];
}

const PARTS = ['items', 'additionalProperties'];
const LISTS = ['anyOf', 'oneOf', 'allOf'];

const walker = ({ root, group, seen, found }: Walk) => {
  const say = (one: Omit<Described, 'group'>): void => {
    found.push({ group, ...one });
  };

  /** The target of a JSON reference, with the reference itself. */
  const resolved = (value: unknown): readonly [Node, string | undefined] => {
    const reference = textOf(asNode(value)['$ref']);
    if (reference === undefined) return [asNode(value), undefined];
    let at: unknown = root;
    for (const step of reference.slice('#/'.length).split('/')) at = asNode(at)[step];
    return [asNode(at), reference];
  };

  const schema = (value: unknown, at: string): void => {
    const [target, reference] = resolved(value);
    if (reference !== undefined) {
      if (seen.has(reference)) return;
      seen.add(reference);
      const name = reference.split('/').at(-1) ?? '';
      say({ kind: 'schema', at: reference, name, text: textOf(target['description']) });
      inside(target, name);
      return;
    }
    inside(target, at);
  };

  const inside = (target: Node, at: string): void => {
    for (const [name, property] of Object.entries(asNode(target['properties']))) {
      const [own] = resolved(property);
      const text = textOf(asNode(property)['description']) ?? textOf(own['description']);
      say({ kind: 'field', at: `${at}.${name}`, name, text });
      schema(property, `${at}.${name}`);
    }
    for (const part of PARTS) if (typeof target[part] === 'object') schema(target[part], at);
    for (const list of LISTS)
      for (const option of z.array(z.unknown()).catch([]).parse(target[list])) schema(option, at);
  };

  const contents = (value: Node, at: string): void => {
    for (const content of Object.values(asNode(value['content']))) schema(asNode(content)['schema'], at);
  };

  const operation = (value: Node, at: string): void => {
    const summary = textOf(value['summary']) ?? '';
    say({ kind: 'operation', at, name: summary, text: textOf(value['description']) });
    for (const one of z.array(z.unknown()).catch([]).parse(value['parameters'])) {
      const [parameter] = resolved(one);
      const name = textOf(parameter['name']) ?? '';
      const kind = parameter['in'] === 'header' ? 'header' : 'parameter';
      say({ kind, at: `${at} ${parameter['in']} ${name}`, name, text: textOf(parameter['description']) });
    }
    contents(asNode(value['requestBody']), `${at} body`);
    for (const [status, one] of Object.entries(asNode(value['responses']))) {
      const [response] = resolved(one);
      say({ kind: 'response', at: `${at} ${status}`, name: status, text: textOf(response['description']) });
      for (const [name, header] of Object.entries(asNode(response['headers']))) {
        say({ kind: 'header', at: `${at} ${status} ${name}`, name, text: textOf(resolved(header)[0]['description']) });
      }
      contents(response, `${at} ${status}`);
    }
  };

  return { operation };
};

const SAYS_NOTHING = new Set('a an the of this that its it is are in by for to and or with on id'.split(' '));
const wordsOf = (text: string): readonly string[] =>
  text
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '' && !SAYS_NOTHING.has(word))
    .map((word) => word.replace(/(?<=\w{3})s$/, ''));

const FEWEST_NEW_WORDS = 2;

/**
 * The fault of a text; undefined if the text is a complete sentence with at least two words that the name lacks. The
 * text of a response only has to exist.
 */
export const faultOf = ({ kind, name, text }: Described): string | undefined => {
  if (text === undefined || text.trim() === '') return 'is not described';
  if (kind === 'response') return undefined;
  if (!/^[`"\p{Lu}\d]/u.test(text)) return 'does not begin like a sentence';
  if (!/[.)`]$/.test(text) && !/\n- .*$/.test(text)) return 'does not end like a sentence';
  const known = new Set(wordsOf(name));
  const fresh = new Set(wordsOf(text).filter((word) => !known.has(word)));
  return fresh.size < FEWEST_NEW_WORDS ? 'only repeats its name' : undefined;
};
