import { lambda } from '../../shared/http/lambda.ts';
import { replayDeps } from '../../shared/runtime.ts';
import { entryToReplay, replayDelivery } from '../../shared/webhooks/replay-delivery.ts';
import { replayWebhookLogEndpoint } from './endpoints.ts';

export const handler = lambda(replayWebhookLogEndpoint, replayDeps, {
  run: replayDelivery,
  checkRepeat: entryToReplay,
});
