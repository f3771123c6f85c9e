/** @module Types for the used parts of Braintree's SDK, which ships no types. Responses are parsed, not trusted. */

declare module 'braintree/lib/braintree/environment.js' {
  export class Environment {
    static readonly Production: Environment;
    constructor(server: string, port: string, authUrl: string, ssl: boolean, graphServer: string, graphPort: string);
  }
}

declare module 'braintree/lib/braintree/config.js' {
  import type { Environment } from 'braintree/lib/braintree/environment.js';

  export class Config {
    constructor(options: { environment: Environment; merchantId: string; publicKey: string; privateKey: string });
    /** In milliseconds. */
    timeout: number;
    baseMerchantPath(): string;
  }
}

declare module 'braintree/lib/braintree/http.js' {
  import type { Config } from 'braintree/lib/braintree/config.js';

  export class Http {
    constructor(config: Config);
  }
}

declare module 'braintree/lib/braintree/customer_gateway.js' {
  import type { Config } from 'braintree/lib/braintree/config.js';
  import type { Http } from 'braintree/lib/braintree/http.js';

  export class CustomerGateway {
    constructor(gateway: { readonly config: Config; readonly http: Http });
    create(attributes: Readonly<Record<string, string>>): Promise<unknown>;
    update(customerId: string, attributes: Readonly<Record<string, string>>): Promise<unknown>;
    delete(customerId: string): Promise<unknown>;
  }
}
