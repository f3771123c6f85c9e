import * as z from 'zod';
import { page, readParameters } from '../wire/parameters.ts';
import type { StripeObject, StripeRequest, StripeRoute } from '../wire/request.ts';
import { API_VERSION } from '../wire/versions.ts';

export const webhookEndpointRoutes: readonly StripeRoute[] = [
  { method: 'GET', path: '/v1/webhook_endpoints', run: (request) => ({ object: listEndpoints(request) }) },
];

/** Lists the account's only endpoint, which receives the events of the slot. */
const listEndpoints = ({ unit, call }: StripeRequest): StripeObject => {
  readParameters(call, z.strictObject(page));
  const { url, apiVersion } = unit.endpoint();
  const endpoint: StripeObject = {
    id: `we_1${unit.slot}`,
    object: 'webhook_endpoint',
    api_version: apiVersion ?? API_VERSION,
    application: null,
    created: 1_700_000_000,
    description: null,
    enabled_events: ['*'],
    livemode: false,
    metadata: {},
    status: 'enabled',
    url,
  };
  return { object: 'list', data: [endpoint], has_more: false, url: call.path };
};
