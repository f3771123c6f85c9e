import type { TestHost } from '../host.ts';

/** A charge in the ledger, with its amount and the provider's method that paid. */
export interface Taken {
  readonly id: string;
  readonly amount: number;
  readonly method: string | undefined;
}

const IS_MONEY = ['succeeded', 'pending'];

/** The charges that took money or still may, except the known charges. */
export const takenSince = async (service: TestHost, known: ReadonlySet<string> = new Set()): Promise<Taken[]> => {
  const { charges, payment_intents: intents } = await service.ledger();
  const methods = new Map<string, string>(intents.map(({ id, payment_method: of }) => [id, of]));
  return charges
    .filter(({ id, status }) => IS_MONEY.includes(status) && !known.has(id))
    .map(({ id, amount, payment_intent: intent }) => ({ id, amount, method: methods.get(intent) }));
};
