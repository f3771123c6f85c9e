/** @module What a request to change a plan asks for, checked and priced. Preview and change both start with this. */

import { type MerchantDecision, ownPayment } from '../access/own-payment.ts';
import { type CallerRight, NO_CONDITIONS } from '../access/right.ts';
import { type Product, productRecord } from '../catalog/catalog-records.ts';
import { quantityOf } from '../catalog/price.ts';
import { DomainError, invalid } from '../core/errors.ts';
import { derivePrices } from '../core/money.ts';
import { DAY_MS, type Instant, instant, MINUTE_MS, startOfSecond } from '../core/time.ts';
import type { ApiRequest } from '../http/request.ts';
import { type PaymentMethod, paymentMethodRecord } from '../payment-methods/payment-method.ts';
import { requireHeld, type UsableMethod, useHeld } from '../payment-methods/usable-method.ts';
import { requireAcceptedAmount } from '../payments/accepted-amount.ts';
import type { SubscriptionDeps } from './biller.ts';
import { isLentByOther, isLowered, lentError } from './lent-method.ts';
import { firstPeriod } from './periods.ts';
import type { SubscriptionPlan } from './plan-change.ts';
import { FREE_CHANGE, linesOfChange, priceOfChange } from './plan-change-price.ts';
import { requirePeriodLeft, requirePeriodPaid, requirePlanChangeable, requireRenewal } from './plan-change-states.ts';
import type { PricedChange } from './plan-change-steps.ts';
import { providerInterval } from './provider-biller.ts';
import { isProviderBilled, type Subscription, type VisibleSubscription } from './subscription.ts';
import { planOf } from './subscription-plan.ts';
import type { ChangePlanBody, ChangeTime } from './subscription-requests.ts';

export interface PlanChangeDeps extends SubscriptionDeps {
  /** When a change takes effect whose request does not say. */
  readonly planChange: { readonly upgrade: ChangeTime; readonly downgrade: ChangeTime };
}

export type PlanChangeRequest = ApiRequest<unknown, unknown, ChangePlanBody, VisibleSubscription>;

export interface WantedChange extends PricedChange {
  readonly kind: 'upgrade' | 'downgrade';
  readonly when: ChangeTime;
  /** The method to charge; undefined if nothing is due. */
  readonly method: UsableMethod | undefined;
  /** The right of the merchant, if the merchant decides. The write that claims the change includes its conditions. */
  readonly merchantRight: CallerRight;
}

/**
 * @param options.isClaiming true if a write claims the charge of the method, and checks it
 * @throws DomainError for every reason that refuses the change before a charge
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
  const plan = wantedPlan(request, known.product);
  requireLender(request, plan, known.method);
  requireDifference(record, plan);
  await requireBillable(deps, record, plan);
  const timed = timedChange(record, { plan, product: known.product }, momentOf(body, record, deps.now()));
  const when = chooseTime(deps, request, { isDowngrade: timed.kind === 'downgrade', decision });
  const wanted = when === 'now' ? changeNow(request, timed, deps.now()) : changeLater(record, timed);
  requireBridge(record, wanted, deps.now());
  await requirePayable(deps, request, wanted);
  const method = await chargedMethod(deps, request, { wanted, method: known.method, isClaiming });
  return { ...wanted, method, merchantRight: decision.kind === 'allowed' ? decision.right : NO_CONDITIONS };
};

const PRICE_FIELDS = ['subtotal_cents', 'tax_cents', 'discount_cents', 'total_cents'] as const;

const hasPrice = (body: ChangePlanBody): boolean => PRICE_FIELDS.some((field) => body[field] !== undefined);

/** A price or an interval without a product. */
const isFreePrice = (body: ChangePlanBody): boolean =>
  body.product_id === undefined &&
  (hasPrice(body) || body.billing_interval !== undefined || body.interval_multiplier !== undefined);

