import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { DomainError } from '../../shared/core/errors.ts';
import { routingDeps } from '../../shared/host.ts';
import { installedEndpoints } from '../../shared/http/endpoint.ts';
import { type HttpResponse, renderError } from '../../shared/http/reply.ts';
import { endpoints } from './catalogue.ts';

/** Responds to requests without a route with 405 if the path has a route for another method, else 404. */
export const handler = async (event: APIGatewayProxyEventV2): Promise<HttpResponse> => {
  const { requestId, http } = event.requestContext;
  const allowed = allowedMethods(http.method, http.path);
  const error = new DomainError(allowed.length > 0 ? 'METHOD_NOT_ALLOWED' : 'ROUTE_NOT_FOUND', {
    ...(allowed.length > 0 && { details: { allowed } }),
  });
  const response = renderError(error, requestId);
  return {
    ...response,
    headers: {
      ...response.headers,
      'x-request-id': requestId,
      ...(allowed.length > 0 && { allow: allowed.join(', ') }),
    },
  };
};

/** The routes of all endpoints. Only this entry imports all endpoints, because its response depends on every route. */
const routes = endpoints.map(({ method, path, serves }) => ({
  method,
  serves,
  pattern: new RegExp(
    `^${path
      .replaceAll('.', '\\.')
      .replaceAll(/\{\w+\}/g, '[^/]+')
      .replaceAll(/\{\w+\+\}/g, '.+')}$`,
  ),
}));

const LONGEST_PATH = 8_192;

/**
 * The allowed methods of the path's routes. Empty if the path has no route, or if an encoded path matches a route for
 * the requested method.
 */
const allowedMethods = (asked: string, path: string): readonly string[] => {
  const { basePath, ...settings } = routingDeps();
  if (path.length > LONGEST_PATH || !path.startsWith(`${basePath}/`)) return [];
  const route = path.slice(basePath.length);
  const installed = installedEndpoints(routes, settings);
  const methods = new Set<string>(installed.filter(({ pattern }) => pattern.test(route)).map(({ method }) => method));
  return methods.has(asked) ? [] : [...methods];
};
