import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { DomainError } from '../shared/core/errors.ts';
import { type HttpResponse, renderError } from '../shared/http/reply.ts';
import { endpoints } from './catalogue.ts';

/** What no route matches: 405 where the path knows other methods, else 404, in the service's own error body. */
export const handler = async (event: APIGatewayProxyEventV2): Promise<HttpResponse> => {
  const { requestId, http } = event.requestContext;
  const allowed = allowedMethods(http.path);
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

/** The one entry that reads the catalogue: its answer is about all routes. A prefix before them does not matter. */
const routes = endpoints.map(({ method, path }) => ({
  method,
  pattern: new RegExp(`${path.replaceAll('.', '\\.').replaceAll(/\{[^}]+\}/g, '[^/]+')}/?$`),
}));

const allowedMethods = (path: string): readonly string[] => [
  ...new Set(routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)),
];
