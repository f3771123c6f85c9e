/** @module Validates and prices a request to change a plan. Preview and change share this. */

import { type MerchantDecision, ownPayment } from '../../access/own-payment.ts';
import { type CallerRight, NO_CONDITIONS } from '../../access/right.ts';
import { MAX_QUANTITY, type Product, productRecord } from '../../catalog/catalog-records.ts';
import { quantityOf } from '../../catalog/price.ts';
import { DomainError, invalid } from '../../core/errors.ts';
import { derivePrices } from '../../core/money.ts';
import { DAY_MS, type Instant, instant, MINUTE_MS } from '../../core/time.ts';
import { requireSentPrices } from '../../discounts/discounted-price.ts';
import type { ApiRequest } from '../../http/request.ts';
import { type PaymentMethod, paymentMethodRecord } from '../../payment-methods/payment-method.ts';
import { requireHeld, type UsableMethod, useHeld } from '../../payment-methods/usable-method.ts';
import { requireAcceptedAmount } from '../../payments/accepted-amount.ts';
import { paymentRecord, type VisiblePayment } from '../../payments/payment.ts';
import { type Key, paymentKey } from '../../platform/keys.ts';
import type { PaymentProvider } from '../../providers/provider.ts';
import { providerInterval } from '../at-provider/provider-biller.ts';
import { chargedPrice, readPricing } from '../at-provider/provider-pricing.ts';
import type { SubscriptionDeps } from '../billing/biller.ts';
import { keepCode } from '../billing/discounted-plan.ts';
import { hasMostPayments, paidPeriodOf } from '../billing/paid-period.ts';
import { planOf } from '../billing/subscription-plan.ts';
import type { SubscriptionPlan } from '../record/plan-change.ts';
import { isProviderBilled, type Subscription, type VisibleSubscription } from '../record/subscription.ts';
import { asPlanDiscount, isUsedUp, withoutDiscount } from '../record/subscription-discount.ts';
import type { ChangePlanBody, ChangeTime } from '../record/subscription-requests.ts';
import { isLentByOther, isLowered, lentError } from './lent-method.ts';
import { type PayableChange, payableChange } from './plan-change-due.ts';
import { FREE_CHANGE } from './plan-change-price.ts';
import {
  requireFirstPeriod,
  requirePeriodLeft,
  requirePeriodPaid,
  requirePlanChangeable,
  requireRenewal,
} from './plan-change-states.ts';
import { type TimedChange, timedChange, waived } from './plan-change-time.ts';

export interface PlanChangeDeps extends SubscriptionDeps {
  /** When an upgrade or a downgrade takes effect if the request does not say. */
  readonly planChange: { readonly upgrade: ChangeTime; readonly downgrade: ChangeTime };
}

export type PlanChangeRequest = ApiRequest<unknown, unknown, ChangePlanBody, VisibleSubscription>;

export interface WantedChange extends PayableChange {
  readonly when: ChangeTime;
  /** Total of the next period; undefined if only the provider knows it. */
  readonly nextTotalCents: number | undefined;
  /** The method to charge; undefined if nothing is due. */
  readonly method: UsableMethod | undefined;
  /** The merchant's right, if the merchant makes the change. The claiming write includes its conditions. */
  readonly merchantRight: CallerRight;
}

/**
 * Checks and prices the requested change.
 * @param options.isClaiming true if the caller will claim the charge in a write that checks the method
 * @throws DomainError for every refusal known before the charge
 */
