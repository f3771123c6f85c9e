/** @module Payment links, for the merchant: create, list, read, change and archive. */

import { isDeepStrictEqual } from 'node:util';
import type { Caller } from '../access/caller.ts';
import { type Product, productRecord } from '../catalog/catalog-records.ts';
import { priceOf, quantityOf } from '../catalog/price.ts';
import { DomainError, invalid, notFound } from '../core/errors.ts';
import type { IdDeps } from '../core/keyed-ids.ts';
import { DAY_MS, type Instant, instant, iso } from '../core/time.ts';
import { createOnce } from '../http/create-once.ts';
import { cursorReply, runList } from '../http/paging.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { type LinkCounts, linkCountsOf, readLinkCounts } from '../payment-links/link-places.ts';
import { type PaymentLink, paymentLinkOf, paymentLinkShape, statusOfLink } from '../payment-links/payment-link.ts';
import { decodeCursor, encodeCursor } from '../platform/cursor.ts';
import { LINKS_PARTITION, linkCountKey } from '../platform/keys.ts';
import { listRows } from '../platform/listing.ts';
import type { StoreDeps, TransactionStep } from '../platform/table.ts';
import { firstVersion, versionedRecord } from '../platform/versioned-record.ts';
import { openSlots } from '../queries/browser-config.ts';
import { type LinkDeps, linkUrl, requirePages, requireReturnUrl } from './page-settings.ts';
import type { PaymentLinkInput } from './payment-link-requests.ts';

const MOST_DAYS = 400;

type PaymentLinkDeps = StoreDeps & IdDeps & LinkDeps;

const storeOf = (deps: StoreDeps) => versionedRecord(deps, paymentLinkShape);

const viewOf = async (deps: PaymentLinkDeps, link: PaymentLink, counts: LinkCounts) => {
  const { prices } = link;
  return {
    id: link.id,
    url: await linkUrl(deps, { kind: 'payment_link', id: link.id }, undefined),
    status: statusOfLink(link, counts, deps.now()),
    product_id: link.productId ?? null,
    subtotal_cents: prices?.subtotalCents ?? null,
    tax_cents: prices?.taxCents ?? null,
    discount_cents: prices?.discountCents ?? null,
    total_cents: prices?.totalCents ?? null,
    currency: prices?.currency ?? null,
    quantity: link.quantity ?? null,
    providers: link.providers,
    description: link.description ?? null,
    return_url: link.returnUrl ?? null,
    max_payments: link.maxPayments ?? null,
    expires_at: link.expiresAt ?? null,
    metadata: link.metadata ?? {},
    payments: { open: counts.taken - counts.succeeded, succeeded: counts.succeeded },
    created_by: link.createdBy,
    created_at: link.createdAt,
    updated_at: link.updatedAt,
  };
};

/** The product or the prices of a link. */
type Sold = Pick<PaymentLink, 'productId' | 'prices' | 'quantity'>;

const PRICE_FIELDS = ['subtotal_cents', 'tax_cents', 'discount_cents', 'total_cents', 'currency'] as const;

const hasPrice = (body: PaymentLinkInput): boolean =>
  PRICE_FIELDS.some((field) => body[field] !== undefined && body[field] !== null);

const pricesIn = (body: PaymentLinkInput) => ({
  subtotal_cents: body.subtotal_cents ?? undefined,
  tax_cents: body.tax_cents ?? undefined,
  discount_cents: body.discount_cents ?? undefined,
  total_cents: body.total_cents ?? undefined,
  currency: body.currency ?? undefined,
});

/** @throws DomainError VALIDATION_ERROR, RESOURCE_NOT_FOUND, PRODUCT_INACTIVE, QUANTITY_INVALID, or as `priceOf` */
const soldBy = async (deps: StoreDeps, body: PaymentLinkInput): Promise<Sold> => {
  const quantity = body.quantity ?? undefined;
  if (body.product_id === undefined || body.product_id === null) {
    if (quantity) throw invalid([{ path: 'quantity', rule: 'required', message: 'needs product_id' }]);
    if (body.currency === undefined || body.currency === null) {
      throw invalid([{ path: 'currency', rule: 'required', message: 'is required without product_id' }]);
    }
    return { productId: undefined, prices: priceOf(pricesIn(body), undefined), quantity: undefined };
  }
  if (hasPrice(body)) {
    const sent = PRICE_FIELDS.filter((field) => body[field] !== undefined && body[field] !== null);
    throw invalid(sent.map((path) => ({ path, rule: 'product', message: 'is set by the product' })));
  }
  const product = await productToSell(deps, body.product_id);
  if (quantity) for (const one of [quantity.min, quantity.max]) quantityOf(one, product);
  else quantityOf(undefined, product);
  return { productId: product.id, prices: undefined, quantity };
};

