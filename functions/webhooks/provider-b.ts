import { lambda } from '../../shared/http/lambda.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { receiveProviderEvent } from '../../shared/webhooks/inbound/receive.ts';
import { providerB } from './endpoints.ts';

export const handler = lambda(providerB, moneyDeps, (deps, request) =>
  receiveProviderEvent(deps, 'provider_b', request),
);
