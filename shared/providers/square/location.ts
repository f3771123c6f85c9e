/** @module The currency of the slot's location. Square accepts no other currency at that location. */

import * as z from 'zod';
import { mapOutcome, type Outcome } from '../../core/outcome.ts';
import type { Amount, AmountRefusal } from '../payment-port.ts';
import { SQUARE_CURRENCIES, squareAmounts } from './currencies.ts';
import type { SquareCall } from './outcome.ts';

const locationAnswer = z.looseObject({ location: z.looseObject({ currency: z.string().check(z.minLength(1)) }) });

/** Checks amounts against the currency of the location, which is read once. */
export const squareLocation = (call: SquareCall, locationId: string) => {
  let known: Promise<Outcome<string>> | undefined;

  const currency = async (): Promise<Outcome<string>> => {
    known ??= readCurrency(call, locationId);
    const asked = known;
    const outcome = await asked;
    // After a failed read, the next payment reads again.
    if (outcome.kind !== 'done' && known === asked) known = undefined;
    return outcome;
  };

  const checkAmount = async (amount: Amount): Promise<AmountRefusal | undefined> => {
    const refusal = squareAmounts.refusalOf(amount);
    if (refusal) return refusal;
    const taken = await currency();
    if (taken.kind !== 'done') return { kind: 'not known', outcome: taken };
    return taken.value === amount.currency ? undefined : { kind: 'currency', only: taken.value };
  };

  const onlyCurrency = async (): Promise<Outcome<string>> => {
    const taken = await currency();
    return taken.kind === 'done' && !SQUARE_CURRENCIES.has(taken.value)
      ? { kind: 'refused', reason: `unsupported currency ${taken.value}` }
      : taken;
  };

  return { checkAmount, onlyCurrency };
};

const readCurrency = async (call: SquareCall, locationId: string): Promise<Outcome<string>> =>
  mapOutcome(
    await call({ method: 'GET', path: `/v2/locations/${encodeURIComponent(locationId)}`, answer: locationAnswer }),
    ({ location }) => location.currency,
  );