const productToSell = async ({ table }: StoreDeps, id: string): Promise<Product> => {
  const item = await table.get(productRecord.key(id));
  const product = item && productRecord.parse(item);
  if (!product) throw notFound('product');
  if (product.billing_interval) {
    const message = 'is a recurring product; a payment link sells single payments only';
    throw invalid([{ path: 'product_id', rule: 'recurring', message }]);
  }
  priceOf({}, product);
  return product;
};

const requireEnd = (expiresAt: string | undefined, now: Instant): void => {
  if (expiresAt === undefined) return;
  const at = instant(expiresAt);
  if (at > now && at <= now + MOST_DAYS * DAY_MS) return;
  const message = `must be in the future, at most ${MOST_DAYS} days from now`;
  throw invalid([{ path: 'expires_at', rule: 'range', message }]);
};

/** @throws DomainError UNSUPPORTED_PROVIDER for a slot that takes no payments */
const requireSlots = ({ pages }: LinkDeps, slots: readonly string[]): void => {
  const open = openSlots(pages).map(({ provider_id: slot }) => slot as string);
  const closed = slots.find((slot) => !open.includes(slot));
  if (closed === undefined) return;
  throw new DomainError('UNSUPPORTED_PROVIDER', { message: `The slot ${closed} takes no payments` });
};

/**
 * Checks the return URL, the expiry and the providers of a link. Checks only changed values, because a client may send
 * back a link as it was read.
 */
const requireOffer = (deps: PaymentLinkDeps, body: PaymentLinkInput, link?: PaymentLink): void => {
  const { returnUrl, expiresAt, providers } = offeredBy(body);
  if (returnUrl !== link?.returnUrl) requireReturnUrl(deps.pages, returnUrl);
  if (expiresAt !== link?.expiresAt) requireEnd(expiresAt, deps.now());
  requireSlots(
    deps,
    providers.filter((slot) => !link?.providers.includes(slot)),
  );
};

const makerOf = (caller: Caller): string => {
  if (caller.kind === 'session') return caller.userId;
  return caller.kind === 'key' ? caller.key.id : '';
};

export const createPaymentLink = async (
  deps: PaymentLinkDeps,
  { body, caller, idempotency }: ApiRequest<unknown, unknown, PaymentLinkInput>,
): Promise<Reply> => {
  await requirePages(deps);
  requireOffer(deps, body);
  const sold = await soldBy(deps, body);
  const { record, replayed } = await createOnce<PaymentLink>(deps, {
    store: storeOf(deps),
    kind: 'payment_link',
    idempotency,
    build: async (id) => ({
      id,
      ...firstVersion(iso(deps.now()), idempotency),
      ...sold,
      ...offeredBy(body),
      createdBy: makerOf(caller),
    }),
  });
  const counts = replayed ? await readLinkCounts(deps.table, record.id) : linkCountsOf(undefined);
  return {
    data: await viewOf(deps, record, counts),
    ...(replayed && { headers: { 'idempotent-replayed': 'true' } }),
  };
};

const offeredBy = (body: PaymentLinkInput) => ({
  providers: [...new Set(body.providers ?? [])],
  description: body.description ?? undefined,
  returnUrl: body.return_url ?? undefined,
  maxPayments: body.max_payments ?? undefined,
  expiresAt: body.expires_at ? iso(instant(body.expires_at)) : undefined,
  metadata: body.metadata ?? undefined,
});

const LIST = 'payment links';

interface PageQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** Lists all links, newest first, including archived links. */
export const listPaymentLinks = async (
  deps: PaymentLinkDeps,
  { query: { limit, cursor } }: ApiRequest<unknown, PageQuery>,
): Promise<Reply> => {
  await requirePages(deps);
  const { table } = deps;
  return runList(table, {
    findPage: () =>
      listRows(table, {
        ...{ index: 'owner', partition: LINKS_PARTITION, descending: true, filter: [], offset: 0, limit },
        ...(cursor !== undefined && { cursor: decodeCursor(cursor, { list: LIST }) }),
      }),
    recordOf: paymentLinkOf,
    readAlongside: ({ rows }) => table.getMany(rows.map(({ pk }) => linkCountKey(idIn(pk)))),
    viewsOf: (links, items = []) => {
      const counts = new Map(items.flatMap((item) => (item ? [[idIn(String(item['pk'])), linkCountsOf(item)]] : [])));
      return Promise.all(links.map((link) => viewOf(deps, link, counts.get(link.id) ?? linkCountsOf(undefined))));
    },
    replyOf: (views, { next }) => cursorReply(views, { limit, cursor: next && encodeCursor(next, LIST) }),
  });
};

