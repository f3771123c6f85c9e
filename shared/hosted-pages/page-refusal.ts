/** @module The refusals of a hosted page. */

import { ADVICE, adviceOn } from '../core/decline-advice.ts';
import { DomainError } from '../core/errors.ts';
import { DECLINE_CODES } from '../core/outcome.ts';
import { fieldAt, textAt } from '../core/rows.ts';
import { pageGone } from '../http/link-caller.ts';

/**
 * After a decline, the page gets only the code and the advice. For a method stored at the provider, the page
 * gets the same error as for another link's record.
 */
export const pageRefusal = (error: unknown): never => {
  if (!(error instanceof DomainError)) throw error;
  if (error.code === 'VALIDATION_ERROR' && namesStored(error)) throw pageGone(error);
  if (error.code === 'PAYMENT_DECLINED') throw pageDecline(error);
  throw error;
};

const pageDecline = ({ details }: DomainError): DomainError => {
  const code = textAt(details, 'decline_code');
  const fromProvider = textAt(fieldAt(fieldAt(details, 'payment'), 'decline'), 'advice');
  return declinedOnPage(code, fromProvider);
};

/** @param fromProvider the provider's advice, which replaces the code's advice */
export const declinedOnPage = (code: string | undefined, fromProvider?: string): DomainError => {
  const known = DECLINE_CODES.find((one) => one === code);
  const advice = ADVICE.find((one) => one === fromProvider) ?? (known && adviceOn(known).advice);
  return new DomainError('PAYMENT_DECLINED', { details: { decline_code: code ?? null, advice: advice ?? null } });
};

const namesStored = ({ details }: DomainError): boolean =>
  Array.isArray(details) && details.some(({ rule }) => rule === 'stored');
