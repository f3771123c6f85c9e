/** @module Lists all subscriptions for the merchant, with filters and search. */

import * as z from 'zod';
import { once } from '../core/once.ts';
import { PROVIDER_SLOTS } from '../core/settings.ts';
import { boundedText, idParameter } from '../http/fields.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { subscriptionStatusList } from '../queries/parameters.ts';
import { PAYER_COLUMNS, payerFields, payersOf } from '../queries/payers.ts';
import { BILLING_OWNERS, subscriptionRecord, type VisibleSubscription } from '../subscriptions/record/subscription.ts';
import {
  SUBSCRIPTION_COLUMNS,
  subscriptionView,
  subscriptionViewSchema,
} from '../subscriptions/record/subscription-view.ts';
import {
  type EveryDeps,
  type EveryKind,
  equalClauses,
  everyFields,
  isOrAny,
  listEvery,
  notBefore,
} from './every-list.ts';

export const everySubscriptionQuery = z
  .object({
    search: boundedText(255)
      .trim()
      .min(1)
      .optional()
      .meta({
        description: `A whole value (case-insensitive): our id, the provider's id, an e-mail address or a reference code.`,
        examples: ['contract-17'],
      }),
    status: subscriptionStatusList.meta({
      description: 'Only subscriptions in one of these states, separated by commas.',
      examples: ['active,past_due'],
    }),
    provider_id: z.enum(PROVIDER_SLOTS).optional().describe('Only subscriptions at this provider slot.'),
    billing_owner: z
      .enum(BILLING_OWNERS)
      .optional()
      .describe("Only subscriptions that the service (`service`) or the provider's own billing (`provider`) charges."),
    product_id: idParameter.describe('Only subscriptions for this product.'),
    tier_id: idParameter.describe('Only subscriptions whose product gives this membership tier.'),
    ...everyFields('subscriptions'),
  })
  .refine(({ from, to }) => from === undefined || to === undefined || from <= to, notBefore('to', 'from'));

type EverySubscriptionQuery = z.output<typeof everySubscriptionQuery>;

export const EVERY_SUBSCRIPTION_COLUMNS = [...SUBSCRIPTION_COLUMNS, 'guest_email', ...PAYER_COLUMNS] as const;

export const everySubscriptionSchema = /* @__PURE__ */ once(() =>
  subscriptionViewSchema().extend(payerFields()).meta({
    id: 'ListedSubscription',
    description: 'A subscription in the list of all subscriptions, with its payer.',
  }),
);

export const listEverySubscription = (
  deps: EveryDeps,
  request: ApiRequest<unknown, EverySubscriptionQuery>,
): Promise<Reply> => listEvery(deps, SUBSCRIPTIONS, request);

const SUBSCRIPTIONS: EveryKind<VisibleSubscription, EverySubscriptionQuery> = {
  kind: 'SUB',
  idKind: 'subscription',
  parse: subscriptionRecord.parse,
  clausesOf: (query) =>
    equalClauses([
      ['f.b', query.billing_owner],
      ['f.d', query.product_id],
      ['f.t', query.tier_id],
    ]),
  wordOf: () => undefined,
  matches: (subscription, query) =>
    isOrAny(query.billing_owner, subscription.billingOwner) &&
    isOrAny(query.product_id, subscription.productId) &&
    isOrAny(query.tier_id, subscription.tierId),
  viewsOf: async (table, subscriptions) => {
    const payers = await payersOf(table, subscriptions);
    return subscriptions.map((subscription, index) => ({ ...subscriptionView(subscription), ...payers[index] }));
  },
};
