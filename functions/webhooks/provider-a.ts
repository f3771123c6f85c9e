import { lambda } from '../../shared/http/lambda.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { receiveProviderEvent } from '../../shared/webhooks/inbound/receive.ts';
import { providerAWebhookEndpoint } from './endpoints.ts';

export const handler = lambda(providerAWebhookEndpoint, moneyDeps, (deps, request) =>
  receiveProviderEvent(deps, 'provider_a', request),
);
