/** @module What the owner of a provider account sets and changes by hand, if the vendor's own API is not enough. */
import * as z from 'zod';
import { retrySettings } from '../ledger/unit.ts';
import { type ControlCall, type ControlParts, parsed } from './control-call.ts';

/** A property of this name written out would make the schema look like a promise. */
const THEN = 'then';
const sentRetries = z.strictObject({ days: retrySettings.shape.days, [THEN]: retrySettings.shape.afterLast });

export const setRetries = ({ units }: ControlParts, call: ControlCall): Response => {
  const { days, [THEN]: afterLast } = parsed(sentRetries, call.body);
  units.useRetries({ days, afterLast });
  return Response.json(call.body);
};
