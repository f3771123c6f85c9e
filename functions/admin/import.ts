import { importRecords } from '../../shared/admin/import-records.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { importDeps } from '../../shared/runtime.ts';
import { importEndpoint } from './import-endpoints.ts';

export const handler = lambda(importEndpoint, importDeps, importRecords);
