import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { answerOf, api } from '../api/client.ts';
import { useAction } from './action.ts';
import { zonedTimeText } from './format.ts';
import { Id, ProblemNote } from './parts.tsx';
import type { RecordAction } from './record-actions.tsx';

interface OfRecord {
  readonly kind: 'payments' | 'subscriptions';
  readonly id: string;
}

interface MadeLink {
  readonly url: string;
  readonly expires_at: string;
}

const makeLink = async ({ kind, id }: OfRecord): Promise<MadeLink> => {
  const params = { path: { id } };
  const { data } =
    kind === 'payments'
      ? await answerOf(api.POST('/payments/{id}/link', { params, body: {} }))
      : await answerOf(api.POST('/subscriptions/{id}/link', { params, body: {} }));
  return data;
};

interface PayLink {
  readonly action: RecordAction;
  /** The link, if the browser cannot copy it, or the reason why there is no link. */
  readonly note: ComponentChildren;
}

/** Creates a link to the record's hosted page and copies it. */
export const usePayLink = (of: OfRecord): PayLink => {
  const [link, setLink] = useState<MadeLink & { readonly isCopied: boolean }>();
  const make = useAction(async () => {
    const made = await makeLink(of);
    const isCopied = await navigator.clipboard.writeText(made.url).then(
      () => true,
      () => false,
    );
    setLink({ ...made, isCopied });
  });
  const note = (
    <>
      {make.problem && <ProblemNote problem={make.problem} />}
      {link && (
        <div class="note note-good" role="status">
          <span>
            {link.isCopied ? 'Copied.' : 'Copy the link.'} It lets anyone pay, until {zonedTimeText(link.expires_at)}.
          </span>
          <Id>{link.url}</Id>
        </div>
      )}
    </>
  );
  return { action: { name: 'Copy pay link', whileBusy: 'Copying…', isBusy: make.isBusy, run: make.run }, note };
};
