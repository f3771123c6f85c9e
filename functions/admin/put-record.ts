import { putRecord as useCase } from '../../shared/catalog/catalog-admin.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { putRecordEndpoint } from './reference-endpoints.ts';

export const handler = lambda(putRecordEndpoint, webDeps, useCase);
