/**
 * @module Opens the customer gateway of Braintree's SDK. Only the SDK's files for customers are imported, because the
 * whole SDK would double the bundle. The SDK sends JSON and receives XML, over node:http instead of fetch.
 */

import { Config } from 'braintree/lib/braintree/config.js';
import { CustomerGateway } from 'braintree/lib/braintree/customer_gateway.js';
import { Environment } from 'braintree/lib/braintree/environment.js';
import { Http } from 'braintree/lib/braintree/http.js';

export interface BraintreeGatewayOptions {
  readonly merchantId: string;
  readonly publicKey: string;
  readonly privateKey: string;
  /** The URL of a sandbox or simulator, with any path; empty for Braintree's production URL. */
  readonly baseUrl: string;
  readonly timeoutMs: number;
}

export const customerGateway = ({ timeoutMs, baseUrl, ...credentials }: BraintreeGatewayOptions): CustomerGateway => {
  const config = new Config({ ...credentials, environment: environmentOf(baseUrl) });
  config.timeout = timeoutMs;
  if (baseUrl !== '') {
    const prefix = new URL(baseUrl).pathname.replace(/\/$/, '');
    config.baseMerchantPath = () => `${prefix}/merchants/${credentials.merchantId}`;
  }
  return new CustomerGateway({ config, http: new Http(config) });
};

const environmentOf = (baseUrl: string): Environment => {
  if (baseUrl === '') return Environment.Production;
  const { hostname, port, protocol } = new URL(baseUrl);
  const isSecure = protocol === 'https:';
  return new Environment(hostname, port || (isSecure ? '443' : '80'), '', isSecure, '', '');
};
