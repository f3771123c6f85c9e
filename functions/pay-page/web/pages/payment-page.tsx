/** @module One payment: the form that pays it, and what became of it. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { isGone, isTooMany, isUnknown, postState, Refusal, readState } from '../api/calls.ts';
import { follow } from '../api/follow.ts';
import { isPaid, type PageState, type PaymentState } from '../api/state.ts';
import { leaveFor } from '../api/token.ts';
import type { CardField, Entered } from '../vendors/card-field.ts';
import { authenticateAtStripe } from '../vendors/stripe.ts';
import { CardForm, cardOption } from '../view/card-form.tsx';
import { type Decline, DeclineAlert, declineOf } from '../view/decline.tsx';
import { Alert, Button, useBusy, useIsShown } from '../view/parts.tsx';
import { money, say } from '../words/words.ts';
import { ConfirmingPage, PaidPage, ProcessingPage } from './outcome.tsx';

interface PaymentPageProps {
  readonly token: string;
  readonly state: PaymentState;
  /** True if the payer has just returned from a vendor's page. */
  readonly isReturn: boolean;
  readonly show: (state: PageState) => void;
  readonly onGone: () => void;
}

type Phase = 'paid' | 'processing' | 'authenticate' | 'pay';

/** The provider's own question, which only its script can ask. */
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

const isOnItsWay = ({ status }: PageState): boolean => isPaid(status) || status === 'processing';

/** A payer whose approval the provider has not reported by then may try again. */
const APPROVAL_MS = 10_000;
/** A provider reports a decline within a moment. */
const REPORT_MS = 20_000;

/** Where the payer stands, beside what the service says: `late` if it has said nothing for a minute. */
type Step = 'idle' | 'confirming' | 'late';

const usePayment = ({ token, state, isReturn, show, onGone }: PaymentPageProps) => {
  const [step, setStep] = useState<Step>(isReturn ? 'confirming' : 'idle');
  const [decline, setDecline] = useState<Decline | undefined>(declineOf(state));
  const [problem, setProblem] = useState<string>();
  const [isBusy, run] = useBusy();
  const isShown = useIsShown();
  const hasPaid = useRef(isReturn);
  const tries = useRef(0);

  const read = async (): Promise<PageState | undefined> => {
    try {
      const now = await readState(token);
      show(now);
      return now;
    } catch (reason) {
      if (isGone(reason)) onGone();
      return undefined;
    }
  };
  const wait = (isOver: (now: PageState) => boolean, longestMs?: number): Promise<PageState | undefined> =>
    follow({ read, isOver, isAwaited: isShown, ...(longestMs !== undefined && { longestMs }) });

  /** The provider has taken the payment, and the service learns it in a moment. */
  const expectPaid = async (): Promise<void> => {
    setStep('confirming');
    const now = await wait(isOnItsWay);
    setStep(now ? 'idle' : 'late');
  };
  /** The service may have heard of the try, or not. A try that it has not heard of by then may be made again. */
  const expectAny = async (longestMs?: number): Promise<void> => {
    const before = JSON.stringify(declineOf(state));
    setStep('confirming');
    const now = await wait((next) => isOnItsWay(next) || JSON.stringify(declineOf(next)) !== before, longestMs);
    setStep('idle');
    if (!now) setProblem(say('unknown'));
    else if (!isOnItsWay(now)) setDecline(declineOf(now));
  };
  /** The provider reports the decline to the service, which has advice on it. */
  const adviseOn = async (message: string): Promise<void> => {
    const of = tries.current;
    const now = await wait((next) => tries.current !== of || isOnItsWay(next) || next.status === 'failed', REPORT_MS);
    if (now && tries.current === of) setDecline({ ...declineOf(now), message });
  };
  const refused = async (reason: unknown): Promise<void> => {
    if (isGone(reason)) return onGone();
    if (isTooMany(reason)) return setProblem(say('tooMany'));
    if (isUnknown(reason)) return expectAny();
    await read();
    const PAYMENT_REQUIRED = 402;
    if (!(reason instanceof Refusal) || reason.status !== PAYMENT_REQUIRED) return setProblem(say('refused'));
    const { advice } = (reason.details ?? {}) as { readonly advice?: string };
    setDecline({ advice });
  };
  const charge = async (method: string): Promise<void> => {
    try {
      show(await postState(token, 'confirm', { payment_method_id: method }));
    } catch (reason) {
      await refused(reason);
    }
  };
  const finish = async (entered: Entered): Promise<void> => {
    switch (entered.end) {
      case 'done':
        return expectPaid();
      case 'token':
        return charge(entered.token);
      case 'invalid':
        return setProblem(entered.message);
      case 'unknown':
        return expectAny();
      case 'declined': {
        // The service knows better: an earlier try may have succeeded.
        const now = await read();
        if (now && isOnItsWay(now)) return undefined;
        setDecline({ message: entered.message });
        return void adviseOn(entered.message);
      }
    }
  };
  const begin = (enter: () => Promise<Entered>): void =>
    run(async () => {
      setProblem(undefined);
      setDecline(undefined);
      hasPaid.current = true;
      tries.current += 1;
      await finish(await enter());
    });

  const phase = phaseOf(state);
  useEffect(() => {
    if (isReturn) void expectAny(APPROVAL_MS).then(() => wait(isOnItsWay));
    else if (phase === 'processing') void wait(({ status }) => status !== 'processing');
  }, [phase === 'processing']);
  return { step, decline, problem, isBusy, phase, begin, hasPaid: hasPaid.current };
};

