import * as z from 'zod';
import { MEMORY_MB } from '../../shared/core/rights.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { boundedText } from '../../shared/http/fields.ts';

const none = z.object({});
const files = {
  method: 'GET',
  auth: 'public',
  serves: 'console',
  query: none,
  body: null,
  response: () => z.string(),
  status: 200,
  form: 'bare',
  uses: [],
  timeoutSeconds: 5,
  memoryMb: MEMORY_MB.background,
} as const;

export const consolePageEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...files,
  id: 'console.page',
  path: '/console',
  summary: 'Show the console',
  description:
    'The page for browsers, which calls the other routes with the rights of its user. The console is off with `CONSOLE=off`, and in production unless `CONSOLE=on`.',
  params: none,
}));

export const consoleFileEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...files,
  id: 'console.file',
  path: '/console/{path+}',
  summary: 'Show a page of the console, or send one of its files',
  description:
    'Every path below `/console` returns the same page; its script reads the path. Files are below `/console/assets`; their names change with their content, so browsers cache them.',
  params: z.object({ path: boundedText(1_000) }),
  errors: ['ROUTE_NOT_FOUND'],
}));

export const consoleEndpoints = [consolePageEndpoint, consoleFileEndpoint];
