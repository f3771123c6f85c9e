import { useEffect, useRef, useState } from 'preact/hooks';
import { site } from '../api/site.ts';
import type { ProviderOption } from '../api/state.ts';
import type { CardField, CardPurpose } from '../vendors/card-field.ts';
import { squareCard } from '../vendors/square.ts';
import { stripeCard } from '../vendors/stripe.ts';
import { say } from '../words/words.ts';
import { Alert, Button } from './parts.tsx';

const OPENERS = { stripe: stripeCard, square: squareCard } as const;
const VENDORS = { stripe: 'Stripe', square: 'Square' } as const;

type Opened = 'opening' | 'open' | 'failed';

/** The vendor's field in `place`. It is opened again if the client secret changes. */
const useCardField = (purpose: CardPurpose) => {
  const place = useRef<HTMLDivElement>(null);
  const field = useRef<CardField | undefined>(undefined);
  const [opened, setOpened] = useState<Opened>('opening');
  const [tries, setTries] = useState(0);
  const { option, clientSecret } = purpose;
  useEffect(() => {
    let isWanted = true;
    const open = async (): Promise<void> => {
      const made = await OPENERS[option.provider as keyof typeof OPENERS](purpose);
      if (!isWanted || !place.current) return made.destroy();
      field.current = made;
      await made.mount(place.current);
      if (isWanted) setOpened('open');
    };
    setOpened('opening');
    open().catch(() => isWanted && setOpened('failed'));
    return () => {
      isWanted = false;
      field.current?.destroy();
      field.current = undefined;
    };
  }, [option.provider_id, clientSecret, tries]);
  return { place, field, opened, retry: () => setTries(tries + 1) };
};

interface CardFormProps {
  readonly purpose: CardPurpose;
  readonly label: string;
  readonly whileBusy: string;
  readonly isBusy: boolean;
  readonly onSubmit: (field: CardField) => void;
}

export const CardForm = ({ purpose, label, whileBusy, isBusy, onSubmit }: CardFormProps) => {
  const { place, field, opened, retry } = useCardField(purpose);
  const { provider } = purpose.option;
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        if (field.current && opened === 'open' && !isBusy) onSubmit(field.current);
      }}
    >
      <div class="card-field" ref={place} aria-busy={opened === 'opening'} />
      {opened === 'opening' ? <p class="card-wait">{say('loading')}</p> : null}
      {opened === 'failed' ? (
        <Alert>
          <p>{say('unreachable')}</p>
          <Button kind="plain" onClick={retry}>
            {say('retry')}
          </Button>
        </Alert>
      ) : (
        <Button isBusy={isBusy || opened === 'opening'} whileBusy={opened === 'opening' ? label : whileBusy}>
          {label}
        </Button>
      )}
      <p class="secure">{say('secure', { vendor: VENDORS[provider as keyof typeof VENDORS] })}</p>
    </form>
  );
};

/** The first listed provider whose cards the page supports, with its script. */
export const cardOption = (
  providers: readonly ProviderOption[] = [],
): { readonly option: ProviderOption; readonly script: string } | undefined => {
  const option = providers.find(({ provider }) => provider in OPENERS);
  return option && { option, script: site.scripts[option.provider_id] ?? '' };
};
