import { lambda } from '../../shared/http/lambda.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { changePlan } from '../../shared/subscriptions/plan-changes/change-plan.ts';
import { changePlanEndpoint } from './plan-endpoints.ts';

export const handler = lambda(changePlanEndpoint, moneyDeps, changePlan);
