import { lambda } from '../../shared/http/lambda.ts';
import { updateOrganization } from '../../shared/organizations/update.ts';
import { webDeps } from '../../shared/runtime.ts';
import { update } from './endpoints.ts';

export const handler = lambda(update, webDeps, updateOrganization);
