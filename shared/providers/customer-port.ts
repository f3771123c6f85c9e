import type { CallOptions } from './payment-port.ts';

/** The parts of a name, for a provider that stores them separately. */
export interface NameParts {
  readonly given: string | undefined;
  readonly family: string | undefined;
}

export interface CustomerDetails {
  readonly email: string | undefined;
  readonly name: string | undefined;
  /** Set if the name is made of these parts. */
  readonly nameParts?: NameParts | undefined;
  readonly phone: string | undefined;
}

export type ContactField = 'email' | 'name' | 'phone';

/** The contact details that the provider reports. A null field was cleared; an absent field was not reported. */
export type ReportedDetails = { readonly [Field in ContactField]?: string | null | undefined } & {
  /** The parts of the reported name, if the provider stores them. */
  readonly nameParts?: NameParts | undefined;
  /** True if the provider omits empty fields. An absent field may then be empty instead of not reported. */
  readonly omitsUnset?: true;
};

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
