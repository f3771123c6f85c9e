/** @module The page of one record, with a link to its list, its head, its actions, and the loading states. */

import type { ComponentChildren } from 'preact';
import { useFollow } from './action.ts';
import { useLoaded } from './load.ts';
import { Id, Loading, ProblemNote, setTabTitle } from './parts.tsx';
import { Link } from './route.tsx';

interface RecordPageProps<Data> {
  readonly id: string;
  /** The path and name of the record's list. */
  readonly list: readonly [path: string, name: string];
  /** The record in words, such as "the payment", for the message while it loads. */
  readonly what: string;
  /** The heading, which is also the title of the browser tab unless `tab` is set. */
  readonly title: (data: Data | undefined) => string;
  readonly tab?: string;
  /** The status, as part of the heading. */
  readonly status?: (data: Data) => ComponentChildren;
  /** Further marks beside the heading. */
  readonly marks?: (data: Data) => ComponentChildren;
  /** The line below the heading, such as the payer and the date. */
  readonly about?: (data: Data) => ComponentChildren;
  readonly read: () => Promise<Data>;
  /** The actions on the record. `follow` reads the record now and again shortly after, because changes arrive late. */
  readonly actions: (data: Data, follow: () => void) => ComponentChildren;
  readonly children: (data: Data, follow: () => void) => ComponentChildren;
}

export const RecordPage = <Data,>(props: RecordPageProps<Data>) => {
  const { id, list, what, read, actions, children } = props;
  const { data, problem, isLoading, reload } = useLoaded(id, read);
  const follow = useFollow(reload);
  const [path, name] = list;
  return (
    <>
      <p class="trail">
        <Link to={path}>{name}</Link>
      </p>
      <div class="record-head">
        <Head {...props} data={data} />
        <div class="actions">{data && actions(data, follow)}</div>
      </div>
      {problem && <ProblemNote problem={problem} onRetry={reload} />}
      {!data && isLoading && <Loading what={what} />}
      {data && children(data, follow)}
    </>
  );
};

type HeadProps<Data> = Pick<RecordPageProps<Data>, 'id' | 'title' | 'tab' | 'status' | 'marks' | 'about'> & {
  readonly data: Data | undefined;
};

const Head = <Data,>({ id, data, title, tab, status, marks, about }: HeadProps<Data>) => {
  const heading = title(data);
  setTabTitle(tab ?? heading);
  return (
    <div class="record-title">
      <div class="record-line">
        <h1 tabIndex={-1}>
          {heading} {data && status?.(data)}
        </h1>
        {data && marks?.(data)}
      </div>
      {about && <p class="record-about">{data ? about(data) : <span class="skeleton" />}</p>}
      <Id>{id}</Id>
    </div>
  );
};
