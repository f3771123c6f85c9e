/** @module The page with the list of discount codes. It creates codes; each row opens its code. */

import { useState } from 'preact/hooks';
import { answerOf, api } from '../api/client.ts';
import type { Column } from '../view/columns.ts';
import { Dialog } from '../view/dialog.tsx';
import { type PageOf, usePages } from '../view/load.ts';
import { PageHead, Status, Time } from '../view/parts.tsx';
import { Table } from '../view/table.tsx';
import { codeOfRecord, type DiscountCode } from './discount-code.ts';
import { DiscountForm } from './discount-form.tsx';

const PER_PAGE = 50;

const readPage = async (cursor: string | undefined): Promise<PageOf<DiscountCode>> => {
  const offset = Number(cursor ?? 0);
  const params = { path: { kind: 'discounts' }, query: { limit: PER_PAGE, offset } };
  const { data } = await answerOf(api.GET('/admin/{kind}', { params }));
  const rows = data.data.map((record) => codeOfRecord(record));
  return { rows, next: rows.length === PER_PAGE ? String(offset + PER_PAGE) : undefined };
};

const COLUMNS: readonly Column<DiscountCode>[] = [
  { title: 'Code', cell: ({ id }) => <code>{id}</code>, phone: 'name' },
  { title: 'Name', cell: ({ name }) => <span class="whole">{name}</span> },
  { title: 'Discount', cell: ({ cut }) => cut, phone: 'note' },
  { title: 'Duration', cell: ({ duration }) => duration },
  { title: 'Used', cell: ({ used }) => used ?? <span class="quiet">Not counted</span>, phone: 'state' },
  { title: 'Status', cell: ({ isActive }) => <Status of={isActive ? 'active' : 'inactive'} />, phone: 'figure' },
  { title: 'Changed', isTime: true, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
];

export const DiscountsPage = () => {
  const [isCreating, setCreating] = useState(false);
  const [turn, setTurn] = useState(0);
  const pages = usePages(`discounts ${turn}`, readPage);
  const close = (): void => {
    setCreating(false);
    setTurn((before) => before + 1);
  };
  return (
    <>
      <PageHead title="Discounts" tab="Discounts">
        <button type="button" class="primary" onClick={() => setCreating(true)}>
          Create code
        </button>
      </PageHead>
      <Table
        name="Discount codes"
        columns={COLUMNS}
        pages={pages}
        keyOf={({ id }) => id}
        pageOf={({ id }) => `/discounts/${id}`}
        empty={<NoCodes />}
      />
      {isCreating && (
        <Dialog title="Create code" onClose={close}>
          <DiscountForm of={undefined} onDone={close} onClose={close} />
        </Dialog>
      )}
    </>
  );
};

const NoCodes = () => (
  <>
    <strong>No codes yet</strong>
    <p>Create a code that payers enter for a lower price.</p>
  </>
);
