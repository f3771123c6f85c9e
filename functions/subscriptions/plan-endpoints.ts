/** @module The HTTP endpoints that change the plan of a subscription. */

import * as z from 'zod';
import type { NamedRecord } from '../../shared/access/record-kind.ts';
import { productRecord } from '../../shared/catalog/catalog-records.ts';
import { PAYMENT_SECRETS } from '../../shared/core/rights.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { idSchema } from '../../shared/http/fields.ts';
import { declineLimits } from '../../shared/http/windows.ts';
import { changePreviewSchema } from '../../shared/subscriptions/record/plan-change-view.ts';
import { subscriptionRecord } from '../../shared/subscriptions/record/subscription.ts';
import { type ChangePlanBody, changePlanBody } from '../../shared/subscriptions/record/subscription-requests.ts';
import { subscriptionViewSchema } from '../../shared/subscriptions/record/subscription-view.ts';

const ofPlan = {
  auth: 'session',
  params: z.object({ id: idSchema.describe('Id of the subscription, `subs_…`.') }),
  query: z.object({}),
  response: subscriptionViewSchema,
  status: 200,
  form: 'bare',
  uses: ['table:read', 'table:put', 'table:delete', ...PAYMENT_SECRETS],
  timeoutSeconds: 29,
} as const;

const access = { action: 'canManageSubscriptions', record: subscriptionRecord } as const;

const COMMAND_ERRORS = [
  'VALIDATION_ERROR',
  'RESOURCE_NOT_FOUND',
  'INSUFFICIENT_PERMISSIONS',
  'INVALID_STATE',
  'PAYMENT_IN_PROGRESS',
  'VERSION_CONFLICT',
  'PROVIDER_TIMEOUT',
] as const;

const targetNamed = ({ product_id: id }: ChangePlanBody): readonly NamedRecord[] =>
  id === undefined ? [] : [{ kind: productRecord, id }];

const PLAN_ERRORS = [
  ...COMMAND_ERRORS,
  'PRICING_MISMATCH',
  'PRODUCT_INACTIVE',
  'QUANTITY_INVALID',
  'AMOUNT_TOO_SMALL',
  'UNSUPPORTED_CURRENCY',
  'UNSUPPORTED_PROVIDER',
  'PROVIDER_MISMATCH',
  'PAYMENT_METHOD_REQUIRED',
  'PRICE_CHANGED',
] as const;

export const changePlanEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...ofPlan,
  idempotent: 'stored',
  command: 'change',
  id: 'subscriptions.change',
  method: 'POST',
  path: '/subscriptions/{id}/change',
  summary: 'Change the product or the quantity of a subscription',
  description: `Changes the plan now, or when the next period opens. The service computes and charges the difference in
    the same way at every provider, so the charge equals the preview.

    - \`now\`: the rest of the period is charged at the new price, less the unused part of the old price. With another interval a new period
      begins. 200 with the new plan.
    - \`now\`, and the payer must authenticate: 200 with the old plan and \`pending_change\`; continue in the browser with its
      \`client_secret\`. An unpaid change expires at \`expires_at\`.
    - \`now\`, and the charge is declined: 402 \`PAYMENT_DECLINED\`, and nothing has changed.
    - \`period_end\`: 200 with \`scheduled_change\`. Another change replaces it, the same change leaves it as it is, and \`DELETE\` or a
      cancellation withdraws it. The tier of the new plan is \`pending\` until its first period is paid.

    An upgrade takes effect now and a downgrade at the end of the period, unless the settings PLAN_CHANGE_UPGRADE and PLAN_CHANGE_DOWNGRADE
    say otherwise. A payer may always choose \`period_end\`. A downgrade now, \`proration: none\`, and a price or an interval without a
    product are for the merchant (\`subscriptions:operate\`); others get 403. A person of the merchant who is the payer
    or a member of the paying organization also gets 403, and so does that person's service key (\`details.reason:
    own_payment\`).

    If a member lent their own method to the organization, only that member may change product, quantity, price or
    interval; others get 403 with \`details.reason: lent_method\`. Others may cancel, pause, or set another method. The merchant may lower the price.

    An active or trialing subscription can change; other states get 409 \`INVALID_STATE\`. Only \`period_end\` works in
    the last hour of a period, after 80 payments in one period (\`details.reason: too_many_changes\`), and if the
    provider itself adds a tax or several discounts (\`priced_at_provider\`). A trial belongs to its product: a change now to another product keeps at most the trial days of that product, counted
    from \`created_at\`. If these days are over, the trial ends, and the first period is charged now at the full price. Other changes in a trial charge nothing.`,
  access: { ...access, references: targetNamed },
  body: changePlanBody,
  accepted:
    'The outcome of the payment, or of the new price at the provider, is not known yet: `pending_change.status` is `processing`. The change is finished in the background, and `subscription.updated` follows with the reason `plan_changed` or `plan_change_failed`.',
  errors: [...PLAN_ERRORS, 'PAYMENT_DECLINED', 'PROVIDER_UNAVAILABLE'],
  limits: declineLimits,
  paymentPath: true,
}));

export const previewChangeEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...ofPlan,
  id: 'subscriptions.preview-change',
  method: 'POST',
  path: '/subscriptions/{id}/change/preview',
  summary: 'Preview the cost and effect of a plan change',
  description: `Computes a change from the body of the change request, without storing or charging anything. A change
    with \`proration_at\` of this response within 10 minutes costs exactly \`due_now_cents\`. An impossible change gets
    the same error here.`,
  access: { ...access, references: targetNamed },
  body: changePlanBody,
  response: changePreviewSchema,
  errors: PLAN_ERRORS,
  uses: ['table:read', ...PAYMENT_SECRETS],
}));

export const withdrawChangeEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...ofPlan,
  id: 'subscriptions.withdraw-change',
  method: 'DELETE',
  path: '/subscriptions/{id}/change',
  summary: 'Withdraw a scheduled or unpaid plan change',
  description: `Withdraws \`scheduled_change\`, or an unpaid \`pending_change\` with its payment. 409 \`INVALID_STATE\`
    if there is neither, or if the payer has paid meanwhile, because a paid change takes effect. 409
    \`PAYMENT_IN_PROGRESS\` while the outcome of the payment is unknown. If a member lent the payment method, only that
    member may withdraw the change; others get 403 with \`details.reason: lent_method\`.`,
  access,
  body: null,
  errors: COMMAND_ERRORS,
}));

export const planEndpoints = [changePlanEndpoint, previewChangeEndpoint, withdrawChangeEndpoint];
