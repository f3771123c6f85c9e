/**
 * @module Finds the route for a method and a path, by the rules of an HTTP API. Literal segments win over parameters. A
 * greedy last parameter like `{path+}` matches the rest of the path, and only if no other route matches.
 */

import type { HttpMethod } from '../../../shared/http/endpoint.ts';

export interface Route {
  readonly id: string;
  readonly method: HttpMethod;
  readonly path: string;
  readonly timeoutSeconds: number;
}

export interface RouteMatch {
  readonly route: Route;
  /** Still percent-encoded. */
  readonly parameters: readonly (readonly [name: string, value: string])[];
}

export type FindRoute = (method: string, path: string) => RouteMatch | undefined;

interface Compiled {
  readonly route: Route;
  readonly segments: readonly string[];
}

const parameterOf = (segment: string): string | undefined => /^\{(\w+)\}$/.exec(segment)?.[1];
const greedyOf = (segment: string): string | undefined => /^\{(\w+)\+\}$/.exec(segment)?.[1];
/** Sorts literals first, segment by segment. */
const rank = ({ segments }: Compiled): string => segments.map((segment) => (parameterOf(segment) ? '1' : '0')).join('');
const segmentsOf = (path: string): readonly string[] => path.split('/').slice(1);

export const compileRoutes = (routes: readonly Route[]): FindRoute => {
  const groups = new Map<string, Compiled[]>();
  const greedy: Compiled[] = [];
  for (const route of routes) {
    const segments = segmentsOf(route.path);
    if (greedyOf(segments.at(-1) ?? '') !== undefined) {
      greedy.push({ route, segments });
      continue;
    }
    const group = `${route.method} ${segments.length}`;
    groups.set(group, [...(groups.get(group) ?? []), { route, segments }]);
  }
  for (const group of groups.values()) group.sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
  return (method, path) => {
    const asked = segmentsOf(path);
    const found =
      groups.get(`${method} ${asked.length}`)?.find(({ segments }) => fits(segments, asked)) ??
      greedy.find(({ route, segments }) => route.method === method && startsAs(segments, asked));
    return found && { route: found.route, parameters: parametersOf(found.segments, asked) };
  };
};

const fits = (segments: readonly string[], asked: readonly string[]): boolean =>
  segments.every((segment, index) => (parameterOf(segment) ? asked[index] !== '' : segment === asked[index]));

/** A greedy parameter must match at least one character. */
const startsAs = (segments: readonly string[], asked: readonly string[]): boolean =>
  fits(segments.slice(0, -1), asked) && asked.slice(segments.length - 1).join('/') !== '';

const parametersOf = (segments: readonly string[], asked: readonly string[]): RouteMatch['parameters'] =>
  segments.flatMap((segment, index) => {
    const rest = greedyOf(segment);
    if (rest !== undefined) return [[rest, asked.slice(index).join('/')] as const];
    const name = parameterOf(segment);
    return name === undefined ? [] : [[name, asked[index] ?? ''] as const];
  });
