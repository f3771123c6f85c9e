import * as z from 'zod';
import type { NamedRecord } from '../../shared/access/record-kind.ts';
import { addressRecord } from '../../shared/addresses/address.ts';
import { billingAddressBody } from '../../shared/addresses/requests.ts';
import { projectNamed } from '../../shared/catalog/kinds.ts';
import { productRecord, projectRecord } from '../../shared/catalog/records.ts';
import { PAYMENT_SECRETS } from '../../shared/core/rights.ts';
import { customerRecord } from '../../shared/customers/customer.ts';
import { CREATE_TIMEOUT_SECONDS, endpoint } from '../../shared/http/endpoint.ts';
import { idSchema, jsonValue, nextActionSchema, timestamp } from '../../shared/http/fields.ts';
import { emailParams, guestCreateLimits, guestListLimits } from '../../shared/http/guests.ts';
import { methodsUsedBy } from '../../shared/payments/commands/requests.ts';
import { PAYMENT_STATUSES } from '../../shared/payments/record/payment.ts';
import { guestSubscriptionsQuery, listSubscriptionsQuery } from '../../shared/queries/subscription-parameters.ts';
import { subscriptionTimelineSchema } from '../../shared/queries/subscription-timeline.ts';
import {
  type CreateSubscriptionBody,
  cancelBody,
  createSubscriptionBody,
  updateSubscriptionBody,
} from '../../shared/subscriptions/commands/requests.ts';
import {
  BILLING_STATUSES,
  SUBSCRIPTION_STATUSES,
  subscriptionRecord,
} from '../../shared/subscriptions/record/subscription.ts';
import { SUBSCRIPTION_COLUMNS } from '../../shared/subscriptions/record/view.ts';

const none = z.object({});
const byId = z.object({ id: idSchema.describe('Names the subscription, `subs_…`.') });

const textOrNull = z.string().nullable();
const cents = z.int().nonnegative();
const status = z.enum(SUBSCRIPTION_STATUSES).meta({
  id: 'SubscriptionStatus',
  description: `How far the subscription is:
    - \`trialing\`: in its trial; the first charge follows at \`trial_end\`
    - \`active\`: the current period is paid for
    - \`past_due\`: a charge is open or was declined; \`billing_status\` says which
    - \`paused\`: nothing is charged until it is resumed
    - \`canceled\`: ended; it can be reactivated`,
});

const guestSubscriptionSchema = z
  .looseObject({
    id: z.string().meta({
      description: 'Names the subscription: `subs_` and 24 characters.',
      examples: ['subs_1f2e3d4c5b6a79880796a5b4'],
    }),
    status,
    currency: z.string().meta({ description: 'The ISO 4217 code in upper case.', examples: ['EUR'] }),
    total_cents: cents.meta({
      description: 'What each period costs, in minor units: subtotal + tax − discount.',
      examples: [990],
    }),
    billing_interval: z
      .string()
      .describe('The unit of a period: `daily`, `weekly`, `monthly`, `quarterly` or `yearly`.'),
    current_period_end: timestamp.describe('When the current period, or the trial, ends.'),
    cancel_at_period_end: z
      .boolean()
      .describe('True if the subscription ends with its current period and is not charged again.'),
    is_guest_subscription: z.boolean().describe('True if a guest without a session made the subscription.'),
    created_at: timestamp.describe('When the subscription was created.'),
  })
  .meta({
    id: 'GuestSubscription',
    description:
      'The fields of a guest subscription that need no credential. With the guest token, the list has all fields.',
  });