export const readWantedChange = async (
  deps: PlanChangeDeps,
  request: PlanChangeRequest,
  { isClaiming }: { readonly isClaiming: boolean },
): Promise<WantedChange> => {
  const { record, body, caller } = request;
  const decision = await ownPayment(deps.table, { caller, record, scope: 'subscriptions:operate' });
  requireRights(request, decision);
  requirePlanChangeable(record);
  const known = await readRecords(deps, request, isClaiming);
  const provider = await deps.providers.require(record.providerId, 'payments');
  const plan = await withCode(request, wantedPlan(request, known.product), { product: known.product, provider });
  if (isClaiming) requireKnownQuantity(request, plan, known.product);
  requireLender(request, plan, known.method);
  requireDifference(record, plan);
  await requireBillable(provider, record, plan);
  const pricing = await readPricing(deps, record);
  const at = momentOf(body, record, deps.now());
  const timedAs = (one: SubscriptionPlan) =>
    timedChange(record, { ...known, plan: one, charged: chargedPrice(one, pricing) ?? one }, at);
  const first = timedAs(plan);
  const when = chooseTime(deps, request, { isDowngrade: first.kind === 'downgrade', decision });
  const opensPeriod = when === 'period_end' || first.startsPeriod;
  const timed = isUsedUp(plan) && opensPeriod ? timedAs(withoutDiscount(plan)) : first;
  const charged = chargedPrice(timed.plan, pricing);
  if (timed !== first) {
    requireDifference(record, timed.plan);
    await requireBillable(provider, record, timed.plan);
  }
  const exact = when === 'now' ? asOfNow(request, timed, deps.now()) : asOfRenewal(record, timed);
  if (when === 'now' && !charged) throw pricedError(record);
  requireBridge(record, exact, deps.now());
  const wanted = { ...(await payableChange(deps, request, exact)), when };
  const method = await chargedMethod(deps, request, { wanted, method: known.method, isClaiming });
  return {
    ...wanted,
    nextTotalCents: charged && (isUsedUp(timed.plan) ? timed.plan.discount?.full.totalCents : charged.totalCents),
    method,
    merchantRight: decision.kind === 'allowed' ? decision.right : NO_CONDITIONS,
  };
};

/** The error if the provider's price for the plan is unknown. The cost of the change then cannot be computed. */
const pricedError = ({ providerId }: VisibleSubscription): DomainError =>
  new DomainError('INVALID_STATE', {
    message: `${providerId} applies a tax, several discounts or a temporary discount; use period_end`,
    details: { reason: 'priced_at_provider' },
  });

const PRICE_FIELDS = ['subtotal_cents', 'tax_cents', 'discount_cents', 'total_cents'] as const;
const NO_PRICES = {
  subtotal_cents: undefined,
  tax_cents: undefined,
  discount_cents: undefined,
  total_cents: undefined,
};

const hasPrice = (body: ChangePlanBody): boolean => PRICE_FIELDS.some((field) => body[field] !== undefined);

/** True if the request sends a price or an interval without a product. */
const isFreePrice = (body: ChangePlanBody): boolean =>
  body.product_id === undefined &&
  (hasPrice(body) || body.billing_interval !== undefined || body.interval_multiplier !== undefined);

/** @throws DomainError INSUFFICIENT_PERMISSIONS if the change is reserved for the merchant, or for the payer */
const requireRights = ({ body, asAdmin }: PlanChangeRequest, decision: MerchantDecision): void => {
  const isFree = isFreePrice(body);
  const isFreeNow = body.proration === 'none' && body.when === 'now';
  if (isFree || isFreeNow) requireMerchant(decision);
  if (!asAdmin || isFree) return;
  throw new DomainError('INSUFFICIENT_PERMISSIONS', {
    message: 'Only the payer may change the product or quantity; a service key may act for the payer',
  });
};

const requireMerchant = (decision: MerchantDecision): void => {
  if (decision.kind !== 'allowed') throw decision.refusal;
};

/**
 * @throws DomainError INSUFFICIENT_PERMISSIONS if another member lent the method, unless the merchant lowers the price
 */
const requireLender = (
  { caller, record, asAdmin }: PlanChangeRequest,
  plan: SubscriptionPlan,
  method: PaymentMethod | undefined,
): void => {
  if (isLentByOther(caller, record, method) && !(asAdmin && isLowered(record, plan))) throw lentError();
};

interface KnownRecords {
  readonly product: Product | undefined;
  /** Undefined if not read, or if it no longer exists. */
  readonly method: PaymentMethod | undefined;
  /** The payments of the current period. */
  readonly payments: ReadonlyMap<string, VisiblePayment>;
}

