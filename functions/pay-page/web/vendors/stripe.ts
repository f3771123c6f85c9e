/** @module Cards at Stripe, with the Payment Element of Stripe.js. */

import { site } from '../api/site.ts';
import { language } from '../words/words.ts';
import type { CardField, CardPurpose, Entered } from './card-field.ts';
import { loadScript } from './load-script.ts';

interface StripeError {
  readonly type?: string;
  readonly message?: string;
}

interface Intent {
  readonly status: string;
  readonly last_payment_error?: StripeError | null;
}

interface Result {
  readonly error?: StripeError;
  readonly paymentIntent?: Intent;
  readonly setupIntent?: Intent;
  readonly paymentMethod?: { readonly id: string };
}

interface Elements {
  create(type: 'payment'): { mount(place: HTMLElement): void; destroy?(): void; unmount(): void };
  submit(): Promise<Result>;
}

interface Stripe {
  elements(options: object): Elements;
  confirmPayment(options: object): Promise<Result>;
  createPaymentMethod(options: object): Promise<Result>;
  handleNextAction(options: { readonly clientSecret: string }): Promise<Result>;
  retrievePaymentIntent(clientSecret: string): Promise<Result>;
}

type MakeStripe = (key: string, options: { readonly locale: string }) => Stripe;

const openStripe = async ({ script, option }: Pick<CardPurpose, 'script' | 'option'>): Promise<Stripe> => {
  await loadScript(script);
  const make = (window as unknown as { readonly Stripe: MakeStripe }).Stripe;
  return make(option.publishable_key ?? '', { locale: language });
};

/** Gives the Element the colors of the page. */
const appearance = () => {
  const style = getComputedStyle(document.documentElement);
  const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
  const colorOf = (name: string): string => style.getPropertyValue(name).trim();
  return {
    theme: isDark ? 'night' : 'stripe',
    variables: {
      colorPrimary: colorOf('--accent'),
      colorText: colorOf('--ink'),
      colorBackground: colorOf('--field'),
      borderRadius: '8px',
    },
  };
};

/** A validation error means invalid input, and a card error a decline. After any other error the outcome is unknown. */
const endOf = ({ error, paymentIntent, setupIntent }: Result): Entered => {
  const message = error?.message ?? '';
  if (error?.type === 'validation_error') return { end: 'invalid', message };
  if (error?.type === 'card_error') return { end: 'declined', message };
  if (error) return { end: 'unknown' };
  return (paymentIntent ?? setupIntent)?.status === 'requires_payment_method'
    ? { end: 'declined', message: paymentIntent?.last_payment_error?.message ?? '' }
    : { end: 'done' };
};

/** Reads the status from Stripe if the response to a confirmation was lost. */
const settled = async (stripe: Stripe, entered: Entered, clientSecret: string): Promise<Entered> => {
  if (entered.end !== 'unknown') return entered;
  const read = await stripe.retrievePaymentIntent(clientSecret).catch(() => ({}) as Result);
  const status = read.paymentIntent?.status;
  if (status === 'succeeded' || status === 'processing' || status === 'requires_capture') return { end: 'done' };
  return entered;
};

const failed = (): Result => ({ error: { type: 'api_connection_error' } });

export const stripeCard = async (purpose: CardPurpose): Promise<CardField> => {
  const { clientSecret, currency } = purpose;
  const stripe = await openStripe(purpose);
  const elements = stripe.elements(
    clientSecret === undefined
      ? { mode: 'setup', currency: currency.toLowerCase(), paymentMethodCreation: 'manual', appearance: appearance() }
      : { clientSecret, appearance: appearance() },
  );
  const element = elements.create('payment');
  const submitted = async (): Promise<Entered | undefined> => {
    const { error } = await elements.submit();
    return error && { end: 'invalid', message: error.message ?? '' };
  };
  return {
    mount: async (place) => element.mount(place),
    destroy: () => (element.destroy ? element.destroy() : element.unmount()),
    pay: async () => {
      const problem = await submitted();
      if (problem || clientSecret === undefined) return problem ?? { end: 'unknown' };
      const confirmParams = { return_url: site.ownAddress };
      const options = { elements, clientSecret, confirmParams, redirect: 'if_required' };
      return settled(stripe, endOf(await stripe.confirmPayment(options).catch(failed)), clientSecret);
    },
    save: async () => {
      const problem = await submitted();
      if (problem) return problem;
      const made = await stripe.createPaymentMethod({ elements }).catch(failed);
      if (made.paymentMethod) return { end: 'token', token: made.paymentMethod.id };
      const entered = endOf(made);
      return entered.end === 'done' ? { end: 'unknown' } : entered;
    },
  };
};

/** Starts the bank's authentication for a payment or a saved card. */
export const authenticateAtStripe = async (
  at: Pick<CardPurpose, 'script' | 'option'>,
  clientSecret: string,
): Promise<Entered> => {
  const stripe = await openStripe(at);
  return endOf(await stripe.handleNextAction({ clientSecret }).catch(failed));
};