const subscriptionSchema = guestSubscriptionSchema
  .extend({
    customer_id: z.string().describe('The customer that pays, `cust_…`.'),
    product_id: textOrNull.describe('The product that was subscribed to; null for a price of its own.'),
    payment_method_id: textOrNull.describe(
      'The saved payment method that is charged, `pmt_…`; null once it was removed.',
    ),
    provider_id: z
      .string()
      .meta({ description: 'The provider slot that collects the money.', examples: ['provider_a'] }),
    provider_subscription_id: textOrNull.describe(
      'The id of the subscription at the provider; null where the service bills by itself.',
    ),
    billing_status: z.enum(BILLING_STATUSES).meta({
      id: 'BillingStatus',
      description: `How the charges stand:
        - \`active\`: paid for
        - \`trialing\`: nothing is charged yet
        - \`pending\`: the first charge waits for the payer or the provider
        - \`retrying\`: a renewal is under way, or was declined and is retried at \`next_billing_date\`
        - \`unpaid\`: a renewal was declined and is not retried until the payment method changes
        - \`paused\`: paused
        - \`ended\`: canceled`,
    }),
    current_period_start: timestamp.describe('When the current period, or the trial, began.'),
    next_billing_date: timestamp
      .nullable()
      .describe('When the next charge or retry is due; null if none is planned, for example while paused.'),
    trial_end: timestamp.nullable().describe('When the trial ends or ended; null without a trial.'),
    subtotal_cents: cents.describe('The price of a period before tax and discount, in minor units.'),
    tax_cents: cents.describe('The tax of a period in minor units; 0 if the request named none.'),
    discount_cents: cents.describe('The discount of a period in minor units; 0 if the request named none.'),
    interval_multiplier: z
      .int()
      .positive()
      .describe('Units of `billing_interval` per period: 3 with `monthly` is a charge every three months.'),
    project_id: textOrNull.describe('The project that gets the membership; null without one.'),
    organization_id: textOrNull.describe('The organization that pays; null for a personal subscription.'),
    user_id: textOrNull.describe('The user who made the subscription; null for a guest.'),
    billing_address_id: textOrNull.describe('The billing address for tax and audit, `addr_…`; null without one.'),
    billing_owner: z
      .enum(['provider', 'service'])
      .describe("Who charges each period: `service`, or the provider's own billing (`provider`)."),
    canceled_at: timestamp.nullable().describe('When the subscription ended; null while it has not.'),
    concept: textOrNull.describe('A short title, such as a line of an invoice; yours to use.'),
    description: textOrNull.describe('What the subscription is for; null if the request named nothing.'),
    reference_code: textOrNull.describe('Your own reference, such as a contract number.'),
    category: textOrNull.describe('A category of your choice.'),
    tags: textOrNull.describe('Tags of your choice, separated by commas.'),
    latest_payment_id: textOrNull.describe('The payment of the latest charge, `pay_…`; null before the first.'),
    metadata: z
      .record(z.string(), jsonValue)
      .describe('Your own data, as the requests set it. Empty if there is none.'),
    updated_at: timestamp.describe('When the subscription last changed.'),
  })
  .meta({
    id: 'Subscription',
    description: 'A price that is charged every period, and how its charges stand.',
  });

const createdSubscriptionSchema = subscriptionSchema
  .extend({
    next_action: nextActionSchema
      .optional()
      .describe('Present if the first charge waits for the payer, for example to authenticate a card.'),
    client_secret: z
      .string()
      .optional()
      .describe(
        "For the provider's library in the browser, while the first charge waits for the payer; present for 23 hours.",
      ),
  })
  .meta({
    id: 'CreatedSubscription',
    description: 'A new subscription, with what the payer needs if the first charge waits for the payer.',
  });

const shownSubscriptionSchema = subscriptionSchema
  .extend({
    open_payment: z
      .object({
        id: z.string().describe('Names the payment, `pay_…`; confirm it to end the dunning.'),
        status: z.enum(PAYMENT_STATUSES).describe('The status of that payment, as in `Payment`.'),
        next_action: nextActionSchema.nullable().describe('What the payer must do; null if nothing.'),
        client_secret: textOrNull.describe(
          "For the provider's library in the browser; null once it has expired, and for readers who may not pay.",
        ),
      })
      .meta({ id: 'OpenPayment', description: 'The payment that a past-due subscription waits for.' })
      .optional()
      .describe('The payment that the subscription waits for. Shown while there is one, to callers who may pay.'),
  })
  .meta({ id: 'ShownSubscription', description: 'A subscription, with the payment that it waits for.' });

