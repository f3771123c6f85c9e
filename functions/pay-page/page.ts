import { showDocument } from '../../shared/hosted-pages/page-document.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { linkDeps } from '../../shared/runtime.ts';
import { payPageEntry } from './bundle.ts';
import { payPageEndpoint } from './endpoints.ts';

export const handler = lambda(payPageEndpoint, linkDeps, showDocument(payPageEntry));
