import type { Endpoint } from '../../shared/http/endpoint.ts';
import type { Trigger } from '../../shared/platform/trigger.ts';
import { addressEndpoints } from '../addresses/endpoints.ts';
import { adminEndpoints } from '../admin/endpoints.ts';
import { erasureEndpoints } from '../admin/erasure-endpoints.ts';
import { exportEndpoints } from '../admin/export-endpoints.ts';
import { importEndpoints } from '../admin/import-endpoints.ts';
import { keyEndpoints } from '../admin/key-endpoints.ts';
import { referenceEndpoints } from '../admin/reference-endpoints.ts';
import { consoleEndpoints } from '../console/endpoints.ts';
import { customerEndpoints } from '../customers/endpoints.ts';
import { discountEndpoints } from '../discounts/endpoints.ts';
import { disputeEndpoints } from '../disputes/endpoints.ts';
import { membershipEndpoints } from '../memberships/endpoints.ts';
import { organizationEndpoints } from '../organizations/endpoints.ts';
import { pageEndpoints } from '../pay/endpoints.ts';
import { payPageEndpoints } from '../pay-page/endpoints.ts';
import { paymentLinkEndpoints } from '../payment-links/endpoints.ts';
import { methodEndpoints } from '../payment-methods/endpoints.ts';
import { paymentEndpoints } from '../payments/endpoints.ts';
import { capturePaymentEndpoint, changeMetadataEndpoint } from '../payments/hold-endpoints.ts';
import { linkPaymentEndpoint } from '../payments/link-endpoints.ts';
import { productEndpoints } from '../products/endpoints.ts';
import { projectEndpoints } from '../projects/endpoints.ts';
import { refundEndpoints } from '../refunds/endpoints.ts';
import { subscriptionEndpoints } from '../subscriptions/endpoints.ts';
import { linkSubscriptionEndpoint } from '../subscriptions/link-endpoints.ts';
import { planEndpoints } from '../subscriptions/plan-endpoints.ts';
import { webhookEndpoints } from '../webhooks/endpoints.ts';
import { workerTriggers } from '../workers/triggers.ts';
import { docsEndpoints } from './endpoints.ts';

/** All endpoints of the service. Hosts, the API document and tests read this list. */
export const endpoints: readonly Endpoint[] = [
  ...paymentEndpoints,
  capturePaymentEndpoint,
  changeMetadataEndpoint,
  linkPaymentEndpoint,
  ...discountEndpoints,
  ...refundEndpoints,
  ...disputeEndpoints,
  ...methodEndpoints,
  ...customerEndpoints,
  ...addressEndpoints,
  ...subscriptionEndpoints,
  ...planEndpoints,
  linkSubscriptionEndpoint,
  ...pageEndpoints,
  ...payPageEndpoints,
  ...paymentLinkEndpoints,
  ...membershipEndpoints,
  ...organizationEndpoints,
  ...productEndpoints,
  ...projectEndpoints,
  ...webhookEndpoints,
  ...adminEndpoints,
  ...erasureEndpoints,
  ...exportEndpoints,
  ...importEndpoints,
  ...keyEndpoints,
  ...referenceEndpoints,
  ...docsEndpoints,
  ...consoleEndpoints,
];

/** The endpoints of the API document, which leaves out the files of the console and of the hosted page. */
export const documentedEndpoints: readonly Endpoint[] = endpoints.filter(({ serves }) => serves === 'data');

export const triggers: readonly Trigger[] = workerTriggers;
