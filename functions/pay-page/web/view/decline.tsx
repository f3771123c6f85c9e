import type { PageState } from '../api/state.ts';
import { say } from '../words/words.ts';
import { Alert } from './parts.tsx';

/** A declined attempt, with the service's advice or the vendor's message. */
export interface Decline {
  readonly advice?: string | undefined;
  readonly message?: string | undefined;
}

const ADVICE = {
  retry_later: 'retry_later',
  another_method: 'another_method',
  authenticate: 'authenticateAdvice',
  correct_data: 'correct_data',
  contact_bank: 'contact_bank',
} as const;

/** The advice in words, else a general text; undefined if the vendor's message is shown without advice. */
const adviceOf = ({ advice, message }: Decline): string | undefined => {
  if (advice && advice in ADVICE) return say(ADVICE[advice as keyof typeof ADVICE]);
  return message ? undefined : say('noAdvice');
};

/**
 * The decline in the state. A failed payment counts as declined even if the state has no details of the decline.
 * Undefined otherwise, such as after a later success.
 */
export const declineOf = ({ status, decline }: PageState): Decline | undefined =>
  decline || status === 'failed' ? { advice: decline?.advice ?? undefined } : undefined;

export const DeclineAlert = ({ decline, text }: { readonly decline: Decline; readonly text?: string }) => (
  <Alert>
    <p>
      <strong>{text ?? say('declined')}</strong>
    </p>
    {decline.message ? <p>{decline.message}</p> : null}
    {adviceOf(decline) === undefined ? null : <p>{adviceOf(decline)}</p>}
  </Alert>
);
