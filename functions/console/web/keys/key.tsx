/** @module The page of one service key, for platform admins. It never shows the secret. */

import { SCOPE_TEXTS } from '../../../../shared/access/scope-texts.ts';
import { answerOf, api } from '../api/client.ts';
import { readNames } from '../api/people.ts';
import type { ServiceKey } from '../api/types.ts';
import { PersonInShort } from '../pages/actor.tsx';
import { Fact, Hour, Id, Status, Time } from '../view/parts.tsx';
import { RecordPage } from '../view/record-page.tsx';
import { KeyActions } from './key-actions.tsx';

const readKey = async (id: string): Promise<ServiceKey> => {
  const { data } = (await answerOf(api.GET('/admin/keys/{id}', { params: { path: { id } } }))).data;
  void readNames([data.created_by]);
  return data;
};

export const KeyPage = ({ id }: { readonly id: string }) => (
  <RecordPage
    id={id}
    list={['/keys', 'Keys']}
    what="the key"
    title={(key) => key?.name ?? 'Key'}
    tab="Key"
    status={({ status }) => <Status of={status} />}
    about={({ created_at, created_by }) => (
      <>
        by <PersonInShort id={created_by} /> · <Time at={created_at} zoned={true} />
      </>
    )}
    read={() => readKey(id)}
    actions={(key, follow) => <KeyActions serviceKey={key} onChanged={follow} />}
  >
    {(key) => <KeyView serviceKey={key} />}
  </RecordPage>
);

const KeyView = ({ serviceKey: key }: { readonly serviceKey: ServiceKey }) => (
  <div class="columns">
    <section class="card" aria-label="Details">
      <h2>Details</h2>
      <dl class="facts">
        <Fact name="Last used">{key.last_used_at === null ? 'Never' : <Hour at={key.last_used_at} />}</Fact>
        <Fact name="Expires">
          <MaybeTime at={key.expires_at} />
        </Fact>
        {key.revoked_at !== null && (
          <Fact name="Revoked">
            <Time at={key.revoked_at} exact={true} />
          </Fact>
        )}
        <Fact name="Addresses">{key.allowed_ips.length > 0 ? key.allowed_ips.join(', ') : 'Any'}</Fact>
        <Fact name="Prefix">
          <Id>{key.prefix}</Id>
        </Fact>
      </dl>
    </section>
    <section class="card" aria-label="Scopes">
      <h2>Scopes</h2>
      <ul class="plain-list">
        {key.scopes.map((scope) => (
          <li key={scope}>
            <code>{scope}</code> <span class="quiet">{SCOPE_TEXTS[scope]}</span>
          </li>
        ))}
      </ul>
    </section>
  </div>
);

const MaybeTime = ({ at }: { readonly at: string | null }) => (at === null ? 'Never' : <Time at={at} exact={true} />);
