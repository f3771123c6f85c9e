/**
 * @module The HTTP endpoints about the service itself, for its health, its API document, the configuration for browsers,
 * and the caller.
 */

import * as z from 'zod';
import { MEMORY_MB } from '../../shared/core/rights.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { browserConfigSchema } from '../../shared/queries/browser-config.ts';
import { meSchema } from '../../shared/queries/me.ts';

const none = z.object({});
const publicRoute = {
  method: 'GET',
  auth: 'public',
  params: none,
  query: none,
  body: null,
  status: 200,
  form: 'bare',
  uses: [],
  timeoutSeconds: 5,
} as const;

export const healthEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...publicRoute,
  id: 'api.health',
  path: '/health',
  summary: 'Check that the service is running',
  description: `Returns 200 while the service runs. It checks no dependency, so a failure of a provider or of the table does not show here.`,
  response: () =>
    z.object({ status: z.literal('ok').describe('Always `ok`, because the service responds.') }).meta({
      id: 'Health',
      description: 'The state of the service.',
    }),
  memoryMb: MEMORY_MB.background,
}));

export const openapiEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...publicRoute,
  id: 'api.openapi',
  path: '/openapi.json',
  summary: 'Show the API document',
  description: `This document, in OpenAPI 3.1. Use it to generate a client or to read the reference in a tool of your own.
    A request with a path or method that is not in this document gets the error 404 or 405 shown here.`,
  errors: ['ROUTE_NOT_FOUND', 'METHOD_NOT_ALLOWED'],
  response: () =>
    z
      .looseObject({
        openapi: z.string().describe('The version of the OpenAPI standard, 3.1.0.'),
        servers: z
          .array(z.object({ url: z.string().describe('The base URL of every path in this document.') }))
          .describe('The address of this installation.'),
      })
      .meta({ id: 'ApiDocument', description: 'A document of the OpenAPI standard.' }),
  memoryMb: MEMORY_MB.background,
}));

export const configEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...publicRoute,
  id: 'api.config',
  path: '/config',
  summary: 'Show the settings for browser payments',
  description: `Lists the providers that take payments, with their public ids and how a payer pays there. A page loads it before it shows a payment
    form. The response may be cached for 5 minutes.`,
  form: 'envelope',
  response: () => browserConfigSchema,
  memoryMb: MEMORY_MB.background,
}));

export const meEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'api.me',
  method: 'GET',
  path: '/me',
  summary: 'Show the user of the session and its scopes',
  description: `Shows the signed-in user and the user's scopes, so that your program offers only permitted actions. A service key cannot call it.`,
  auth: 'session',
  params: none,
  query: none,
  body: null,
  response: () => meSchema,
  status: 200,
  form: 'envelope',
  uses: ['table:read'],
}));

export const docsEndpoints = [healthEndpoint, openapiEndpoint, configEndpoint, meEndpoint];