/** Reads the method, the period's payments and, if the change keeps it, the current product, in one request. */
const readRecords = async (
  { table }: PlanChangeDeps,
  { record, body, named }: PlanChangeRequest,
  isClaiming: boolean,
): Promise<KnownRecords> => {
  const productId = body.product_id === undefined && !isFreePrice(body) ? record.productId : undefined;
  const ids = record.status === 'trialing' ? [] : paidPeriodOf(record).payments.map(({ id }) => id);
  // If payments are read anyway, reading the method adds no request.
  const isUnread = isClaiming && mayClaimUnread(record) && ids.length === 0;
  const methodId = isUnread ? undefined : record.paymentMethodId;
  const keys = [
    ...(productId === undefined ? [] : [productRecord.key(productId)]),
    ...(methodId === undefined ? [] : [paymentMethodRecord.key(methodId)]),
    ...ids.map((id) => paymentKey(id)),
  ];
  const items = keys.length === 0 ? [] : await table.getMany(keys, { consistent: true });
  const itemOf = ({ pk }: Key) => items.find((item) => item?.['pk'] === pk);
  const product = productId && itemOf(productRecord.key(productId));
  const method = methodId && itemOf(paymentMethodRecord.key(methodId));
  const payments = ids.map((id) => itemOf(paymentKey(id))).flatMap((item) => (item && paymentRecord.parse(item)) ?? []);
  return {
    product: named(productRecord) ?? (product ? productRecord.parse(product) : undefined),
    method: method ? paymentMethodRecord.parse(method) : undefined,
    payments: new Map(payments.map((payment) => [payment.id, payment])),
  };
};

/** The method of a personal subscription cannot be lent. The claiming write checks it, so no read is needed. */
const mayClaimUnread = ({ organizationId }: VisibleSubscription): boolean => organizationId === undefined;

/**
 * Applies the subscription's discount code to the plan, if the code fits. A free price ends the code. A new interval
 * keeps it.
 * @throws DomainError PRICING_MISMATCH if a sent price differs from the discounted price
 */
const withCode = async (
  { record, body }: PlanChangeRequest,
  plan: SubscriptionPlan,
  sale: { readonly product: Product | undefined; readonly provider: PaymentProvider },
): Promise<SubscriptionPlan> => {
  if (!record.discount || isFreePrice(body) || !sale.product) return plan;
  const kept = await keepCode(plan, record, sale);
  requireSentPrices(body, kept, { isFree: false });
  return kept;
};

/** The plan before the discount code. @throws DomainError PRODUCT_INACTIVE, PRICING_MISMATCH or QUANTITY_INVALID */
const wantedPlan = ({ record, body }: PlanChangeRequest, product: Product | undefined): SubscriptionPlan => {
  const { currency, ...present } = presentPlan(record);
  if (isFreePrice(body)) return { ...present, ...freePlan(record, body) };
  const productId = body.product_id ?? record.productId;
  if (productId === undefined) {
    quantityOf(body.quantity, undefined);
    return present;
  }
  if (!product?.is_active || !product.billing_interval) {
    throw new DomainError('PRODUCT_INACTIVE', { details: { product_id: productId } });
  }
  const quantity = body.quantity === undefined ? keptQuantity(record, product) : quantityOf(body.quantity, product);
  // With a code, the sent prices are discounted prices, so do not compare them with the product's prices.
  const priced = record.discount ? { ...body, ...NO_PRICES } : body;
  const { currency: _, ...plan } = planOf({ ...priced, quantity, currency }, product);
  return plan;
};

/** The current quantity, or the nearest quantity allowed by the product. */
const keptQuantity = ({ quantity }: VisibleSubscription, { min_quantity: min, max_quantity: max }: Product): number =>
  Math.min(Math.max(quantity, min ?? 1), max ?? MAX_QUANTITY);

