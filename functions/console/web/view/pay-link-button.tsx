import { useState } from 'preact/hooks';
import { answerOf, api } from '../api/client.ts';
import { useAction } from './action.ts';
import { exactTimeText } from './format.ts';
import { Id, ProblemNote } from './parts.tsx';

interface PayLinkButtonProps {
  readonly kind: 'payments' | 'subscriptions';
  readonly id: string;
}

interface MadeLink {
  readonly url: string;
  readonly expires_at: string;
}

const makeLink = async ({ kind, id }: PayLinkButtonProps): Promise<MadeLink> => {
  const params = { path: { id } };
  const { data } =
    kind === 'payments'
      ? await answerOf(api.POST('/payments/{id}/link', { params, body: {} }))
      : await answerOf(api.POST('/subscriptions/{id}/link', { params, body: {} }));
  return data;
};

/** Makes a link to the hosted page of the record and copies it. The link is shown too, for browsers that copy nothing. */
export const PayLinkButton = (props: PayLinkButtonProps) => {
  const [link, setLink] = useState<MadeLink & { readonly isCopied: boolean }>();
  const make = useAction(async () => {
    const made = await makeLink(props);
    const isCopied = await navigator.clipboard.writeText(made.url).then(
      () => true,
      () => false,
    );
    setLink({ ...made, isCopied });
  });
  return (
    <>
      <button type="button" disabled={make.isBusy} onClick={make.run}>
        {make.isBusy ? 'Copying…' : 'Copy pay link'}
      </button>
      {make.problem && <ProblemNote problem={make.problem} />}
      {link && (
        <div class="note note-good" role="status">
          <span>
            {link.isCopied ? 'Copied.' : 'Copy the link.'} It lets anyone pay, until {exactTimeText(link.expires_at)}.
          </span>
          <Id>{link.url}</Id>
        </div>
      )}
    </>
  );
};