const addressNamed = ({
  billing_address_id: id,
}: {
  readonly billing_address_id?: string | null | undefined;
}): readonly NamedRecord[] => (id ? [{ kind: addressRecord, id }] : []);

const namedBy = (body: CreateSubscriptionBody): readonly NamedRecord[] => [
  { kind: customerRecord, id: body.customer_id },
  ...(body.product_id ? [{ kind: productRecord, id: body.product_id }] : []),
  ...(body.project_id ? [{ kind: projectRecord, id: body.project_id }] : []),
  ...addressNamed(body),
];

export const createSubscriptionEndpoint = endpoint({
  id: 'subscriptions.create',
  method: 'POST',
  path: '/subscriptions',
  summary: 'Create a subscription',
  description: `Charges a saved payment method every period, from now or from the end of a trial. Price and interval are those of the
    product, or the request's own.

    - 201 \`active\`: the first period is paid, or costs nothing.
    - 201 \`trialing\`: nothing is charged until \`trial_end\`.
    - 201 \`past_due\` with \`billing_status\` \`pending\`: the payer must authenticate; continue in the browser with \`client_secret\`
      within 23 hours, else the subscription is canceled.
    - 402 \`PAYMENT_DECLINED\`: the first charge was declined, and there is no subscription. The same \`Idempotency-Key\` repeats this
      answer; try another method under a new key.

    If the product names a membership tier, the membership becomes active with the first payment.`,
  auth: 'session-or-guest',
  access: {
    action: 'canManageSubscriptions',
    organization: 'session by default',
    references: namedBy,
    uses: methodsUsedBy,
  },
  params: none,
  query: none,
  body: createSubscriptionBody,
  response: createdSubscriptionSchema,
  status: 201,
  form: 'bare',
  errors: [
    'VALIDATION_ERROR',
    'PRICING_MISMATCH',
    'AMOUNT_TOO_SMALL',
    'UNSUPPORTED_CURRENCY',
    'UNSUPPORTED_PROVIDER',
    'PROVIDER_MISMATCH',
    'PRODUCT_INACTIVE',
    'PAYMENT_DECLINED',
    'RESOURCE_NOT_FOUND',
    'INSUFFICIENT_PERMISSIONS',
    'INVALID_STATE',
    'PROVIDER_TIMEOUT',
    'PROVIDER_UNAVAILABLE',
    'RATE_LIMITED',
  ],
  idempotent: 'create',
  limits: guestCreateLimits,
  uses: ['table:read', 'table:put', 'table:delete', ...PAYMENT_SECRETS, 'secrets:guest-tokens'],
  timeoutSeconds: CREATE_TIMEOUT_SECONDS.subscription,
  paymentPath: true,
});

export const getSubscriptionEndpoint = endpoint({
  id: 'subscriptions.get',
  method: 'GET',
  path: '/subscriptions/{id}',
  summary: 'Get a subscription',
  description: `Shows one subscription. While it is past due, a caller who may pay also sees \`open_payment\`: confirm that payment to
    end the dunning at once.`,
  auth: 'session',
  access: { action: 'read', record: subscriptionRecord },
  params: byId,
  query: none,
  body: null,
  response: shownSubscriptionSchema,
  status: 200,
  form: 'bare',
  errors: ['RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read'],
});

