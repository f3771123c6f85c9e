import { showDocumentFile } from '../../shared/hosted-pages/page-document.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { linkDeps } from '../../shared/runtime.ts';
import { payPageFiles } from './bundle.ts';
import { payFileEndpoint } from './endpoints.ts';

export const handler = lambda(payFileEndpoint, linkDeps, showDocumentFile(payPageFiles));
