/** @module The page with the list of service keys, for platform admins. It creates keys; each row opens its key. */

import { useState } from 'preact/hooks';
import { answerOf, api, nextCursor } from '../api/client.ts';
import type { KeyWithSecret, ServiceKey } from '../api/types.ts';
import type { Column } from '../view/columns.ts';
import { Dialog } from '../view/dialog.tsx';
import { type PageOf, usePages } from '../view/load.ts';
import { Hour, PageHead, Status, Time } from '../view/parts.tsx';
import { Table } from '../view/table.tsx';
import { fieldsOf, KeyForm, NEW_KEY } from './key-form.tsx';
import { SecretDialog } from './secret-dialog.tsx';

const readPage = async (cursor: string | undefined): Promise<PageOf<ServiceKey>> => {
  const { data } = await answerOf(api.GET('/admin/keys', { params: { query: { cursor } } }));
  return { rows: data.data, next: nextCursor(data.meta) };
};

const COLUMNS: readonly Column<ServiceKey>[] = [
  { title: 'Name', cell: ({ name }) => <span class="key-name">{name}</span>, phone: 'name' },
  { title: 'Status', cell: ({ status }) => <Status of={status} />, phone: 'figure' },
  { title: 'Scopes', cell: ({ scopes }) => <span class="quiet">{scopes.join(', ')}</span> },
  {
    title: 'Last used',
    isTime: true,
    cell: ({ last_used_at: at }) => (at === null ? <span class="quiet">Never</span> : <Hour at={at} />),
    phone: 'note',
  },
  {
    title: 'Expires',
    isTime: true,
    cell: ({ expires_at: at }) => (at === null ? <span class="quiet">Never</span> : <Time at={at} />),
  },
];

export const KeysPage = () => {
  const [isCreating, setCreating] = useState(false);
  const [turn, setTurn] = useState(0);
  const pages = usePages(`keys ${turn}`, readPage);
  const close = (): void => {
    setCreating(false);
    setTurn((before) => before + 1);
  };
  return (
    <>
      <PageHead title="Keys" tab="Keys">
        <button type="button" class="primary" onClick={() => setCreating(true)}>
          Create key
        </button>
      </PageHead>
      <p class="quiet">
        With a service key, a program of yours calls the API with the scopes of the key. Give each program its own key.
      </p>
      <Table
        name="Service keys"
        columns={COLUMNS}
        pages={pages}
        keyOf={({ id }) => id}
        pageOf={({ id }) => `/keys/${id}`}
        empty={<NoKeys />}
      />
      {isCreating && <CreateDialog onClose={close} />}
    </>
  );
};

const CreateDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const [made, setMade] = useState<KeyWithSecret>();
  if (made) return <SecretDialog title="Key created" made={made} onClose={onClose} />;
  return (
    <Dialog title="Create key" onClose={onClose}>
      <KeyForm
        initial={NEW_KEY}
        act={['Create key', 'Creating…']}
        send={async (draft, key) => {
          const params = { header: { 'Idempotency-Key': key } };
          const call = api.POST('/admin/keys', { params, body: fieldsOf(draft, NEW_KEY) });
          setMade((await answerOf(call)).data.data);
        }}
        onClose={onClose}
      />
    </Dialog>
  );
};

const NoKeys = () => (
  <>
    <strong>No keys yet</strong>
    <p>
      Create a key for a backend that takes orders, subscribes its users or reads payments without a user’s session.
    </p>
  </>
);
