import { createAddress } from '../../shared/customers/create-address.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { createAddressEndpoint } from './endpoints.ts';

export const handler = lambda(createAddressEndpoint, webDeps, createAddress);
