import { lambda } from '../../shared/http/lambda.ts';
import { createOrganization } from '../../shared/organizations/create.ts';
import { webDeps } from '../../shared/runtime.ts';
import { create } from './endpoints.ts';

export const handler = lambda(create, webDeps, createOrganization);
