/** @module The payer's steps for a payment and their outcomes. The service's status overrides the vendor's. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { isGone, isTooMany, isUnknown, postState, Refusal } from '../api/calls.ts';
import { isPaid, type PageState, type PaymentState } from '../api/state.ts';
import { leaveFor } from '../api/token.ts';
import type { Entered } from '../vendors/card-field.ts';
import { type Decline, declineOf } from '../view/decline.tsx';
import { useBusy } from '../view/parts.tsx';
import { type Shown, useReading } from '../view/reading.ts';
import { say } from '../words/words.ts';

export interface PaymentPageProps extends Shown {
  readonly state: PaymentState;
  /** The payment's status when the payer left for the vendor's page; undefined unless the payer has just returned. */
  readonly leftAs: string | undefined;
}

type Phase = 'paid' | 'processing' | 'authenticate' | 'pay';

/** True if only the provider's script can start the authentication. */
const asksInBrowser = ({ providers = [] }: PaymentState): boolean =>
  providers.some(({ confirms_in }) => confirms_in === 'browser');

const phaseOf = (state: PaymentState): Phase => {
  const { status, next_action: next } = state;
  if (isPaid(status)) return 'paid';
  if (status === 'processing') return 'processing';
  if (status !== 'pending') return 'pay';
  if (asksInBrowser(state)) return 'authenticate';
  return next?.url ? 'pay' : 'processing';
};

/** True while the page waits for the client secret for the provider's script. */
export const needsSecret = (state: PaymentState): boolean =>
  asksInBrowser(state) && !state.client_secret && ['pay', 'authenticate'].includes(phaseOf(state));

const isOnItsWay = ({ status }: PageState): boolean => isPaid(status) || status === 'processing';

/** If the provider reports no approval within this time, the payer can retry. */
const APPROVAL_MS = 10_000;
/** How long to wait for the provider's report of a decline. */
const REPORT_MS = 20_000;
const PAYMENT_REQUIRED = 402;

/** The payer's step, in addition to the service's status. `late` means no news for a minute. */
type Step = 'idle' | 'confirming' | 'late';

/** Waits for the outcome of an attempt, and shows it. */
const useOutcome = ({ token, state, leftAs, show, onGone }: PaymentPageProps) => {
  const [step, setStep] = useState<Step>(leftAs === undefined ? 'idle' : 'confirming');
  const [decline, setDecline] = useState<Decline | undefined>(declineOf(state));
  const [problem, setProblem] = useState<string>();
  const tries = useRef(0);
  const { read, wait } = useReading({ token, show, onGone });

  const beginTry = (): void => {
    tries.current += 1;
    setProblem(undefined);
    setDecline(undefined);
  };
  /**
   * Waits until the payment is shown as paid. The provider has accepted the payment, and the service learns this
   * shortly after.
   */
  const expectPaid = async (): Promise<void> => {
    setStep('confirming');
    const now = await wait(isOnItsWay);
    setStep(now ? 'idle' : 'late');
  };
  /**
   * Waits for the outcome of an attempt that may have reached the service. Without an outcome, the payer can retry
   * after the wait.
   */
  const expectAny = async (before: string, longestMs?: number): Promise<void> => {
    setStep('confirming');
    const isNews = (next: PageState): boolean => isOnItsWay(next) || (next.status === 'failed' && before !== 'failed');
    const now = (await wait(isNews, longestMs)) ?? (await read());
    setStep('idle');
    if (now && isOnItsWay(now)) return;
    const declined = now && declineOf(now);
    if (declined) setDecline(declined);
    else setProblem(say('unknown'));
  };
  /**
   * Shows a decline that the vendor's script reports. The service may know a newer status, and it gets the advice with
   * a delay.
   */
  const expectDecline = async (message: string): Promise<void> => {
    const now = await read();
    if (now && isOnItsWay(now)) return;
    setDecline({ message });
    const of = tries.current;
    void wait((next) => tries.current !== of || isOnItsWay(next) || next.status === 'failed', REPORT_MS).then(
      (later) => later && tries.current === of && setDecline({ ...declineOf(later), message }),
    );
  };
  const refused = async (reason: unknown): Promise<void> => {
    if (isGone(reason)) return onGone();
    if (isTooMany(reason)) return setProblem(say('tooMany'));
    if (isUnknown(reason)) return expectAny(state.status);
    await read();
    if (!(reason instanceof Refusal) || reason.status !== PAYMENT_REQUIRED) return setProblem(say('refused'));
    const { advice } = (reason.details ?? {}) as { readonly advice?: string };
    setDecline({ advice });
  };
  const lacksSecret = needsSecret(state);
  useEffect(() => {
    if (lacksSecret) void wait((next) => Boolean(next.client_secret) || isOnItsWay(next));
  }, [lacksSecret]);
  const isProcessing = phaseOf(state) === 'processing';
  useEffect(() => {
    if (leftAs !== undefined) void expectAny(leftAs, APPROVAL_MS).then(() => wait(isOnItsWay));
    else if (isProcessing) {
      void wait(({ status }) => status !== 'processing').then((now) => setDecline(now && declineOf(now)));
    }
  }, [isProcessing]);
  return { step, decline, problem, setProblem, beginTry, expectPaid, expectAny, expectDecline, refused, read };
};

export const usePayment = (props: PaymentPageProps) => {
  const { token, state, leftAs, show } = props;
  const outcome = useOutcome(props);
  const [isBusy, run] = useBusy();
  const hasPaid = useRef(leftAs !== undefined);

  const charge = async (method: string): Promise<void> => {
    try {
      show(await postState(token, 'confirm', { payment_method_id: method }));
    } catch (reason) {
      await outcome.refused(reason);
    }
  };
  const finish = async (entered: Entered): Promise<void> => {
    switch (entered.end) {
      case 'done':
        return outcome.expectPaid();
      case 'token':
        return charge(entered.token);
      case 'invalid':
        return outcome.setProblem(entered.message);
      case 'unknown':
        return outcome.expectAny(state.status);
      case 'declined':
        return outcome.expectDecline(entered.message);
    }
  };
  const begin = (enter: () => Promise<Entered>): void =>
    run(async () => {
      outcome.beginTry();
      hasPaid.current = true;
      await finish(await enter());
    });
  /**
   * Opens the page on which the payer approves the payment. Each approval has its own URL, and the service creates
   * another URL after a decline.
   */
  const approve = (): void =>
    run(async () => {
      try {
        const url = state.next_action?.url ?? (await postState(token, 'confirm')).next_action?.url;
        if (url) leaveFor(url, state.status);
        else await outcome.read();
      } catch (reason) {
        await outcome.refused(reason);
      }
    });
  const { step, decline, problem } = outcome;
  return { step, decline, problem, isBusy, phase: phaseOf(state), begin, approve, hasPaid: hasPaid.current };
};
