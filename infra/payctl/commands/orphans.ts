/** @module Lists restored payments without an owner, so that the operator can name each owner. */

import { amountWithCurrency } from '../../../shared/core/money.ts';
import { isVisiblePayment, paymentOf, type VisiblePayment } from '../../../shared/payments/payment.ts';
import { WITHOUT_OWNER } from '../../../shared/payments/restore-payment.ts';
import type { Installation } from '../installation/installation.ts';
import { scanItems } from '../installation/scan-items.ts';
import { columns, type Report } from './report.ts';

/** Lists the oldest payment first. Reads the whole table. */
export const listOrphans = async (installation: Installation): Promise<Report> => {
  const found: VisiblePayment[] = [];
  for await (const item of scanItems(installation, 'PAY', WITHOUT_OWNER)) {
    const payment = paymentOf(item);
    if (isVisiblePayment(payment)) found.push(payment);
  }
  const orphans = found
    .toSorted((one, other) => one.createdAt.localeCompare(other.createdAt) || one.id.localeCompare(other.id))
    .map(orphanView);
  return {
    json: { count: orphans.length, payments: orphans },
    lines: [
      ...columns(
        orphans.map((one) => [
          one.payment_id,
          one.provider,
          one.provider_payment_id ?? '',
          one.status,
          amountWithCurrency(one.total_cents, one.currency),
          one.created_at,
          one.description ?? '',
        ]),
      ),
      orphans.length === 0
        ? 'no payment was restored without its owner'
        : `${orphans.length} payments restored without their owner; name each owner for drift --fix --owners`,
    ],
    exitCode: orphans.length > 0 ? 1 : 0,
  };
};

const orphanView = (payment: VisiblePayment) => ({
  payment_id: payment.id,
  provider: payment.providerId,
  provider_payment_id: payment.providerPaymentId ?? null,
  status: payment.status,
  total_cents: payment.totalCents,
  currency: payment.currency,
  created_at: payment.createdAt,
  description: payment.description ?? null,
});
