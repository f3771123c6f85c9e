import { lambda } from '../../shared/http/lambda.ts';
import { deleteOrganization } from '../../shared/removal/remove-organization.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { deleteOrganizationEndpoint } from './endpoints.ts';

export const handler = lambda(deleteOrganizationEndpoint, moneyDeps, deleteOrganization);
