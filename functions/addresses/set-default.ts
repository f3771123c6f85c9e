import { setDefaultAddress } from '../../shared/customers/address.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { setDefaultAddressEndpoint } from './endpoints.ts';

export const handler = lambda(setDefaultAddressEndpoint, webDeps, setDefaultAddress);
