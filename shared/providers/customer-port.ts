import type { CallOptions } from './payment-port.ts';

export interface CustomerDetails {
  readonly email: string | undefined;
  readonly name: string | undefined;
  readonly phone: string | undefined;
}

export type ContactField = keyof CustomerDetails;

/** The details in a report of the provider: null is cleared, an absent field is not reported. */
export type ReportedDetails = { readonly [Field in ContactField]?: string | null | undefined };

export interface CreateCustomer extends CustomerDetails, CallOptions {
  readonly ourCustomerId: string;
}

/** A field that is undefined stays unchanged, unless `cleared` lists it. */
export interface UpdateCustomer extends CustomerDetails, CallOptions {
  readonly customerId: string;
  readonly cleared: readonly ContactField[];
}

export interface ProviderCustomer {
  /** The provider's id; our own id where the provider gives one only with the first saved method. */
  readonly customerId: string;
}
