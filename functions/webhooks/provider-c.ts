import { lambda } from '../../shared/http/lambda.ts';
import { receiverDeps } from '../../shared/runtime.ts';
import { receiveProviderEvent } from '../../shared/webhooks/receive-event.ts';
import { providerCWebhookEndpoint } from './endpoints.ts';

export const handler = lambda(providerCWebhookEndpoint, receiverDeps, (deps, request) =>
  receiveProviderEvent(deps, 'provider_c', request),
);
