import { workerDeps } from '../../shared/runtime.ts';
import { followPayment } from '../../shared/subscriptions/follow-payment.ts';
import { queueConsumer } from '../../shared/workers/consumer.ts';

export const handler = queueConsumer('follow-payment', workerDeps, followPayment);
