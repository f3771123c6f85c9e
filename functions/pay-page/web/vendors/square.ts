/**
 * @module Cards at Square, with the Web Payments SDK. The card token includes the bank's authentication, so no
 * verification token is needed.
 */

import { majorUnits } from '../../../../shared/core/money.ts';
import { language } from '../words/words.ts';
import type { CardField, CardPurpose, Entered } from './card-field.ts';
import { loadScript } from './load-script.ts';

interface TokenResult {
  readonly status: string;
  readonly token?: string;
  readonly errors?: readonly { readonly message?: string }[];
}

interface SquareCard {
  attach(place: HTMLElement): Promise<void>;
  tokenize(details: object): Promise<TokenResult>;
  destroy(): Promise<unknown>;
}

interface SquarePayments {
  card(): Promise<SquareCard>;
  setLocale?(locale: string): Promise<unknown>;
}

interface Square {
  payments(applicationId: string, locationId: string): SquarePayments | Promise<SquarePayments>;
}

const endOf = ({ status, token, errors = [] }: TokenResult): Entered => {
  if (status === 'OK' && token !== undefined) return { end: 'token', token };
  const message = errors.map((error) => error.message ?? '').join(' ');
  return { end: status === 'Invalid' ? 'invalid' : 'declined', message };
};

export const squareCard = async (purpose: CardPurpose): Promise<CardField> => {
  const { script, option, amountCents, currency } = purpose;
  await loadScript(script);
  const { Square } = window as unknown as { readonly Square: Square };
  const payments = await Square.payments(option.application_id ?? '', option.location_id ?? '');
  // If Square lacks the language, Square chooses another.
  await payments.setLocale?.(language).catch(() => undefined);
  const card = await payments.card();
  const always = { billingContact: {}, customerInitiated: true, sellerKeyedIn: false };
  const tokenize = async (details: object): Promise<Entered> => {
    try {
      return endOf(await card.tokenize({ ...always, ...details }));
    } catch (reason) {
      // Nothing was sent to the service, so nothing was charged.
      return { end: 'declined', message: reason instanceof Error ? reason.message : '' };
    }
  };
  return {
    mount: (place) => card.attach(place),
    destroy: () => void card.destroy().catch(() => undefined),
    pay: () => tokenize({ intent: 'CHARGE', amount: majorUnits(amountCents, currency), currencyCode: currency }),
    save: () => tokenize({ intent: 'STORE' }),
  };
};
