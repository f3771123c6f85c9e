import { listTiers as useCase } from '../../shared/catalog/public.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { listTiersEndpoint } from './endpoints.ts';

export const handler = lambda(listTiersEndpoint, webDeps, useCase);
