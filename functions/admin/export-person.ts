import { exportPerson } from '../../shared/admin/export-person.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { exportPersonEndpoint } from './export-endpoints.ts';

export const handler = lambda(exportPersonEndpoint, webDeps, exportPerson);
