import { lambda } from '../../shared/http/lambda.ts';
import { receiverDeps } from '../../shared/runtime.ts';
import { receiveProviderEvent } from '../../shared/webhooks/receive-event.ts';
import { providerBWebhookEndpoint } from './endpoints.ts';

export const handler = lambda(providerBWebhookEndpoint, receiverDeps, (deps, request) =>
  receiveProviderEvent(deps, 'provider_b', request),
);