/** @throws DomainError INSUFFICIENT_PERMISSIONS if only the merchant, or only the payer, may do this */
const requireRights = ({ body, asAdmin }: PlanChangeRequest, decision: MerchantDecision): void => {
  const isFree = isFreePrice(body);
  const isFreeNow = body.proration === 'none' && body.when === 'now';
  if (isFree || isFreeNow) requireMerchant(decision);
  if (!asAdmin || isFree) return;
  throw new DomainError('INSUFFICIENT_PERMISSIONS', {
    message: 'Only the payer changes to a product or quantity; a service key may act for the payer',
  });
};

const requireMerchant = (decision: MerchantDecision): void => {
  if (decision.kind !== 'allowed') throw decision.refusal;
};

/** @throws DomainError INSUFFICIENT_PERMISSIONS if another member lent the method, unless the merchant lowers the price */
const requireLender = (
  { caller, record, asAdmin }: PlanChangeRequest,
  plan: SubscriptionPlan,
  method: PaymentMethod | undefined,
): void => {
  if (isLentByOther(caller, record, method) && !(asAdmin && isLowered(record, plan))) throw lentError();
};

interface KnownRecords {
  readonly product: Product | undefined;
  /** Undefined if it was not read, or no longer exists. */
  readonly method: PaymentMethod | undefined;
}

/** Reads the present product, if the change keeps it, and the method in one request. */
const readRecords = async (
  { table }: PlanChangeDeps,
  { record, body, named }: PlanChangeRequest,
  isClaiming: boolean,
): Promise<KnownRecords> => {
  const productId = body.product_id === undefined && !isFreePrice(body) ? record.productId : undefined;
  const methodId = isClaiming && mayClaimUnread(record) ? undefined : record.paymentMethodId;
  const keys = [
    ...(productId === undefined ? [] : [productRecord.key(productId)]),
    ...(methodId === undefined ? [] : [paymentMethodRecord.key(methodId)]),
  ];
  const items = keys.length === 0 ? [] : await table.getMany(keys, { consistent: true });
  const product = productId === undefined ? undefined : items[0];
  const method = methodId === undefined ? undefined : items.at(-1);
  return {
    product: named(productRecord) ?? (product && productRecord.parse(product)),
    method: method && paymentMethodRecord.parse(method),
  };
};

/** A person's method is no other member's, so the write that claims the charge checks it, and it need not be read. */
const mayClaimUnread = ({ organizationId }: VisibleSubscription): boolean => organizationId === undefined;

/** @throws DomainError PRODUCT_INACTIVE, PRICING_MISMATCH or QUANTITY_INVALID */
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
  const quantity = quantityOf(body.quantity ?? record.quantity, product);
  const { currency: _, ...plan } = planOf({ ...body, quantity, currency }, product);
  return plan;
};

const presentPlan = (record: VisibleSubscription): SubscriptionPlan & { readonly currency: string } => {
  const { productId, productName, tierId, quantity, currency, billingInterval, intervalMultiplier } = record;
  const { subtotalCents, taxCents, discountCents, totalCents } = record;
  return {
    ...{ productId, productName, tierId, quantity, currency, billingInterval, intervalMultiplier },
    ...{ subtotalCents, taxCents, discountCents, totalCents },
  };
};

/** The prices are for the whole quantity. The product stays, with its membership. */
const freePlan = (record: VisibleSubscription, body: ChangePlanBody): Partial<SubscriptionPlan> => {
  if (record.productId === undefined) quantityOf(body.quantity, undefined);
  const { billing_interval: unit, interval_multiplier: multiplier } = body;
  return {
    ...(hasPrice(body) && derivePrices(body, 0)),
    ...(body.quantity !== undefined && { quantity: body.quantity }),
    ...(unit && { billingInterval: unit, intervalMultiplier: multiplier ?? 1 }),
    ...(multiplier !== undefined && { intervalMultiplier: multiplier }),
  };
};

const COMPARED = [
  ...(['productId', 'quantity', 'subtotalCents', 'taxCents', 'discountCents', 'totalCents'] as const),
  ...(['billingInterval', 'intervalMultiplier'] as const),
];

/** True if both charge the same for the same. */
const isSamePlan = (one: SubscriptionPlan, other: SubscriptionPlan): boolean =>
  COMPARED.every((field) => one[field] === other[field]);