export const PaymentPage = (props: PaymentPageProps) => {
  const { state } = props;
  const payment = usePayment(props);
  const { phase, step, decline, problem } = payment;
  const of = { state, paymentId: state.payment_id };
  if (phase === 'paid') return <PaidPage {...of} isAutomatic={payment.hasPaid} />;
  if (phase === 'processing' || step === 'late') return <ProcessingPage {...of} />;
  if (step === 'confirming') return <ConfirmingPage />;
  return (
    <>
      {decline ? <DeclineAlert decline={decline} /> : null}
      {problem ? <Alert>{problem}</Alert> : null}
      {phase === 'authenticate' ? (
        <Authenticate state={state} begin={payment.begin} isBusy={payment.isBusy} />
      ) : (
        <PayForm state={state} begin={payment.begin} isBusy={payment.isBusy} />
      )}
    </>
  );
};

interface ActProps {
  readonly state: PaymentState;
  readonly begin: (enter: () => Promise<Entered>) => void;
  readonly isBusy: boolean;
}

const PayForm = ({ state, begin, isBusy }: ActProps) => {
  const { providers = [], amount_cents: cents, currency, client_secret: secret, next_action: next } = state;
  const amount = money(cents ?? 0, currency ?? '');
  const card = cardOption(providers);
  if (!card) {
    return next?.url ? <PayPalButton url={next.url} /> : <Alert>{say('refused')}</Alert>;
  }
  const purpose = {
    ...card,
    amountCents: cents ?? 0,
    currency: currency ?? '',
    ...(card.option.confirms_in === 'browser' && { clientSecret: secret ?? undefined }),
  };
  return (
    <CardForm
      purpose={purpose}
      label={say('pay', { amount })}
      whileBusy={say('paying')}
      isBusy={isBusy}
      onSubmit={(field: CardField) => begin(() => field.pay())}
    />
  );
};

const PayPalButton = ({ url }: { readonly url: string }) => (
  <div class="form">
    <Button onClick={() => leaveFor(url)}>{say('payWithPaypal')}</Button>
  </div>
);

const Authenticate = ({ state, begin, isBusy }: ActProps) => {
  const card = cardOption(state.providers);
  const secret = state.client_secret;
  if (!card || !secret) return <Alert>{say('refused')}</Alert>;
  return (
    <div class="form">
      <h2>{say('authenticate')}</h2>
      <p>{say('authenticateText')}</p>
      <Button isBusy={isBusy} whileBusy={say('wait')} onClick={() => begin(() => authenticateAtStripe(card, secret))}>
        {say('authenticateAction')}
      </Button>
    </div>
  );
};
