import { lambda } from '../../shared/http/lambda.ts';
import { deleteAddress } from '../../shared/removal/address.ts';
import { webDeps } from '../../shared/runtime.ts';
import { remove } from './endpoints.ts';

export const handler = lambda(remove, webDeps, deleteAddress);
