import { search } from '../../shared/admin/search.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { searchEndpoint } from './endpoints.ts';

export const handler = lambda(searchEndpoint, webDeps, search);
