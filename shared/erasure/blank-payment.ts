import { type Instant, iso } from '../core/time.ts';
import { codeOnly } from '../observability/person-fields.ts';
import { type VisiblePayment, wantsMethodSaved } from '../payments/record/payment.ts';

/** The fields with which a payment names its person. */
const PERSON = { userEmail: undefined, guestEmail: undefined, guestName: undefined, guestPhone: undefined } as const;

/** Free texts of the caller: any of them may name the person. */
const TEXTS = {
  description: undefined,
  concept: undefined,
  tags: undefined,
  metadata: undefined,
  returnUrl: undefined,
  nextAction: undefined,
  clientSecret: undefined,
} as const;

/**
 * The next version of a payment without its person. Amounts, dates, ids and the status stay. A payment of an organization keeps
 * the organization's texts. @returns the same payment if there is nothing to blank
 */
export const blankPayment = (payment: VisiblePayment, now: Instant): VisiblePayment => {
  const isPersonal = payment.organizationId === undefined;
  if (isPersonal ? payment.erasedAt !== undefined : payment.userEmail === undefined) return payment;
  const version = {
    cause: 'erasure',
    // The cause of a version names its refund or dispute only if it is one.
    refund: undefined,
    dispute: undefined,
    version: payment.version + 1,
    updatedAt: iso(now),
  } as const;
  if (!isPersonal) return { ...payment, userEmail: undefined, ...version };
  return {
    ...payment,
    ...PERSON,
    ...TEXTS,
    referenceCode: codeOnly(payment.referenceCode),
    category: codeOnly(payment.category),
    ...(wantsMethodSaved(payment) && { methodNotKept: true as const }),
    erasedAt: iso(now),
    ...version,
  };
};
