import { lambda } from '../../shared/http/lambda.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { withdrawChange } from '../../shared/subscriptions/plan-changes/withdraw-change.ts';
import { withdrawChangeEndpoint } from './plan-endpoints.ts';

export const handler = lambda(withdrawChangeEndpoint, moneyDeps, withdrawChange);
