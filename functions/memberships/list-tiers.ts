import { listTiers as useCase } from '../../shared/catalog/public-catalog.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { listTiersEndpoint } from './endpoints.ts';

export const handler = lambda(listTiersEndpoint, webDeps, useCase);
