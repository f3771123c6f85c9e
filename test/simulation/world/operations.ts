import { ADDRESS_OPERATIONS } from './addresses.ts';
import { DASHBOARD_ACTS } from './dashboard-acts.ts';
import { DASHBOARD_SUBSCRIPTIONS } from './dashboard-subscriptions.ts';
import { DECIDING_OPERATIONS } from './deciders.ts';
import { HOLD_OPERATIONS } from './holds.ts';
import { LENDING_OPERATIONS } from './lenders.ts';
import { METHOD_OPERATIONS } from './methods.ts';
import { MINTING_OPERATIONS } from './minting.ts';
import type { WorldOperation } from './operation.ts';
import { ORGANIZATION_OPERATIONS } from './organizations.ts';
import { PAYMENT_OPERATIONS } from './payments.ts';
import { PLAN_OPERATIONS } from './plans.ts';
import { PROVIDER_ACTS } from './provider-acts.ts';
import { READ_OPERATIONS } from './readers.ts';
import { RIGHT_OPERATIONS } from './rights.ts';
import { STRANGER_OPERATIONS } from './strangers.ts';
import { SUBSCRIPTION_OPERATIONS } from './subscriptions.ts';

export const OPERATIONS: readonly WorldOperation[] = [
  ...PAYMENT_OPERATIONS,
  ...METHOD_OPERATIONS,
  ...SUBSCRIPTION_OPERATIONS,
  ...ADDRESS_OPERATIONS,
  ...ORGANIZATION_OPERATIONS,
  ...RIGHT_OPERATIONS,
  ...MINTING_OPERATIONS,
  ...READ_OPERATIONS,
  ...PROVIDER_ACTS,
  ...DASHBOARD_ACTS,
  ...DASHBOARD_SUBSCRIPTIONS,
  ...HOLD_OPERATIONS,
  ...PLAN_OPERATIONS,
  ...DECIDING_OPERATIONS,
  ...LENDING_OPERATIONS,
  ...STRANGER_OPERATIONS,
];
