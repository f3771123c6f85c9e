import { listTiers as useCase } from '../../shared/catalog/tiers.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { listTiers } from './endpoints.ts';

export const handler = lambda(listTiers, webDeps, useCase);
