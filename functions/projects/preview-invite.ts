import { previewInvite as useCase } from '../../shared/catalog/public-catalog.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { previewInviteEndpoint } from './endpoints.ts';

export const handler = lambda(previewInviteEndpoint, webDeps, useCase);