/** @throws DomainError QUANTITY_INVALID if the product forces a quantity not acknowledged by the request */
const requireKnownQuantity = (
  { record, body }: PlanChangeRequest,
  { quantity }: SubscriptionPlan,
  product: Product | undefined,
): void => {
  const isSeen = body.quantity !== undefined || body.expected_cents !== undefined;
  if (isSeen || quantity === record.quantity || !product) return;
  const details = { min_quantity: product.min_quantity ?? 1, max_quantity: product.max_quantity ?? null };
  throw new DomainError('QUANTITY_INVALID', {
    message: `The product does not allow the current quantity ${record.quantity}; send quantity or expected_cents`,
    details,
  });
};

const presentPlan = (record: VisibleSubscription): SubscriptionPlan & { readonly currency: string } => {
  const { productId, productName, tierId, quantity, currency, billingInterval, intervalMultiplier } = record;
  const { subtotalCents, taxCents, discountCents, totalCents } = record;
  return {
    discount: asPlanDiscount(record),
    ...{ productId, productName, tierId, quantity, currency, billingInterval, intervalMultiplier },
    ...{ subtotalCents, taxCents, discountCents, totalCents },
  };
};

/**
 * The fields of a plan at a custom price. The sent prices are for the whole quantity. Product and membership stay the
 * same.
 */
const freePlan = (record: VisibleSubscription, body: ChangePlanBody): Partial<SubscriptionPlan> => {
  if (record.productId === undefined) quantityOf(body.quantity, undefined);
  const { billing_interval: unit, interval_multiplier: multiplier } = body;
  return {
    ...(hasPrice(body) && { ...derivePrices(body, 0), discount: undefined }),
    ...(body.quantity !== undefined && { quantity: body.quantity }),
    ...(unit && { billingInterval: unit, intervalMultiplier: multiplier ?? 1 }),
    ...(multiplier !== undefined && { intervalMultiplier: multiplier }),
  };
};

const COMPARED = [
  ...(['productId', 'quantity', 'subtotalCents', 'taxCents', 'discountCents', 'totalCents'] as const),
  ...(['billingInterval', 'intervalMultiplier'] as const),
];

/** True if product, quantity, prices and interval are equal. */
export const isSamePlan = (one: SubscriptionPlan, other: SubscriptionPlan): boolean =>
  COMPARED.every((field) => one[field] === other[field]);

/** True if this plan is scheduled already. */
export const isScheduled = ({ scheduledChange }: Subscription, plan: SubscriptionPlan): boolean =>
  scheduledChange !== undefined &&
  isSamePlan(scheduledChange.plan, plan) &&
  scheduledChange.plan.tierId === plan.tierId;

const requireDifference = (record: VisibleSubscription, plan: SubscriptionPlan): void => {
  if (!isSamePlan(record, plan)) return;
  throw invalid([{ path: 'product_id', rule: 'different', message: 'is the current plan; nothing would change' }]);
};

/** @throws DomainError if the provider cannot bill the interval or the total */
const requireBillable = async (
  provider: PaymentProvider,
  record: VisibleSubscription,
  plan: SubscriptionPlan,
): Promise<void> => {
  await requireAcceptedAmount(provider, { ...plan, currency: record.currency });
  if (!isProviderBilled(record) || provider.subscriptions?.bills(providerInterval(plan))) return;
  throw new DomainError('UNSUPPORTED_PROVIDER', {
    message: `${record.providerId} does not support this billing interval`,
  });
};

/** Longest trial that Stripe accepts. Such a trial covers the paid time after an interval change. */
const LONGEST_BRIDGE_MS = 730 * DAY_MS;

const requireBridge = (record: VisibleSubscription, { period, startsPeriod }: TimedChange, now: Instant): void => {
  if (!isProviderBilled(record) || !startsPeriod || period.end <= now + LONGEST_BRIDGE_MS) return;
  throw new DomainError('UNSUPPORTED_PROVIDER', {
    message: `${record.providerId} changes the interval only if its next charge is at most two years away`,
  });
};

const PREVIEW_KEPT_MS = 10 * MINUTE_MS;

