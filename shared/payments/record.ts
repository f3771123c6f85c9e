import type { RecordKind } from '../access/record-kind.ts';
import { PROVIDER_SLOTS } from '../settings.ts';
import { findAliasAnywhere } from '../table/alias.ts';
import { paymentKey } from '../table/keys.ts';
import { isShown, paymentOf, type VisiblePayment } from './payment.ts';

/** How a payment is found and whose it is. */
export const paymentRecord: RecordKind<VisiblePayment> = {
  resource: 'payment',
  key: paymentKey,
  parse: (item) => {
    const payment = paymentOf(item);
    return isShown(payment) ? payment : undefined;
  },
  ownedBy: ({ userId, organizationId, guestId, guestEmail }) => ({ userId, organizationId, guestId, guestEmail }),
  rule: 'owned',
  guestsRead: true,
};

/** The same, by an id at its provider. */
export const paymentByProviderId: RecordKind<VisiblePayment> = {
  ...paymentRecord,
  resolve: async (table, externalId) => {
    const alias = await findAliasAnywhere(table, PROVIDER_SLOTS, externalId);
    return alias?.kind === 'PAY' ? alias.id : undefined;
  },
};
