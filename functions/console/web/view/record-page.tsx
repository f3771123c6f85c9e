import type { ComponentChildren } from 'preact';
import { useFollow } from './action.ts';
import { useLoaded } from './load.ts';
import { Loading, PageHead, ProblemNote } from './parts.tsx';
import { Link } from './route.tsx';

interface RecordPageProps<Data> {
  readonly id: string;
  /** The path and the name of the list that contains the record. */
  readonly list: readonly [path: string, name: string];
  /** The record in words, such as "the payment", for the message while it loads. */
  readonly what: string;
  /** The heading, which is also the title of the browser tab unless `tab` is set. */
  readonly title: (data: Data | undefined) => string;
  readonly tab?: string;
  readonly read: () => Promise<Data>;
  /** The actions on the record. `follow` reads the record now and again shortly after, because changes arrive later. */
  readonly actions: (data: Data, follow: () => void) => ComponentChildren;
  readonly children: (data: Data, follow: () => void) => ComponentChildren;
}

/** The page of one record, with the link back to its list, the heading with its actions, and the loading states. */
export const RecordPage = <Data,>({ id, list, what, title, tab, read, actions, children }: RecordPageProps<Data>) => {
  const { data, problem, isLoading, reload } = useLoaded(id, read);
  const follow = useFollow(reload);
  const [path, name] = list;
  return (
    <>
      <p class="trail">
        <Link to={path}>{name}</Link>
      </p>
      <PageHead title={title(data)} tab={tab ?? title(data)}>
        {data && actions(data, follow)}
      </PageHead>
      {problem && <ProblemNote problem={problem} onRetry={reload} />}
      {!data && isLoading && <Loading what={what} />}
      {data && children(data, follow)}
    </>
  );
};
