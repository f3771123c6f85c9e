import { lambda } from '../../shared/http/lambda.ts';
import { changeMetadata } from '../../shared/payments/change-metadata.ts';
import { webDeps } from '../../shared/runtime.ts';
import { changeMetadataEndpoint } from './hold-endpoints.ts';

export const handler = lambda(changeMetadataEndpoint, webDeps, changeMetadata);
