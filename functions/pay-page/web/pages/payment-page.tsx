/** @module The page of one payment, with the form and the outcome. */

import type { PaymentState } from '../api/state.ts';
import type { CardField, Entered } from '../vendors/card-field.ts';
import { authenticateAtStripe } from '../vendors/stripe.ts';
import { CardForm, cardOption } from '../view/card-form.tsx';
import { DeclineAlert } from '../view/decline.tsx';
import { Alert, Button } from '../view/parts.tsx';
import { money, say } from '../words/words.ts';
import { ConfirmingPage, PaidPage, ProcessingPage } from './outcome.tsx';
import { needsSecret, type PaymentPageProps, usePayment } from './payment-steps.ts';

export const PaymentPage = (props: PaymentPageProps) => {
  const { state } = props;
  const payment = usePayment(props);
  const { phase, step, decline, problem } = payment;
  const of = { state, paymentId: state.payment_id };
  if (phase === 'paid') return <PaidPage {...of} isAutomatic={payment.hasPaid} />;
  if (phase === 'processing' || step === 'late') return <ProcessingPage {...of} />;
  if (step === 'confirming') return <ConfirmingPage />;
  if (needsSecret(state)) return <p class="loading">{say('loading')}</p>;
  return (
    <>
      {decline ? <DeclineAlert decline={decline} /> : null}
      {problem ? <Alert>{problem}</Alert> : null}
      {phase === 'authenticate' ? (
        <Authenticate state={state} begin={payment.begin} isBusy={payment.isBusy} />
      ) : (
        <PayForm state={state} begin={payment.begin} approve={payment.approve} isBusy={payment.isBusy} />
      )}
    </>
  );
};

interface ActProps {
  readonly state: PaymentState;
  readonly begin: (enter: () => Promise<Entered>) => void;
  readonly isBusy: boolean;
}

const PayForm = ({ state, begin, approve, isBusy }: ActProps & { readonly approve: () => void }) => {
  const { providers = [], amount_cents: cents, currency, client_secret: secret } = state;
  const amount = money(cents ?? 0, currency ?? '');
  const card = cardOption(providers);
  if (!card) {
    return providers.some(({ confirms_in }) => confirms_in === 'redirect') ? (
      <PayPalButton isBusy={isBusy} onClick={approve} />
    ) : (
      <Alert>{say('refused')}</Alert>
    );
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

const PayPalButton = ({ isBusy, onClick }: { readonly isBusy: boolean; readonly onClick: () => void }) => (
  <div class="form">
    <Button isBusy={isBusy} whileBusy={say('wait')} onClick={onClick}>
      {say('payWithPaypal')}
    </Button>
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
