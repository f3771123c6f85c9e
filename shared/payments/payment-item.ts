/** @module The item of a payment, with its list keys, its due time and its end. */

import { ownerOfRecord } from '../access/record-kind.ts';
import { cutText, normalizedEmail } from '../core/text.ts';
import { epochSeconds, type Instant } from '../core/time.ts';
import { dueShard, listSort, ownerPartition, paymentKey, projectPartition } from '../platform/keys.ts';
import type { Item } from '../platform/table.ts';
import { forgottenAt, isShown, keptSecret, type Payment, storedFields } from './payment.ts';
import { nextPaymentDue } from './payment-due.ts';

const DESCRIPTION_IN_INDEX = 200;

const payersEmail = ({ guestEmail, userEmail }: Payment): string | undefined => {
  const email = guestEmail ?? userEmail;
  return email === undefined ? undefined : normalizedEmail(email);
};

/** The fields that lists filter by, in addition to `sort`; short names, because every change writes them. */
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

export const paymentItem = (payment: Payment, now: Instant): Item => {
  const endsAt = forgottenAt(payment);
  // An item with a ttl keeps no client secret and gets no reads for facts.
  const kept: Payment =
    endsAt === undefined
      ? { ...payment, clientSecret: keptSecret(payment, now) }
      : { ...payment, clientSecret: undefined, factsAt: undefined, factLooks: undefined };
  const owner = ownerOfRecord(payment);
  const dueAt = nextPaymentDue(kept);
  const listed = isShown(payment) && owner !== undefined;
  return {
    ...paymentKey(payment.id),
    ...storedFields(kept, listed),
    ...(listed && {
      owner: ownerPartition(owner, 'PAY'),
      sort: listSort(payment.createdAt, payment.id),
      f: listFields(payment),
      ...(payment.projectId && { project: projectPartition(payment.projectId, 'PAY') }),
    }),
    ...(dueAt && { due: dueShard(payment.id), due_at: dueAt }),
    ...(endsAt !== undefined && { ttl: epochSeconds(endsAt) }),
  };
};