const idIn = (pk: string): string => pk.slice(pk.indexOf('#') + 1);

type OfLink<Body = unknown> = ApiRequest<unknown, unknown, Body, PaymentLink>;

export const paymentLinkAsRead = async (deps: PaymentLinkDeps, { record }: OfLink) => {
  await requirePages(deps);
  return viewOf(deps, record, await readLinkCounts(deps.table, record.id));
};

export const getPaymentLink = async (deps: PaymentLinkDeps, request: OfLink): Promise<Reply> => ({
  data: await paymentLinkAsRead(deps, request),
});

/**
 * @throws DomainError INVALID_STATE for an archived link, or for another product, price or quantity once a payment
 * exists
 */
export const updatePaymentLink = async (
  deps: PaymentLinkDeps,
  { record, body }: OfLink<PaymentLinkInput>,
): Promise<Reply> => {
  await requirePages(deps);
  requireOffer(deps, body, record);
  const sold = await soldAfter(deps, record, body);
  const isOther = !isSame(sold, record);
  const { record: changed, unmet } = await storeOf(deps).change(
    record,
    (current) => {
      if (current.archivedAt !== undefined) {
        throw new DomainError('INVALID_STATE', { message: 'The payment link is archived' });
      }
      const next = { ...current, ...(isOther && sold), ...changesIn(body) };
      return { ...next, version: current.version + 1, updatedAt: iso(deps.now()) };
    },
    () => (isOther ? [unsold(record.id)] : []),
  );
  if (unmet) throw pricesFixed();
  return { data: await viewOf(deps, changed, await readLinkCounts(deps.table, record.id)) };
};

const unsold = (id: string): TransactionStep => ({
  check: linkCountKey(id),
  if: [{ any: [{ absent: true }, { lacks: 'made' }] }],
});

const pricesFixed = (): DomainError =>
  new DomainError('INVALID_STATE', {
    message: 'The link has payments, so product, prices and quantity can no longer change; create another link',
  });

/** The product or the prices after the change. They stay if the body omits them. */
const soldAfter = async (deps: StoreDeps, link: PaymentLink, body: PaymentLinkInput): Promise<Sold> => {
  const { productId, prices, quantity } = link;
  const named = body.product_id ?? undefined;
  const leavesProduct = body.product_id === null && productId !== undefined;
  if (named !== undefined && named !== productId) return soldBy(deps, body);
  if (hasPrice(body) || leavesProduct) {
    return soldBy(deps, { ...body, currency: body.currency ?? prices?.currency });
  }
  if (body.quantity === undefined || isDeepStrictEqual(body.quantity, quantity)) return { productId, prices, quantity };
  if (body.quantity === null) return { productId, prices, quantity: undefined };
  return soldBy(deps, { product_id: productId, quantity: body.quantity });
};

const isSame = (one: Sold, other: Sold): boolean =>
  JSON.stringify([one.productId, one.prices, one.quantity]) ===
  JSON.stringify([other.productId, other.prices, other.quantity]);

const changesIn = (body: PaymentLinkInput): Partial<PaymentLink> => {
  const offered = offeredBy(body);
  return {
    ...(body.providers !== undefined && { providers: offered.providers }),
    ...(body.description !== undefined && { description: offered.description }),
    ...(body.return_url !== undefined && { returnUrl: offered.returnUrl }),
    ...(body.max_payments !== undefined && { maxPayments: offered.maxPayments }),
    ...(body.expires_at !== undefined && { expiresAt: offered.expiresAt }),
    ...(body.metadata !== undefined && { metadata: offered.metadata }),
  };
};

/** Archives the record. Payments already started can still be paid. */
export const archivePaymentLink = async (deps: PaymentLinkDeps, { record }: OfLink): Promise<Reply> => {
  await requirePages(deps);
  await storeOf(deps).change(record, (current) =>
    current.archivedAt === undefined
      ? { ...current, archivedAt: iso(deps.now()), version: current.version + 1, updatedAt: iso(deps.now()) }
      : undefined,
  );
  return { data: undefined };
};
