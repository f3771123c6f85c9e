import * as z from 'zod';
import { MEMORY_MB } from '../../shared/core/rights.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { boundedText } from '../../shared/http/fields.ts';

const none = z.object({});
const files = {
  method: 'GET',
  auth: 'public',
  serves: 'pages',
  query: none,
  body: null,
  response: () => z.string(),
  status: 200,
  form: 'bare',
  timeoutSeconds: 5,
  memoryMb: MEMORY_MB.background,
} as const;

export const payPageEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...files,
  id: 'pay-page.page',
  path: '/pay',
  summary: 'Show the hosted page',
  description:
    'The page of every link. The token is in the fragment of the URL, so this route does not receive it. 404 with `HOSTED_PAGES=off`.',
  params: none,
  errors: ['ROUTE_NOT_FOUND'],
  uses: ['secrets:guest-tokens'],
}));

export const payFileEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...files,
  id: 'pay-page.file',
  path: '/pay/assets/{file}',
  summary: 'Send a file of the hosted page',
  description: "The page's script and style sheet. Their names change with their content, so browsers cache them.",
  params: z.object({ file: boundedText(200) }),
  errors: ['ROUTE_NOT_FOUND'],
  uses: [],
}));

export const payPageEndpoints = [payPageEndpoint, payFileEndpoint];
