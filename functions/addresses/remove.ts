import { lambda } from '../../shared/http/lambda.ts';
import { deleteAddress } from '../../shared/removal/remove-address.ts';
import { webDeps } from '../../shared/runtime.ts';
import { deleteAddressEndpoint } from './endpoints.ts';

export const handler = lambda(deleteAddressEndpoint, webDeps, deleteAddress);
