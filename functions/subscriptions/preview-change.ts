import { lambda } from '../../shared/http/lambda.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { previewChange } from '../../shared/subscriptions/plan-changes/preview-change.ts';
import { previewChangeEndpoint } from './plan-endpoints.ts';

export const handler = lambda(previewChangeEndpoint, moneyDeps, previewChange);
