import * as z from 'zod';
import { MEMORY_MB } from '../../shared/core/memory.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { browserConfigSchema } from '../../shared/queries/browser-config.ts';

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

export const healthEndpoint = endpoint({
  ...publicRoute,
  id: 'api.health',
  path: '/health',
  summary: 'Say that requests are answered',
  response: z.object({ status: z.literal('ok') }),
  memoryMb: MEMORY_MB.background,
});

export const openapiEndpoint = endpoint({
  ...publicRoute,
  id: 'api.openapi',
  path: '/openapi.json',
  summary: 'Show the API document',
  response: z.looseObject({ openapi: z.string(), servers: z.array(z.object({ url: z.string() })) }),
  memoryMb: MEMORY_MB.background,
});

export const configEndpoint = endpoint({
  ...publicRoute,
  id: 'api.config',
  path: '/config',
  summary: 'Show what a browser needs to take payments',
  form: 'envelope',
  response: browserConfigSchema,
  memoryMb: MEMORY_MB.background,
});

export const docsEndpoints = [healthEndpoint, openapiEndpoint, configEndpoint];
