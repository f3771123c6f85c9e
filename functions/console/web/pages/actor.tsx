/** @module The actor of a change, in words. */

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { personName } from '../api/people.ts';
import { providerName } from '../api/providers.ts';
import type { TimelineEntry } from '../api/types.ts';

type ActorOfEntry = NonNullable<TimelineEntry['actor']>;

/** The users that timeline actors name. */
export const usersIn = (actors: readonly (ActorOfEntry | null)[]): readonly string[] =>
  actors.flatMap((actor) => {
    if (!actor) return [];
    const own = actor.type === 'user' || actor.type === 'admin' ? [actor.id ?? ''] : [];
    const payer = actor.on_behalf_of?.type === 'user' ? [actor.on_behalf_of.id] : [];
    return [...own, ...payer].filter((id) => id !== '');
  });

/** The actor in words, with the id if the API shows it. Staff and platform admins see every id. */
export const ActorName = ({ actor: { type, id = '', on_behalf_of: payer } }: { readonly actor: ActorOfEntry }) => {
  switch (type) {
    case 'provider':
      return <>{providerName(id)}</>;
    case 'system':
      return <>the service ({id})</>;
    case 'admin':
      return (
        <>
          staff member <Person id={id} />
        </>
      );
    case 'key':
      return (
        <>
          service key {id} <Behalf of={payer} />
        </>
      );
    case 'link':
      return (
        <>
          the hosted page <Behalf of={payer} />
        </>
      );
    case 'guest':
      return <>guest {id}</>;
    case 'user':
      return <Person id={id} />;
  }
};

const Behalf = ({ of: payer }: { readonly of: ActorOfEntry['on_behalf_of'] }) =>
  payer && (
    <>
      for {payer.type} {payer.type === 'user' ? <Person id={payer.id} /> : payer.id}
    </>
  );

/** A person's name with the id on hover, or the id while the name is unknown. */
export const PersonInShort = ({ id }: { readonly id: string }) => <span title={id}>{personName(id) ?? id}</span>;

/** A person's name with the id on hover and a copy button, or the id while the name is unknown. */
const Person = ({ id }: { readonly id: string }): ComponentChildren => {
  const [isCopied, setCopied] = useState(false);
  const name = personName(id);
  if (name === undefined) return id;
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(id);
    setCopied(true);
  };
  return (
    <span class="person" title={id}>
      {name}
      <button
        type="button"
        class="copy"
        aria-label={`Copy ${id}`}
        onClick={() => void copy()}
        onBlur={() => setCopied(false)}
      >
        {isCopied ? 'Copied' : 'Copy'}
      </button>
    </span>
  );
};