export const getSubscriptionTimelineEndpoint = endpoint({
  id: 'subscriptions.timeline',
  method: 'GET',
  path: '/subscriptions/{id}/timeline',
  summary: 'Show what happened to a subscription, in order',
  description: `Lists the versions of the subscription with their causes and actors, oldest first, and the payment of each period that was
    charged. Callers who may read the webhook log also see the events of the provider and the deliveries to targets of the last 90 days.
    Use it to explain a subscription to a customer, or to find who canceled it.`,
  meta: z
    .object({
      subscription_id: z.string().describe('The subscription that the entries are about, `subs_…`.'),
      status: z.enum(SUBSCRIPTION_STATUSES).describe('The present status of the subscription.'),
      is_complete: z
        .boolean()
        .describe('False if some deliveries are left out, or versions older than the newest 500.'),
    })
    .describe('About the whole timeline.'),
  auth: 'session',
  access: { action: 'read', record: subscriptionRecord },
  params: byId,
  query: none,
  body: null,
  response: subscriptionTimelineSchema,
  status: 200,
  form: 'envelope',
  errors: ['RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read'],
});

export const listSubscriptionsEndpoint = endpoint({
  id: 'subscriptions.list',
  method: 'GET',
  path: '/subscriptions',
  summary: 'List subscriptions',
  description: `Lists the subscriptions of the caller, of an organization or of a project, newest first, by \`limit\` and \`offset\`. With
    \`Accept: text/csv\` it answers as a table.`,
  auth: 'session',
  access: { action: 'read', organization: 'session by default', references: projectNamed },
  params: none,
  query: listSubscriptionsQuery,
  body: null,
  response: z.array(subscriptionSchema),
  status: 200,
  form: 'bare',
  csv: { name: 'subscriptions', columns: SUBSCRIPTION_COLUMNS },
  errors: ['VALIDATION_ERROR', 'RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read'],
});

const change = {
  auth: 'session',
  params: byId,
  query: none,
  response: subscriptionSchema,
  status: 200,
  form: 'bare',
  uses: ['table:read', 'table:put', 'table:delete', ...PAYMENT_SECRETS],
  timeoutSeconds: 29,
} as const;

const CHANGE_ERRORS = [
  'VALIDATION_ERROR',
  'RESOURCE_NOT_FOUND',
  'INSUFFICIENT_PERMISSIONS',
  'INVALID_STATE',
  'PAYMENT_IN_PROGRESS',
  'VERSION_CONFLICT',
  'PROVIDER_TIMEOUT',
] as const;

export const updateSubscriptionEndpoint = endpoint({
  ...change,
  id: 'subscriptions.update',
  method: 'PATCH',
  path: '/subscriptions/{id}',
  summary: 'Change the payment method or metadata of a subscription',
  description: `Sets another payment method, own metadata, or both. Price and interval never change: cancel, and create a new
    subscription. A new method on a past-due subscription is charged at once.

    The method must belong to the caller and to the subscription's provider (400 \`PROVIDER_MISMATCH\`).`,
  access: {
    action: 'canManageSubscriptions',
    record: subscriptionRecord,
    uses: methodsUsedBy,
  },
  body: updateSubscriptionBody,
  errors: [...CHANGE_ERRORS, 'PROVIDER_MISMATCH'],
});

export const linkSubscriptionAddressEndpoint = endpoint({
  ...change,
  id: 'subscriptions.link-address',
  method: 'PATCH',
  path: '/subscriptions/{id}/billing-address',
  summary: 'Link or unlink the billing address of a subscription',
  description: `Sets the billing address, or removes it with null. The address must have the same owner as the subscription.`,
  access: { action: 'canManageSubscriptions', record: subscriptionRecord, references: addressNamed },
  body: billingAddressBody,
  errors: ['VALIDATION_ERROR', 'RESOURCE_NOT_FOUND', 'INSUFFICIENT_PERMISSIONS', 'VERSION_CONFLICT'],
  uses: ['table:read', 'table:put', 'table:delete'],
  timeoutSeconds: 10,
});

const command = { ...change, method: 'POST', idempotent: 'stored' } as const;
const access = { action: 'canManageSubscriptions', record: subscriptionRecord } as const;

