import { startPage } from '../../shared/hosted-pages/start-page.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { pageDeps } from '../../shared/runtime.ts';
import { startPageEndpoint } from './endpoints.ts';

export const handler = lambda(startPageEndpoint, pageDeps, startPage);
