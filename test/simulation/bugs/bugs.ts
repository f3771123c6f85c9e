import { ABUSE_BUGS } from './abuse.ts';
import type { Bug } from './bug.ts';
import { DECIDER_BUGS } from './deciders.ts';
import { DISCOUNT_BUGS } from './discounts.ts';
import { HOLD_BUGS } from './holds.ts';
import { MIRROR_BUGS } from './mirrors.ts';
import { PAYMENT_BUGS } from './payments.ts';
import { PLAN_BUGS } from './plans.ts';
import { RECORD_BUGS } from './records.ts';
import { REFUND_BUGS } from './refunds.ts';
import { RIGHTS_BUGS } from './rights.ts';
import { STRANGER_BUGS } from './strangers.ts';
import { SUBSCRIPTION_BUGS } from './subscriptions.ts';
import { THROTTLING_BUGS } from './throttling.ts';

export const BUGS: readonly Bug[] = [
  ...PAYMENT_BUGS,
  ...REFUND_BUGS,
  ...SUBSCRIPTION_BUGS,
  ...MIRROR_BUGS,
  ...RIGHTS_BUGS,
  ...RECORD_BUGS,
  ...ABUSE_BUGS,
  ...HOLD_BUGS,
  ...PLAN_BUGS,
  ...DECIDER_BUGS,
  ...STRANGER_BUGS,
  ...DISCOUNT_BUGS,
  ...THROTTLING_BUGS,
];
