import { cancelOnPage } from '../../shared/hosted-pages/cancel-page.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { pageDeps } from '../../shared/runtime.ts';
import { cancelPageEndpoint } from './endpoints.ts';

export const handler = lambda(cancelPageEndpoint, pageDeps, cancelOnPage);
