import { lambda } from '../../shared/http/lambda.ts';
import { documentDeps } from '../../shared/runtime.ts';
import { apiDocumentAt } from './document.ts';
import { openapiEndpoint } from './endpoints.ts';

export const handler = lambda(openapiEndpoint, documentDeps, async ({ publicBaseUrl }) => ({
  data: apiDocumentAt(publicBaseUrl),
}));
