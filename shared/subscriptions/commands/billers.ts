import type { Biller } from '../billing/biller.ts';
import { providerBiller } from '../provider-billed/create.ts';
import type { Subscription } from '../record/subscription.ts';
import { serviceBiller } from '../service-billed/collect.ts';

const BILLERS: Readonly<Record<Subscription['billingOwner'], Biller>> = {
  provider: providerBiller,
  service: serviceBiller,
};

export const billerOf = ({ billingOwner }: Pick<Subscription, 'billingOwner'>): Biller => BILLERS[billingOwner];
