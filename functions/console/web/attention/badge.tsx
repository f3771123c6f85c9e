import { count } from '../view/format.ts';
import { needsOf } from './attention.ts';

/** The number of records behind a page of the navigation that need a person today. */
export const Badge = ({ page }: { readonly page: string }) => {
  const open = needsOf(page);
  return open === 0 ? null : (
    <span class="badge">
      <span class="unseen">, </span>
      {count(open)}
      <span class="unseen"> {open === 1 ? 'needs' : 'need'} attention</span>
    </span>
  );
};
