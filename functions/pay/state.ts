import { showPage } from '../../shared/hosted-pages/show-page.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { pageDeps } from '../../shared/runtime.ts';
import { showPageEndpoint } from './endpoints.ts';

export const handler = lambda(showPageEndpoint, pageDeps, showPage);
