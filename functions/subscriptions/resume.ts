import { lambda } from '../../shared/http/lambda.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { resumeSubscription } from '../../shared/subscriptions/commands/pause.ts';
import { resume } from './endpoints.ts';

export const handler = lambda(resume, moneyDeps, resumeSubscription);
