import { lambda } from '../../shared/http/lambda.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { pauseSubscription } from '../../shared/subscriptions/commands/pause.ts';
import { pause } from './endpoints.ts';

export const handler = lambda(pause, moneyDeps, pauseSubscription);
