import type { TestProviderEvent } from '../flow/host.ts';

/** A payment's fields in events, from the service's view of the payment. */
interface ReportedPayment {
  readonly provider_payment_id: string;
  readonly total_cents: number;
  readonly currency: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** A provider_a event that agrees with the record. `object` overrides the payment's fields in the event. */
export const intentEvent = (
  payment: ReportedPayment,
  type: string,
  { object = {}, ...event }: Omit<Partial<TestProviderEvent>, 'object'> & { readonly object?: Fields } = {},
): TestProviderEvent => ({
  type,
  ...event,
  object: {
    id: payment.provider_payment_id,
    amount: payment.total_cents,
    currency: payment.currency.toLowerCase(),
    status: type.split('.')[1],
    customer: null,
    ...object,
  },
});
