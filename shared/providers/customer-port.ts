import type { CallOptions } from './payment-port.ts';

export interface CustomerDetails {
  readonly email: string | undefined;
  readonly name: string | undefined;
  readonly phone: string | undefined;
}

export type ContactField = keyof CustomerDetails;

/** The contact details that the provider reports. A null field was cleared; an absent field was not reported. */
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
  /** The provider's id; our own id if the provider assigns an id only with the first saved method. */
  readonly customerId: string;
}
