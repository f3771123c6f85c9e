/** @module The shape of a payment's item, with its list keys, its write conditions, its due time and its ttl. */

import { ownerOfRecord } from '../access/record-kind.ts';
import { cutText, normalizedEmail } from '../core/text.ts';
import { epochSeconds, type Instant, type Now } from '../core/time.ts';
import { giveBackSteps, isRedemption } from '../discounts/redemption.ts';
import type { Clause } from '../platform/expression.ts';
import { listSort, ownerPartition, paymentKey, projectPartition } from '../platform/keys.ts';
import type { Item } from '../platform/table.ts';
import { recordItem, type VersionedShape } from '../platform/versioned-record.ts';
import { forgottenAt, isShown, keptSecret, type Payment, paymentOf, storedFields } from './payment.ts';
import { nextPaymentDue } from './payment-due.ts';

const DESCRIPTION_IN_INDEX = 200;

const payersEmail = ({ guestEmail, userEmail }: Payment): string | undefined => {
  const email = guestEmail ?? userEmail;
  return email === undefined ? undefined : normalizedEmail(email);
};

/** The fields that lists filter by, in addition to `sort`. Their names are short, because every change writes them. */
const listFields = (payment: Payment) => ({
  s: payment.status,
  a: payment.totalCents,
  u: payment.updatedAt,
  o: payment.organizationId,
  j: payment.projectId,
  d: payment.productId,
  g: payment.guestId,
  c: payment.customerId,
  e: payersEmail(payment),
  t: payment.description && cutText(payment.description, DESCRIPTION_IN_INDEX).toLowerCase(),
});

/** An item with a ttl keeps no client secret and gets no reads for facts. */
const storedPayment = (payment: Payment, now: Instant): Payment =>
  forgottenAt(payment) === undefined
    ? { ...payment, clientSecret: keptSecret(payment, now) }
    : { ...payment, clientSecret: undefined, factsAt: undefined, factLooks: undefined };

const attributesOf = (payment: Payment): Item => {
  const endsAt = forgottenAt(payment);
  const owner = ownerOfRecord(payment);
  const listed = isShown(payment) && owner !== undefined;
  return {
    ...storedFields(payment, listed),
    ...(listed && {
      owner: ownerPartition(owner, 'PAY'),
      sort: listSort(payment.createdAt, payment.id),
      f: listFields(payment),
      ...(payment.projectId && { project: projectPartition(payment.projectId, 'PAY') }),
    }),
    ...(endsAt !== undefined && { ttl: epochSeconds(endsAt) }),
  };
};

/** Conditions that hold only if the draft has not changed since the payment was read. */
export const draftGuard = ({ draft, draftBusyUntil: until }: Payment): readonly Clause[] => {
  if (!draft) return [{ lacks: 'draft' }];
  return [{ has: 'draft' }, until === undefined ? { lacks: 'draftBusyUntil' } : { equals: ['draftBusyUntil', until] }];
};

/** Requires the expiry of the link that was read. Otherwise, the write would remove the expiry of a newer link. */
const linkGuard = ({ linkUntil }: Payment): readonly Clause[] =>
  linkUntil === undefined ? [{ lacks: 'linkUntil' }] : [{ equals: ['linkUntil', linkUntil] }];

export const paymentShape = (now: Now) =>
  ({
    key: paymentKey,
    parse: paymentOf,
    attributes: attributesOf,
    asRead: (was) => [
      { equals: ['version', was.version] },
      { equals: ['status', was.status] },
      { equals: ['attempt', was.attempt] },
      ...draftGuard(was),
      ...linkGuard(was),
    ],
    asTimed: ({ version }) => [{ equals: ['version', version] }],
    dueAt: nextPaymentDue,
    // An update that removes a code also returns the code's use. The stream returns all other uses.
    beside: (was, next) => {
      const held = was?.discount;
      return isRedemption(held) && held.redemption !== next.discount?.redemption ? giveBackSteps(held) : [];
    },
    stored: (payment) => storedPayment(payment, now()),
  }) satisfies VersionedShape<Payment>;

export const paymentItem = (payment: Payment, now: Instant): Item =>
  recordItem(
    paymentShape(() => now),
    payment,
  );
