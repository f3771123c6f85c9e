import { lambda } from '../../shared/http/lambda.ts';
import { receiverDeps } from '../../shared/runtime.ts';
import { receiveProviderEvent } from '../../shared/webhooks/receive-event.ts';
import { providerAWebhookEndpoint } from './endpoints.ts';

export const handler = lambda(providerAWebhookEndpoint, receiverDeps, (deps, request) =>
  receiveProviderEvent(deps, 'provider_a', request),
);
