/** @module The page with the list of payment links. It creates and archives them. */

import { useState } from 'preact/hooks';
import { answerOf, api, done, nextCursor } from '../api/client.ts';
import type { PaymentLink } from '../api/types.ts';
import { useAction } from '../view/action.ts';
import type { Column } from '../view/columns.ts';
import { Dialog, DialogActions } from '../view/dialog.tsx';
import { count, money } from '../view/format.ts';
import { type PageOf, usePages } from '../view/load.ts';
import { PageHead, ProblemNote, Status, Time } from '../view/parts.tsx';
import { Table } from '../view/table.tsx';
import { LinkForm } from './link-form.tsx';

const PER_PAGE = 50;

const readPage = async (cursor: string | undefined): Promise<PageOf<PaymentLink>> => {
  const query = { limit: PER_PAGE, ...(cursor !== undefined && { cursor }) };
  const { data } = await answerOf(api.GET('/payment-links', { params: { query } }));
  return { rows: data.data, next: nextCursor(data.meta) };
};

const paymentsOf = ({ payments: { open, succeeded }, max_payments: most }: PaymentLink): string =>
  `${count(succeeded)} paid, ${count(open)} open${most === null ? '' : `, at most ${count(most)}`}`;

const priceOf = ({ total_cents: cents, currency, product_id: product }: PaymentLink): string =>
  cents === null || currency === null ? (product ?? '') : money(cents, currency);

const columnsWith = (onArchived: () => void): readonly Column<PaymentLink>[] => [
  { title: 'Description', cell: ({ id, description }) => description ?? <code>{id}</code>, phone: 'name' },
  { title: 'Price', align: 'end', cell: priceOf, phone: 'figure' },
  { title: 'Status', cell: ({ status }) => <Status of={status} />, phone: 'state' },
  { title: 'Payments', cell: paymentsOf, below: 'Description', phone: 'note' },
  { title: 'Created', isTime: true, cell: ({ created_at: at }) => <Time at={at} /> },
  { title: 'Actions', cell: (link) => <LinkActions link={link} onArchived={onArchived} />, phone: 'note' },
];

export const LinksPage = () => {
  const [isCreating, setCreating] = useState(false);
  const [turn, setTurn] = useState(0);
  const pages = usePages(`links ${turn}`, readPage);
  const reload = (): void => setTurn((before) => before + 1);
  const close = (): void => {
    setCreating(false);
    reload();
  };
  return (
    <>
      <PageHead title="Links" tab="Links">
        <button type="button" class="primary" onClick={() => setCreating(true)}>
          Create link
        </button>
      </PageHead>
      <Table name="Links" columns={columnsWith(reload)} pages={pages} keyOf={({ id }) => id} empty={<NoLinks />} />
      {isCreating && (
        <Dialog title="Create link" onClose={close}>
          <LinkForm onDone={close} />
        </Dialog>
      )}
    </>
  );
};

interface LinkActionsProps {
  readonly link: PaymentLink;
  readonly onArchived: () => void;
}

const LinkActions = ({ link, onArchived }: LinkActionsProps) => {
  const [isCopied, setCopied] = useState(false);
  const [isAsked, setAsked] = useState(false);
  const { url, status } = link;
  const copy = useAction(async () => {
    await navigator.clipboard.writeText(url);
    setCopied(true);
  });
  if (status === 'archived' || status === 'expired') return null;
  return (
    <span class="actions">
      <button type="button" class="small" onClick={copy.run} onBlur={() => setCopied(false)}>
        {isCopied ? 'Copied' : 'Copy link'}
      </button>
      <button type="button" class="small" onClick={() => setAsked(true)}>
        Archive
      </button>
      {copy.problem && <code>{url}</code>}
      {isAsked && <ArchiveDialog link={link} onArchived={onArchived} onClose={() => setAsked(false)} />}
    </span>
  );
};

interface ArchiveDialogProps extends LinkActionsProps {
  readonly onClose: () => void;
}

const ArchiveDialog = ({ link: { id, description }, onArchived, onClose }: ArchiveDialogProps) => {
  const archive = useAction(async () => {
    await done(api.DELETE('/payment-links/{id}', { params: { path: { id } } }));
    onClose();
    onArchived();
  });
  return (
    <Dialog title="Archive this link?" onClose={onClose}>
      <p>
        Then “{description ?? id}” no longer opens. Payments that have been started can still be paid. An archived link
        cannot be made active again.
      </p>
      {archive.problem && <ProblemNote problem={archive.problem} />}
      <DialogActions
        back="Keep link"
        onBack={onClose}
        act={['Archive link', 'Archiving…']}
        action={archive}
        kind="danger"
      />
    </Dialog>
  );
};

const NoLinks = () => (
  <>
    <strong>No links yet</strong>
    <p>Create a link to a page that sells one product or price, and send it to buyers.</p>
  </>
);