export const cancelSubscriptionEndpoint = endpoint({
  ...command,
  id: 'subscriptions.cancel',
  path: '/subscriptions/{id}/cancel',
  summary: 'Cancel a subscription, at the end of its period or now',
  description: `Ends the subscription with its current period (the default) or at once. Nothing is refunded: use
    \`POST /payments/{id}/refunds\` for that. Canceled at once, an open charge is stopped where that is still possible, and a linked membership
    ends. A repeat answers 200 again.`,
  access: { ...access, platformAdmins: 'may act' },
  body: cancelBody,
  errors: CHANGE_ERRORS,
});

export const reactivateSubscriptionEndpoint = endpoint({
  ...command,
  id: 'subscriptions.reactivate',
  path: '/subscriptions/{id}/reactivate',
  summary: 'Take back a cancelation, or start a canceled subscription again',
  description: `Does one of three things:

    - A cancelation that is only scheduled is taken back; nothing is charged.
    - A canceled subscription whose period still runs continues it; nothing is charged where the service bills. A provider that bills gets a
      new subscription, which charges from the end of the paid time.
    - A canceled subscription whose period is over starts a new one now, and charges it. A decline answers 402 and it stays canceled.

    A subscription without a cancelation answers 409 \`SUBSCRIPTION_NOT_CANCELED\`.`,
  access,
  body: none,
  errors: [...CHANGE_ERRORS, 'SUBSCRIPTION_NOT_CANCELED', 'PAYMENT_METHOD_REQUIRED', 'PAYMENT_DECLINED'],
});

export const pauseSubscriptionEndpoint = endpoint({
  ...command,
  id: 'subscriptions.pause',
  path: '/subscriptions/{id}/pause',
  summary: 'Pause a subscription: nothing is charged until it is resumed',
  description: `Stops all charges of an active or past-due subscription until it is resumed. The time that is paid for stays paid for. A
    repeat answers 200 again; other states answer 409 \`INVALID_STATE\`.`,
  access,
  body: none,
  errors: CHANGE_ERRORS,
});

export const resumeSubscriptionEndpoint = endpoint({
  ...command,
  id: 'subscriptions.resume',
  path: '/subscriptions/{id}/resume',
  summary: 'Resume a paused subscription',
  description: `Continues the current period if it is still paid for; else starts a new period now and charges it. A decline answers 402
    \`PAYMENT_DECLINED\`, and the subscription stays paused.`,
  access,
  body: none,
  errors: [...CHANGE_ERRORS, 'PAYMENT_METHOD_REQUIRED', 'PAYMENT_DECLINED'],
});

export const listGuestSubscriptionsEndpoint = endpoint({
  id: 'subscriptions.list-guest',
  method: 'GET',
  path: '/subscriptions/guest/{email}',
  summary: "List a guest's subscriptions by e-mail",
  description: `Lists the guest subscriptions of an e-mail address, newest first. It needs no credential and so shows a few fields only; with
    the guest token the entries hold all fields. An operator may switch the list without a token off.`,
  auth: 'public',
  params: emailParams,
  query: guestSubscriptionsQuery,
  body: null,
  response: z.array(guestSubscriptionSchema),
  status: 200,
  form: 'bare',
  errors: ['VALIDATION_ERROR', 'SESSION_INVALID', 'RATE_LIMITED'],
  limits: guestListLimits('guest-subscriptions'),
  uses: ['table:read', 'table:put', 'secrets:guest-tokens'],
});

export const subscriptionEndpoints = [
  createSubscriptionEndpoint,
  getSubscriptionEndpoint,
  getSubscriptionTimelineEndpoint,
  listSubscriptionsEndpoint,
  updateSubscriptionEndpoint,
  linkSubscriptionAddressEndpoint,
  cancelSubscriptionEndpoint,
  reactivateSubscriptionEndpoint,
  pauseSubscriptionEndpoint,
  resumeSubscriptionEndpoint,
  listGuestSubscriptionsEndpoint,
];