/** True if this plan is scheduled already. */
export const isScheduled = ({ scheduledChange }: Subscription, plan: SubscriptionPlan): boolean =>
  scheduledChange !== undefined &&
  isSamePlan(scheduledChange.plan, plan) &&
  scheduledChange.plan.tierId === plan.tierId;

const requireDifference = (record: VisibleSubscription, plan: SubscriptionPlan): void => {
  if (!isSamePlan(record, plan)) return;
  throw invalid([{ path: 'product_id', rule: 'different', message: 'is the present plan; nothing would change' }]);
};

/** @throws DomainError if the provider cannot bill the interval or the total */
const requireBillable = async (
  { providers }: PlanChangeDeps,
  record: VisibleSubscription,
  plan: SubscriptionPlan,
): Promise<void> => {
  const provider = await providers.require(record.providerId, 'payments');
  await requireAcceptedAmount(provider, { ...plan, currency: record.currency });
  if (!isProviderBilled(record) || provider.subscriptions?.bills(providerInterval(plan))) return;
  throw new DomainError('UNSUPPORTED_PROVIDER', { message: `${record.providerId} does not bill this interval` });
};

/** Stripe accepts no trial that ends later than this. It covers the paid time after a change of the interval. */
const LONGEST_BRIDGE_MS = 730 * DAY_MS;

const requireBridge = (record: VisibleSubscription, { period, startsPeriod }: Timed, now: Instant): void => {
  if (!isProviderBilled(record) || !startsPeriod || period.end <= now + LONGEST_BRIDGE_MS) return;
  throw new DomainError('UNSUPPORTED_PROVIDER', {
    message: `${record.providerId} changes the interval only if its next charge is at most two years away`,
  });
};

const PREVIEW_KEPT_MS = 10 * MINUTE_MS;

/** The time of the request, or of a preview. @throws DomainError VALIDATION_ERROR if the preview no longer holds */
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

type TimedChange = Omit<WantedChange, 'when' | 'method' | 'merchantRight'>;

interface Target {
  readonly plan: SubscriptionPlan;
  readonly product: Product | undefined;
}

/** The change as if it took effect at this moment. */
const timedChange = (record: VisibleSubscription, target: Target, at: Instant): TimedChange => {
  const { plan } = target;
  const period = { start: instant(record.currentPeriodStart), end: instant(record.currentPeriodEnd) };
  if (record.status === 'trialing') return changeInTrial(record, target, at);
  if (at >= period.end) {
    return { plan, kind: 'upgrade', at, price: FREE_CHANGE, lines: [], period, startsPeriod: false };
  }
  const { billingInterval, intervalMultiplier } = record;
  const startsPeriod = plan.billingInterval !== billingInterval || plan.intervalMultiplier !== intervalMultiplier;
  const price = priceOfChange({ from: record, to: plan, period, at, startsPeriod });
  const next = startsPeriod ? firstPeriod(plan, at) : period;
  const lines = linesOfChange(price, { from: record, to: plan, period, at, startsPeriod, next });
  const kind = price.forfeitedCents > 0 ? 'downgrade' : 'upgrade';
  return { plan, kind, at, price, lines, period: { start: next.start, end: next.end }, startsPeriod };
};

/**
 * A trial that goes on costs nothing. Another product keeps at most its own trial, counted from the subscription's
 * beginning. If that is over, the trial ends, and a first period begins at the full price.
 */
const changeInTrial = (record: VisibleSubscription, { plan, product }: Target, at: Instant): TimedChange => {
  const [start, end] = [instant(record.currentPeriodStart), instant(record.currentPeriodEnd)];
  const isOther = product !== undefined && plan.productId === product.id && plan.productId !== record.productId;
  const ownEnd = isOther ? startOfSecond(instant(record.createdAt) + product.trial_days * DAY_MS) : end;
  const trialEnd = Math.min(end, ownEnd);
  const changed = { plan, kind: 'upgrade' as const, at, ...(trialEnd < end && { trialEnd }) };
  if (trialEnd > at) {
    return { ...changed, price: FREE_CHANGE, lines: [], period: { start, end: trialEnd }, startsPeriod: false };
  }
  const period = firstPeriod(plan, at);
  const terms = { to: plan, period, at, startsPeriod: true };
  const price = priceOfChange({ ...terms, from: FREE_CHANGE.part });
  return { ...changed, ...terms, price, lines: linesOfChange(price, { ...terms, from: record, next: period }) };
};

