/** @module A payment link sells one product or price to everyone who has its URL. It belongs to the merchant. */

import * as z from 'zod';
import type { RecordKind } from '../access/record-kind.ts';
import { PROVIDER_SLOTS } from '../core/settings.ts';
import { type Instant, instant } from '../core/time.ts';
import { LINKS_PARTITION, listSort, paymentLinkKey } from '../platform/keys.ts';
import { storedReader } from '../platform/stored-reader.ts';
import { asVersion, storedRecordFields, type VersionedShape } from '../platform/versioned-record.ts';
import type { LinkCounts } from './link-places.ts';

const optional = z.string().optional();

const linkPricesSchema = z.object({
  subtotalCents: z.int(),
  taxCents: z.int(),
  discountCents: z.int(),
  totalCents: z.int(),
  currency: z.string(),
});

const paymentLinkSchema = z.lazy(() =>
  z.object({
    ...storedRecordFields,
    /** A link has either its own prices or a product sold at its current price. */
    productId: optional,
    prices: linkPricesSchema.optional(),
    quantity: z.object({ min: z.int(), max: z.int() }).optional(),
    /** If empty, every slot that takes payments is offered. */
    providers: z.array(z.enum(PROVIDER_SLOTS)),
    description: optional,
    returnUrl: optional,
    maxPayments: z.int().optional(),
    expiresAt: optional,
    metadata: z.record(z.string(), z.json()).optional(),
    createdBy: z.string(),
    archivedAt: optional,
  }),
);
export type PaymentLink = z.infer<typeof paymentLinkSchema>;

const read = storedReader(paymentLinkSchema);

export const paymentLinkShape: VersionedShape<PaymentLink> = {
  key: paymentLinkKey,
  parse: (item) => (item['id'] === undefined ? undefined : read(item)),
  attributes: (link) => ({ ...link, owner: LINKS_PARTITION, sort: listSort(link.createdAt, link.id) }),
  asRead: asVersion,
};

export const paymentLinkOf = (item: Readonly<Record<string, unknown>>): PaymentLink | undefined =>
  paymentLinkShape.parse(item);

const isOver = ({ expiresAt }: PaymentLink, now: Instant): boolean =>
  expiresAt !== undefined && instant(expiresAt) <= now;

export const LINK_STATUSES = ['active', 'spent', 'expired', 'archived'] as const;

export const statusOfLink = (link: PaymentLink, counts: LinkCounts, now: Instant): (typeof LINK_STATUSES)[number] => {
  if (link.archivedAt !== undefined) return 'archived';
  if (isOver(link, now)) return 'expired';
  return link.maxPayments !== undefined && counts.taken >= link.maxPayments ? 'spent' : 'active';
};

/** The rule is open, because everyone with the URL may start a payment. Only the merchant reads the record. */
export const paymentLinkRecord: RecordKind<PaymentLink> = {
  resource: 'payment_link',
  key: paymentLinkKey,
  parse: paymentLinkOf,
  ownedBy: () => ({}),
  rule: 'open',
  opensPage: (link, now) => link.archivedAt === undefined && !isOver(link, now),
};
