import { isDeepStrictEqual } from 'node:util';
import type * as z from 'zod';
import { addressRecord, addressSchema } from '../../../shared/customers/address.ts';
import { customerRecord, customerSchema } from '../../../shared/customers/customer.ts';
import { paymentMethodRecord, paymentMethodSchema } from '../../../shared/payment-methods/payment-method.ts';
import { disputeOf, disputeSchema } from '../../../shared/payments/dispute.ts';
import { paymentOf, paymentSchema } from '../../../shared/payments/payment.ts';
import { refundOf, refundSchema } from '../../../shared/payments/refunds/refund.ts';
import { subscriptionOf, subscriptionSchema } from '../../../shared/subscriptions/record/subscription.ts';
import type { HistoryItem, Oracle } from '../model/history.ts';

/** The service reads its own writes without a check of their values, so each record is checked here. */

interface Kind {
  readonly read: (item: HistoryItem) => unknown;
  readonly schema: z.ZodType;
}

const KINDS: Readonly<Record<string, Kind>> = {
  PAY: { read: paymentOf, schema: paymentSchema },
  SUB: { read: subscriptionOf, schema: subscriptionSchema },
  CUS: { read: customerRecord.parse, schema: customerSchema },
  ADDR: { read: addressRecord.parse, schema: addressSchema },
  PM: { read: paymentMethodRecord.parse, schema: paymentMethodSchema },
  RFD: { read: refundOf, schema: refundSchema },
  DSP: { read: disputeOf, schema: disputeSchema },
};

const misfit = (item: HistoryItem): readonly string[] => {
  const kind = Object.hasOwn(KINDS, item['sk']) ? KINDS[item['sk']] : undefined;
  const isRecord = String(item['pk']).startsWith(`${item['sk']}#`);
  if (!kind || !isRecord || item['tombstone'] === true || item['deletedAt'] !== undefined) return [];
  const record = kind.read(item);
  if (record === undefined) return [];
  const { success, data, error } = kind.schema.safeParse(record);
  if (!success) return [`${item['pk']}: ${error.message}`];
  if (isDeepStrictEqual(data, record)) return [];
  return [`${item['pk']} has a field that its schema does not declare: ${JSON.stringify(record)}`];
};

export const storedAsDeclared: Oracle = {
  sentence: 'Every stored record has the fields and values that its schema declares',
  atRestOnly: false,
  violations: ({ items }) => items.flatMap(misfit),
};
