import type { HttpMethod } from '../../../shared/http/endpoint.ts';

/** Finds the declared route of a method and a path, as an HTTP API does: literal segments win over parameters. */
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
/** Sorts literals first, segment by segment. */
const rank = ({ segments }: Compiled): string => segments.map((segment) => (parameterOf(segment) ? '1' : '0')).join('');
const segmentsOf = (path: string): readonly string[] => path.split('/').slice(1);

export const compileRoutes = (routes: readonly Route[]): FindRoute => {
  const groups = new Map<string, Compiled[]>();
  for (const route of routes) {
    const segments = segmentsOf(route.path);
    const group = `${route.method} ${segments.length}`;
    groups.set(group, [...(groups.get(group) ?? []), { route, segments }]);
  }
  for (const group of groups.values()) group.sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
  return (method, path) => {
    const asked = segmentsOf(path);
    const found = groups.get(`${method} ${asked.length}`)?.find(({ segments }) => fits(segments, asked));
    if (!found) return undefined;
    const parameters = found.segments.flatMap((segment, index) => {
      const name = parameterOf(segment);
      return name === undefined ? [] : [[name, asked[index] ?? ''] as const];
    });
    return { route: found.route, parameters };
  };
};

const fits = (segments: readonly string[], asked: readonly string[]): boolean =>
  segments.every((segment, index) => (parameterOf(segment) ? asked[index] !== '' : segment === asked[index]));
