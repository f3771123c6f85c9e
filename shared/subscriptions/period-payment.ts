import type { WantedPayment } from '../payments/collect.ts';
import type { Subscription } from './subscription.ts';

/** What a subscription wants paid for a period, as a payment under this id. */
export const periodPayment = (subscription: Subscription, id: string): WantedPayment => {
  const { subtotalCents, taxCents, discountCents, totalCents, currency, projectId, productId } = subscription;
  const { userId, userEmail, guestId, guestEmail, guestName, organizationId } = subscription;
  const { customerId, providerCustomerId, paymentMethodId, methodRef, billingAddressId, providerId } = subscription;
  const { description, concept, referenceCode, category, tags } = subscription;
  return {
    id,
    subscriptionId: subscription.id,
    ...{ subtotalCents, taxCents, discountCents, totalCents, currency, projectId, productId },
    ...{ userId, userEmail, guestId, guestEmail, guestName, organizationId },
    ...{ customerId, providerCustomerId, paymentMethodId, methodRef, billingAddressId, providerId },
    ...{ description: description ?? concept, concept, referenceCode, category, tags },
  };
};
