/**
 * @module The API document of all endpoints. The build replaces this file and the schemas with the finished document.
 */

import { apiDocument } from '../../shared/openapi/api-document.ts';
import { documentedEndpoints } from './catalogue.ts';
import { examples } from './examples.ts';

let made: ReturnType<typeof apiDocument> | undefined;

export const apiDocumentAt = (baseUrl: string) => {
  made ??= apiDocument(documentedEndpoints, baseUrl, examples);
  return { ...made, servers: [{ url: baseUrl }] };
};