/** The preview's time if the request names it, else now. @throws DomainError VALIDATION_ERROR if the preview expired */
const momentOf = (
  { proration_at: previewed }: ChangePlanBody,
  { currentPeriodStart, status }: VisibleSubscription,
  now: Instant,
): Instant => {
  if (previewed === undefined) return now;
  const at = instant(previewed);
  const isOfPeriod = status === 'trialing' || at >= instant(currentPeriodStart);
  if (at <= now && at >= now - PREVIEW_KEPT_MS && isOfPeriod) return at;
  const message = at > now ? 'must not be in the future' : 'is no longer valid; preview the change again';
  throw invalid([{ path: 'proration_at', rule: 'recent', message }]);
};

/** @throws DomainError INSUFFICIENT_PERMISSIONS for an immediate downgrade reserved for the merchant */
const chooseTime = (
  { planChange }: PlanChangeDeps,
  { body }: PlanChangeRequest,
  { isDowngrade, decision }: { readonly isDowngrade: boolean; readonly decision: MerchantDecision },
): ChangeTime => {
  const usual = isDowngrade ? planChange.downgrade : planChange.upgrade;
  const when = body.when ?? usual;
  if (when === 'now' && body.proration === 'none') requireMerchant(decision);
  if (when === usual || when === 'period_end' || !isDowngrade || decision.kind === 'allowed') return when;
  if (decision.kind === 'own payment') throw decision.refusal;
  throw new DomainError('INSUFFICIENT_PERMISSIONS', {
    message: 'A change to a cheaper plan takes effect at the end of the period; use period_end',
    details: { allowed: usual },
  });
};

/** @throws DomainError if the plan may not change during its current period */
const asOfNow = ({ record, body }: PlanChangeRequest, timed: TimedChange, now: Instant): TimedChange => {
  requirePeriodLeft(record, now);
  requireFirstPeriod(record);
  requirePeriodPaid(record);
  if (record.status !== 'trialing' && hasMostPayments(record)) throw tooManyChanges();
  return body.proration === 'none' ? waived(timed) : timed;
};

const tooManyChanges = (): DomainError =>
  new DomainError('INVALID_STATE', {
    message: 'The period has had too many paid changes; use period_end',
    details: { reason: 'too_many_changes' },
  });

/** A change at renewal costs nothing now. @throws DomainError if the subscription ends with its period */
const asOfRenewal = (record: VisibleSubscription, timed: TimedChange): TimedChange => {
  requireRenewal(record);
  const period = { start: instant(record.currentPeriodStart), end: instant(record.currentPeriodEnd) };
  return { ...timed, price: FREE_CHANGE, paying: undefined, period, trialEnd: undefined };
};

interface MethodWanted {
  readonly wanted: TimedChange;
  readonly method: PaymentMethod | undefined;
  readonly isClaiming: boolean;
}

/**
 * The method to charge now. A higher price for later periods also requires the right to charge the method.
 * @throws DomainError PAYMENT_METHOD_REQUIRED or INSUFFICIENT_PERMISSIONS
 */
const chargedMethod = async (
  { table }: PlanChangeDeps,
  { record, caller, asAdmin }: PlanChangeRequest,
  { wanted, method, isClaiming }: MethodWanted,
): Promise<UsableMethod | undefined> => {
  const isDue = wanted.price.due.totalCents > 0;
  if (isDue && asAdmin) {
    const message = 'Only the payer may make a change that is charged now; use period_end or proration none';
    throw new DomainError('INSUFFICIENT_PERMISSIONS', { message });
  }
  if (isDue && record.paymentMethodId === undefined) throw new DomainError('PAYMENT_METHOD_REQUIRED');
  const isRaised = wanted.plan.totalCents > record.totalCents;
  if (asAdmin || record.paymentMethodId === undefined || !(isDue || isRaised)) return undefined;
  if (isDue && isClaiming && mayClaimUnread(record)) return useHeld(caller, record, record);
  const held = await requireHeld({ table, caller }, record, { ...record, record: method });
  return isDue ? held : undefined;
};
