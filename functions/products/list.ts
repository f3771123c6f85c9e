import { lambda } from '../../shared/http/lambda.ts';
import { listProducts } from '../../shared/queries/list-products.ts';
import { webDeps } from '../../shared/runtime.ts';
import { listProductsEndpoint } from './endpoints.ts';

export const handler = lambda(listProductsEndpoint, webDeps, listProducts);
