import { audienceOf } from '../../shared/access/audience.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { changeMetadata } from '../../shared/payments/change-metadata.ts';
import { paymentView } from '../../shared/payments/payment-view.ts';
import { webDeps } from '../../shared/runtime.ts';
import { changeMetadataEndpoint } from './hold-endpoints.ts';

export const handler = lambda(changeMetadataEndpoint, webDeps, {
  run: changeMetadata,
  shows: (_, { record, caller }) => paymentView(record, audienceOf(caller)),
});
