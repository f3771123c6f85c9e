import { search } from '../../shared/admin/search.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { userDeps } from '../../shared/runtime.ts';
import { searchEndpoint } from './endpoints.ts';

export const handler = lambda(searchEndpoint, userDeps, search);