/** @throws DomainError INSUFFICIENT_PERMISSIONS for a downgrade now that the settings leave to the merchant */
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
    message: 'A change to a cheaper plan takes effect at the end of the period',
    details: { allowed: usual },
  });
};

type Timed = Omit<WantedChange, 'method' | 'merchantRight'>;

const changeNow = ({ record, body }: PlanChangeRequest, timed: TimedChange, now: Instant): Timed => {
  requirePeriodLeft(record, now);
  requirePeriodPaid(record);
  return body.proration === 'none'
    ? { ...timed, when: 'now', price: FREE_CHANGE, lines: [] }
    : { ...timed, when: 'now' };
};

const changeLater = (record: VisibleSubscription, timed: TimedChange): Timed => {
  requireRenewal(record);
  const period = { start: instant(record.currentPeriodStart), end: instant(record.currentPeriodEnd) };
  return { ...timed, when: 'period_end', price: FREE_CHANGE, lines: [], period, trialEnd: undefined };
};

/** @throws DomainError PRICE_CHANGED, or the reason why the provider cannot charge what is due */
const requirePayable = async (
  { providers }: PlanChangeDeps,
  { record, body }: PlanChangeRequest,
  { price }: Timed,
): Promise<void> => {
  const { totalCents } = price.due;
  if (body.expected_cents !== undefined && body.expected_cents !== totalCents) {
    throw new DomainError('PRICE_CHANGED', { details: { due_now_cents: totalCents } });
  }
  const provider = await providers.require(record.providerId, 'payments');
  try {
    await requireAcceptedAmount(provider, { totalCents, currency: record.currency });
  } catch (error) {
    throw error instanceof DomainError ? dueError(error, `${totalCents} in ${record.currency}`) : error;
  }
  if (!price.isRoundedAway) return;
  const refusal = await provider.checkAmount({ amountCents: 1, currency: record.currency });
  const minimum = refusal?.kind === 'too small' ? refusal.minimumCents : 1;
  const details = { minimum_cents: minimum, currency: record.currency };
  throw dueError(new DomainError('AMOUNT_TOO_SMALL', { details }), `Less than 1 in ${record.currency}`);
};

/** The refusal of the amount that is due, with what the payer can do. */
const dueError = (error: DomainError, amount: string): DomainError => {
  const message = `${amount} is due now, which the provider cannot charge; use period_end`;
  if (error.code === 'AMOUNT_TOO_SMALL') return new DomainError(error.code, { message, details: error.details ?? [] });
  return error.code === 'VALIDATION_ERROR' ? invalid([{ path: 'when', rule: 'provider', message }]) : error;
};

interface MethodWanted {
  readonly wanted: Timed;
  readonly method: PaymentMethod | undefined;
  readonly isClaiming: boolean;
}

/**
 * The method to charge now. A higher price for later periods needs the right to charge it, too.
 * @throws DomainError PAYMENT_METHOD_REQUIRED or INSUFFICIENT_PERMISSIONS
 */
const chargedMethod = async (
  { table }: PlanChangeDeps,
  { record, caller, asAdmin }: PlanChangeRequest,
  { wanted, method, isClaiming }: MethodWanted,
): Promise<UsableMethod | undefined> => {
  const isDue = wanted.price.due.totalCents > 0;
  if (isDue && asAdmin) {
    const message = 'Only the payer pays now; use period_end or proration none';
    throw new DomainError('INSUFFICIENT_PERMISSIONS', { message });
  }
  if (isDue && record.paymentMethodId === undefined) throw new DomainError('PAYMENT_METHOD_REQUIRED');
  const isRaised = wanted.plan.totalCents > record.totalCents;
  if (asAdmin || record.paymentMethodId === undefined || !(isDue || isRaised)) return undefined;
  if (isDue && isClaiming && mayClaimUnread(record)) return useHeld(caller, record, record);
  const held = await requireHeld({ table, caller }, record, { ...record, record: method });
  return isDue ? held : undefined;
};
