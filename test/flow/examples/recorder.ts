import { expect } from 'vitest';
import { endpoints } from '../../../functions/api/catalogue.ts';
import type { ParsedJson, RequestOptions, TestHost } from '../host.ts';

/** One request of a route: what it is asked with, and by whom. */
export interface Told {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly by?: RequestOptions;
  /** In another's place: an event that its provider signs and sends. */
  readonly send?: () => Promise<{ readonly status: number; readonly body: ParsedJson }>;
}

/** One success of a route, as the API document shows it. */
export interface Example {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly response?: ParsedJson;
}

export type Tell = (id: string, told?: Told) => Promise<ParsedJson>;

/**
 * Sends requests, one when all that follows from those before is done, and keeps of each route the last, with its answer,
 * which must be what the catalogue declares.
 */
export const recorder = (service: TestHost): { readonly tell: Tell; readonly told: () => Record<string, Example> } => {
  const examples = new Map<string, Example>();
  const tell: Tell = async (id, { params, query, body, by = {}, send } = {}) => {
    const endpoint = endpoints.find((one) => one.id === id);
    if (!endpoint) throw new Error(`there is no route ${id}`);
    const path = endpoint.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
      return encodeURIComponent(params?.[name] ?? `no ${name}`);
    });
    const search = query === undefined ? '' : `?${new URLSearchParams(query)}`;
    const asked = () =>
      service.request(endpoint.method, `${path}${search}`, { ...by, ...(body !== undefined && { body }) });
    const answer = await (send ?? asked)();
    expect(answer, `${id}: ${JSON.stringify(answer.body)}`).toMatchObject({ status: endpoint.status });
    const given = { ...(params && { params }), ...(query && { query }), ...(body !== undefined && { body }) };
    await service.settle();
    examples.set(id, { ...given, ...(answer.body !== undefined && { response: answer.body }) });
    return answer.body;
  };
  return { tell, told: () => inOrder(examples) };
};

const inOrder = (examples: ReadonlyMap<string, Example>): Record<string, Example> =>
  Object.fromEntries(endpoints.flatMap(({ id }) => (examples.has(id) ? [[id, examples.get(id) ?? {}]] : [])));
