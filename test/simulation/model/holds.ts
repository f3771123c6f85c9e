/** @module Holds are amounts that a provider has reserved, until they are captured or released. */
import type { HistoryItem, HistoryJson } from './history.ts';

/** True if an amount is or was held for the payment. */
export const wasHeld = ({ authorizedCents }: HistoryItem): boolean => authorizedCents !== undefined;

/** True if the provider holds the amount of the charge, and has neither taken nor released it. */
export const isHeldThere = ({ status, authorized = 0 }: HistoryJson): boolean => status === 'pending' && authorized > 0;

/** The payment's stated amount, which is the held amount until the capture and then the captured amount. */
export const amountOfCharge = (charge: HistoryJson, { captureMethod, status }: HistoryItem): number => {
  if (captureMethod !== 'manual') return charge.amount;
  return status === 'succeeded' ? charge.captured : charge.authorized;
};
