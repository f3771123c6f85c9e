import { lambda } from '../../shared/http/lambda.ts';
import { documentDeps } from '../../shared/runtime.ts';
import { apiDocumentAt } from './document.ts';
import { openapi } from './endpoints.ts';

export const handler = lambda(openapi, documentDeps, async ({ publicBaseUrl }) => ({
  data: apiDocumentAt(publicBaseUrl),
}));
