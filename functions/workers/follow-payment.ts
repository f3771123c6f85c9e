import { queueConsumer } from '../../shared/platform/consumers.ts';
import { workerDeps } from '../../shared/runtime.ts';
import { followPayment } from '../../shared/subscriptions/commands/follow-payment.ts';

export const handler = queueConsumer('follow-payment', workerDeps, followPayment);
