import { createHash } from 'node:crypto';
import * as z from 'zod';
import { flag, readParameters, text } from '../wire/parameters.ts';
import type { StripeObject, StripeRequest, StripeRoute } from '../wire/request.ts';

export const paymentMethodDomainRoutes: readonly StripeRoute[] = [
  { method: 'POST', path: '/v1/payment_method_domains', run: (request) => ({ object: registerDomain(request) }) },
];

const ACTIVE = { status: 'active' } as const;

/** Registering a known domain again changes nothing. */
const registerDomain = ({ call }: StripeRequest): StripeObject => {
  const { domain_name: name, enabled = true } = readParameters(
    call,
    z.strictObject({ domain_name: text(), enabled: flag.optional() }),
  );
  return {
    id: `pmd_1${createHash('sha256').update(name).digest('hex').slice(0, 23)}`,
    object: 'payment_method_domain',
    amazon_pay: ACTIVE,
    apple_pay: ACTIVE,
    created: 1_700_000_000,
    domain_name: name,
    enabled,
    google_pay: ACTIVE,
    klarna: ACTIVE,
    link: ACTIVE,
    livemode: false,
    paypal: ACTIVE,
  };
};
