/**
 * @module The dialog that changes a subscription's plan. The first step selects the plan. The second step shows the
 * API's previews and sends the change with the displayed amount.
 */

import { useState } from 'preact/hooks';
import { answerOf, api } from '../api/client.ts';
import type { Problem } from '../api/problem.ts';
import type { PlanPreview, Subscription } from '../api/types.ts';
import { newKey, useAction } from '../view/action.ts';
import { Dialog, DialogActions, FormActions } from '../view/dialog.tsx';
import { dateInUtc, money } from '../view/format.ts';
import { asProblem } from '../view/load.ts';
import { Choice, Fact, Money, ProblemNote } from '../view/parts.tsx';
import { PlanChangeLines } from './plan-change-lines.tsx';
import { bodyOf, draftOf, type PlanDraft } from './plan-draft.ts';
import { PriceFields, ProductFields } from './plan-form.tsx';

interface PlanChangeDialogProps {
  readonly subscription: Subscription;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

type When = PlanPreview['when'];

/** The accepted previews, each with its own Idempotency-Key. */
interface Offer {
  readonly previews: readonly (PlanPreview & { readonly key: string })[];
  /** The reason why the change cannot apply now; empty if it can. */
  readonly whyLater: string;
}

export const PlanChangeDialog = ({ subscription, onChanged, onClose }: PlanChangeDialogProps) => {
  const [draft, setDraft] = useState<PlanDraft>(() => draftOf(subscription));
  const [offer, setOffer] = useState<Offer>();
  const [refusal, setRefusal] = useState<Problem>();
  const asking = useAction(async () => {
    setRefusal(undefined);
    setOffer(await readOffer(subscription, draft));
  });
  const refuse = (problem: Problem): void => {
    setRefusal(problem);
    setOffer(undefined);
  };
  return (
    <Dialog title={draft.kind === 'product' ? 'Change plan' : 'Change price'} onClose={onClose}>
      {offer ? (
        <OfferedChange
          subscription={subscription}
          draft={draft}
          offer={offer}
          onChanged={onChanged}
          onRefused={refuse}
          onBack={() => setOffer(undefined)}
          onClose={onClose}
        />
      ) : (
        <DraftForm
          subscription={subscription}
          draft={draft}
          asking={asking}
          problem={asking.problem ?? refusal}
          onChange={setDraft}
          onClose={onClose}
        />
      )}
    </Dialog>
  );
};

/** Previews the change for now and for the period end. @throws Problem if the API refuses both */
const readOffer = async (subscription: Subscription, draft: PlanDraft): Promise<Offer> => {
  const read = async (when: When) => {
    const call = api.POST('/subscriptions/{id}/change/preview', {
      params: { path: { id: subscription.id } },
      body: { ...bodyOf(draft, subscription), when },
    });
    return { ...(await answerOf(call)).data, key: newKey() };
  };
  const [now, later] = await Promise.allSettled([read('now'), read('period_end')]);
  const previews = [now, later].flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  if (previews.length === 0 && later.status === 'rejected') throw later.reason;
  return { previews, whyLater: now.status === 'rejected' ? asProblem(now.reason).message : '' };
};

interface DraftFormProps {
  readonly subscription: Subscription;
  readonly draft: PlanDraft;
  readonly asking: ReturnType<typeof useAction>;
  readonly problem: Problem | undefined;
  readonly onChange: (draft: PlanDraft) => void;
  readonly onClose: () => void;
}

const DraftForm = ({ subscription, draft, asking, problem, onChange, onClose }: DraftFormProps) => {
  const submit = (event: Event): void => {
    event.preventDefault();
    asking.run();
  };
  const fields = { subscription, onChange };
  return (
    <form class="form" onSubmit={submit}>
      {draft.kind === 'product' ? (
        <ProductFields {...fields} draft={draft} />
      ) : (
        <PriceFields {...fields} draft={draft} />
      )}
      {problem && <ProblemNote problem={problem} />}
      <FormActions onClose={onClose} act={['Preview', 'Computing…']} isBusy={asking.isBusy} />
    </form>
  );
};

interface OfferedChangeProps {
  readonly subscription: Subscription;
  readonly draft: PlanDraft;
  readonly offer: Offer;
  readonly onChanged: () => void;
  /** Called if the change was certainly not made. A retry needs a new preview and a new key. */
  readonly onRefused: (problem: Problem) => void;
  readonly onBack: () => void;
  readonly onClose: () => void;
}

const OfferedChange = (props: OfferedChangeProps) => {
  const { subscription, draft, offer, onChanged, onRefused, onBack, onClose } = props;
  const { previews, whyLater } = offer;
  // Preselects now for an upgrade. For a downgrade it preselects the period end, because a change now would waste paid
  // time.
  const [when, setWhen] = useState<When>(previews[0]?.kind === 'upgrade' ? 'now' : 'period_end');
  const chosen = previews.find((preview) => preview.when === when) ?? previews[0];
  const changing = useAction(async () => {
    if (!chosen) return;
    try {
      await sendChange(subscription, draft, chosen);
    } catch (reason) {
      const problem = asProblem(reason);
      if (isRefusal(problem)) onRefused(problem);
      throw reason;
    } finally {
      onChanged();
    }
    onClose();
  });
  if (!chosen) return null;
  return (
    <div class="form">
      {previews.length > 1 && (
        <fieldset class="choices">
          <legend class="unseen">When</legend>
          {previews.map((preview) => (
            <Choice
              key={preview.when}
              of="when"
              isChosen={preview.when === chosen.when}
              onChoose={() => setWhen(preview.when)}
            >
              {preview.when === 'now' ? 'Now' : `At the end of the period, on ${dateInUtc(preview.effective_at)} (UTC)`}
            </Choice>
          ))}
        </fieldset>
      )}
      {whyLater !== '' && <p class="quiet">Not possible now: {whyLater}</p>}
      <Preview preview={chosen} />
      {changing.problem && <ProblemNote problem={changing.problem} />}
      <DialogActions back="Back" onBack={onBack} act={[nameOfAct(chosen), 'Changing…']} action={changing} />
    </div>
  );
};

/** True if the change was certainly refused. False while a request may be running or after a lost response. */
const isRefusal = ({ status, code }: Problem): boolean =>
  status >= 400 && status < 500 && code !== 'IDEMPOTENCY_IN_PROGRESS';

const nameOfAct = ({ when, due_now_cents: due, currency }: PlanPreview): string => {
  if (when === 'period_end') return 'Schedule change';
  return due > 0 ? `Pay ${money(due, currency)} now` : 'Change plan now';
};

/** Sends the preview's time and amount, so the API charges exactly this amount or refuses. */
const sendChange = (subscription: Subscription, draft: PlanDraft, preview: Offer['previews'][number]) => {
  const { key, when, proration_at, due_now_cents: due } = preview;
  const body = { ...bodyOf(draft, subscription), when, expected_cents: due };
  return answerOf(
    api.POST('/subscriptions/{id}/change', {
      params: { path: { id: subscription.id }, header: { 'Idempotency-Key': key } },
      body: when === 'now' ? { ...body, proration_at } : body,
    }),
  );
};

/** The total of the next charge. It is unknown if the provider applies its own discounts or taxes. */
const NextTotal = ({ cents, currency }: { readonly cents: number | null; readonly currency: string }) =>
  cents === null ? <>The provider sets the amount</> : <Money cents={cents} currency={currency} />;

const Preview = ({ preview }: { readonly preview: PlanPreview }) => {
  const { when, lines, due_now_cents: due, forfeited_cents: forfeited, currency } = preview;
  return (
    <>
      {lines.length > 0 && <PlanChangeLines lines={lines} sum={['Due now', due]} currency={currency} />}
      <dl class="facts">
        <Fact name="Takes effect">{when === 'now' ? 'Now' : `${dateInUtc(preview.effective_at)} (UTC)`}</Fact>
        {lines.length === 0 && (
          <Fact name="Due now">
            <Money cents={due} currency={currency} />
          </Fact>
        )}
        {preview.next_billing_date !== null && (
          <Fact name="Next charge">
            <NextTotal cents={preview.next_total_cents} currency={currency} /> on {dateInUtc(preview.next_billing_date)}{' '}
            (UTC)
          </Fact>
        )}
      </dl>
      {forfeited > 0 && (
        <p class="wrong">
          <Money cents={forfeited} currency={currency} /> of what was paid for this period is not given back.
        </p>
      )}
    </>
  );
};
