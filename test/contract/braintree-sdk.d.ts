/** Types of the parts of Braintree's full SDK that its test uses, because the SDK has no types. */
declare module 'braintree' {
  export class Environment {
    constructor(server: string, port: string, authUrl: string, ssl: boolean, graphServer: string, graphPort: string);
  }

  export interface Customer {
    readonly id: string;
    readonly firstName: string;
    readonly lastName: string;
    readonly email: string;
    readonly phone: string | null;
    readonly company: string;
    readonly merchantId: string;
    readonly createdAt: string;
    readonly creditCards: readonly unknown[];
    readonly paymentMethods: readonly unknown[];
  }

  export type CustomerFields = Partial<Pick<Customer, 'id' | 'firstName' | 'lastName' | 'email' | 'phone' | 'company'>>;

  export type Result =
    | { readonly success: true; readonly customer: Customer }
    | {
        readonly success: false;
        readonly message: string;
        readonly errors: { deepErrors(): readonly { readonly attribute: string; readonly code: string }[] };
      };

  export class BraintreeGateway {
    constructor(options: {
      readonly environment: Environment;
      readonly merchantId: string;
      readonly publicKey: string;
      readonly privateKey: string;
    });
    readonly config: { timeout: number; baseMerchantPath(): string };
    readonly customer: {
      create(fields: CustomerFields): Promise<Result>;
      find(customerId: string): Promise<Customer>;
      update(customerId: string, fields: CustomerFields): Promise<Result>;
      delete(customerId: string): Promise<void>;
    };
  }
}
