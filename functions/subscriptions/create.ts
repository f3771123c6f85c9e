import { lambda } from '../../shared/http/lambda.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { createSubscription } from '../../shared/subscriptions/commands/create.ts';
import { create } from './endpoints.ts';

export const handler = lambda(create, moneyDeps, createSubscription);
