import { keepOnPage } from '../../shared/hosted-pages/cancel-page.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { pageDeps } from '../../shared/runtime.ts';
import { keepPageEndpoint } from './endpoints.ts';

export const handler = lambda(keepPageEndpoint, pageDeps, keepOnPage);
