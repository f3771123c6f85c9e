import type { PaymentMethod } from './payment-method.ts';

export const methodView = (method: PaymentMethod, isDefault: boolean) => ({
  id: method.id,
  provider_id: method.providerId,
  provider_payment_method_id: method.providerMethodId,
  type: method.type,
  wallet_type: method.walletType ?? null,
  card_brand: method.cardBrand ?? null,
  card_last_four: method.lastFour ?? null,
  card_exp_month: method.expiryMonth ?? null,
  card_exp_year: method.expiryYear ?? null,
  billing_address_id: method.billingAddressId ?? null,
  customer_id: method.customerId ?? null,
  is_default: isDefault,
  alias: method.alias ?? null,
  is_guest_method: method.guestId !== undefined,
  ...(method.organizationId && { organization_id: method.organizationId }),
  created_at: method.createdAt,
  updated_at: method.updatedAt,
});
