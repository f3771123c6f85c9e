import { lambda } from '../../shared/http/lambda.ts';
import { deleteOrganization } from '../../shared/organizations/remove.ts';
import { webDeps } from '../../shared/runtime.ts';
import { remove } from './endpoints.ts';

export const handler = lambda(remove, webDeps, deleteOrganization);
