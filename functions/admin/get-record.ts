import { getRecord as useCase } from '../../shared/catalog/catalog-admin.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { getRecordEndpoint } from './reference-endpoints.ts';

export const handler = lambda(getRecordEndpoint, webDeps, useCase);
