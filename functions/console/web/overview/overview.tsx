/**
 * @module The overview page. Staff and platform admins see the sums of all payments. Other users see the sums of their
 * own payments or of an organization.
 */

import type { ComponentChildren } from 'preact';
import { answerOf, api, nextCursor, nextOffset } from '../api/client.ts';
import { serviceNow } from '../api/local.ts';
import { organizations } from '../api/organizations.ts';
import { may } from '../api/session.ts';
import type { Subscription } from '../api/types.ts';
import { readEndingHolds } from '../holds/ending-holds.ts';
import { CsvButton } from '../view/csv-button.tsx';
import { SelectFilter } from '../view/filters.tsx';
import { count, dateInUtc, percent } from '../view/format.ts';
import { type Loaded, type PageOf, useLoaded } from '../view/load.ts';
import { Loading, Money, PageHead, ProblemNote } from '../view/parts.tsx';
import { Link, place, setQuery, withQuery } from '../view/route.tsx';
import { Chart } from './chart.tsx';
import type { Measure } from './chart-bars.ts';
import { currenciesOf, figuresByPeriod, type Sum, type Summary, successRateOf, totalsOf } from './figures.ts';
import { intervalOf, lastDays, periodsOf, type Range, rangeInAddress, USUAL_DAYS } from './range.ts';

const organizationInAddress = (): string | undefined => place.value.query.get('organization') || undefined;

/** An empty name requests the records of the caller alone, regardless of the organization of the session. */
const ownerAsked = (): string => organizationInAddress() ?? '';

const isOfAll = (): boolean => may('payments:read') && organizationInAddress() === undefined;

type Group = 'currency' | 'status';

const askSummary = (range: Range, group_by: Group) => {
  const query = { ...range, interval: intervalOf(range), group_by };
  return isOfAll()
    ? api.GET('/admin/summary', { params: { query } })
    : api.GET('/payments/summary', { params: { query: { ...query, organization_id: ownerAsked() } } });
};

const readSummary = async (range: Range): Promise<Summary> => {
  const [bySuccess, byStatus] = await Promise.all([
    answerOf(askSummary(range, 'currency')),
    answerOf(askSummary(range, 'status')),
  ]);
  return { bySuccess: bySuccess.data.data, byStatus: byStatus.data.data };
};

type CsvRequest = Parameters<typeof CsvButton>[0]['ask'];

const askCsv =
  (range: Range): CsvRequest =>
  ({ cursor, headers }) => {
    const query = { ...range, interval: intervalOf(range), group_by: 'currency' as const, cursor };
    return isOfAll()
      ? api.GET('/admin/summary', { headers, parseAs: 'text', params: { query } })
      : api.GET('/payments/summary', {
          headers,
          parseAs: 'text',
          params: { query: { ...query, organization_id: ownerAsked() } },
        });
  };

export const OverviewPage = () => {
  const range = rangeInAddress();
  const scope = `${isOfAll()} ${organizationInAddress() ?? ''}`;
  const summary = useLoaded(`${scope} ${range.from} ${range.to}`, () => readSummary(range));
  return (
    <>
      <PageHead title="Overview" tab="Overview">
        <CsvButton file={`summary-${range.from}-${range.to}.csv`} ask={askCsv(range)} />
      </PageHead>
      <Choices range={range} currencies={summary.data ? currenciesOf(summary.data) : []} />
      {summary.problem && <ProblemNote problem={summary.problem} onRetry={summary.reload} />}
      {summary.isLoading && !summary.data && <SummaryLoading />}
      {summary.data && <SummaryView summary={summary.data} range={range} />}
      {isOfAll() ? <Disputes /> : <Subscriptions key={scope} />}
      {isOfAll() && <Holds />}
    </>
  );
};

/** Takes the room of the figures, so that the page keeps its layout. */
const SummaryLoading = () => (
  <>
    <dl class="tiles">
      {['Succeeded', 'Failed', 'Refunded'].map((name) => (
        <Tile key={name} name={name} note="–">
          –
        </Tile>
      ))}
      <Tile name="Success rate" note={SUCCESS_RATE_NOTE}>
        –
      </Tile>
    </dl>
    <div class="card chart-loading">
      <Loading what="the summary" />
    </div>
  </>
);

const QUICK_RANGES = [7, USUAL_DAYS, 90] as const;

const Choices = ({ range, currencies }: { readonly range: Range; readonly currencies: readonly string[] }) => {
  const chosen = currencyShown(currencies);
  return (
    <div class="filters">
      <DayField label="From" day={range.from} name="from" />
      <DayField label="To" day={range.to} name="to" />
      <fieldset class="quick">
        <legend class="unseen">Range</legend>
        {QUICK_RANGES.map((days) => {
          const { from, to } = lastDays(days);
          const isChosen = from === range.from && to === range.to;
          return (
            <button key={days} type="button" aria-pressed={isChosen} onClick={() => setQuery({ from, to })}>
              {days} days
            </button>
          );
        })}
      </fieldset>
      <label class="field">
        <span>Currency</span>
        <select
          value={chosen}
          disabled={currencies.length === 0}
          onChange={(event) => setQuery({ currency: event.currentTarget.value })}
        >
          {currencies.map((currency) => (
            <option key={currency} value={currency} selected={currency === chosen}>
              {currency}
            </option>
          ))}
        </select>
      </label>
      {organizations.value.length > 0 && (
        <SelectFilter
          label="Payments of"
          name="organization"
          none={may('payments:read') ? 'Everyone' : 'Myself'}
          choices={organizations.value.map(({ id, name }) => ({ value: id, text: name }))}
        />
      )}
    </div>
  );
};

interface DayFieldProps {
  readonly label: string;
  readonly day: string;
  readonly name: string;
}

const DayField = ({ label, day, name }: DayFieldProps) => (
  <label class="field">
    <span>{label}</span>
    <input type="date" value={day} onChange={(event) => setQuery({ [name]: event.currentTarget.value })} />
  </label>
);

/** The currency in the address bar, else the most frequent currency. */
const currencyShown = (currencies: readonly string[]): string => {
  const asked = place.value.query.get('currency') ?? '';
  return currencies.includes(asked) ? asked : (currencies[0] ?? '');
};

const SummaryView = ({ summary, range }: { readonly summary: Summary; readonly range: Range }) => {
  const currency = currencyShown(currenciesOf(summary));
  if (currency === '') {
    return (
      <div class="empty">
        <strong>No payments in this range</strong>
        <p>
          Choose other days{organizations.value.length > 0 && ', or an organization'}. Payments appear here moments
          after they are made.
        </p>
      </div>
    );
  }
  return <CurrencyView key={currency} summary={summary} range={range} currency={currency} />;
};

interface CurrencyViewProps {
  readonly summary: Summary;
  readonly range: Range;
  readonly currency: string;
}

const CurrencyView = ({ summary, range, currency }: CurrencyViewProps) => {
  const { succeeded, failed, refunded } = totalsOf(summary, currency);
  const rate = successRateOf(summary, currency);
  const measure: Measure = place.value.query.get('measure') === 'count' ? 'count' : 'amount';
  const interval = intervalOf(range);
  const figures = figuresByPeriod(summary, currency, periodsOf(range));
  const failures = paymentsPage({ status: 'failed', currency, from: range.from, to: range.to });
  return (
    <>
      <dl class="tiles">
        <SumTile name="Succeeded" sum={succeeded} currency={currency} />
        <SumTile name="Failed" sum={failed} currency={currency} to={isOfAll() ? failures : undefined} />
        <SumTile name="Refunded" sum={refunded} currency={currency} unit="refund" />
        <Tile name="Success rate" note={SUCCESS_RATE_NOTE}>
          {rate === undefined ? '–' : percent(rate)}
        </Tile>
      </dl>
      <section class="card" aria-label="By period">
        <div class="card-head">
          <h2>{interval === 'day' ? 'By day' : 'By week'}</h2>
          <MeasureSelect measure={measure} />
        </div>
        <Chart
          name={`Payments in ${currency} by ${interval}, ${dateInUtc(range.from)} to ${dateInUtc(range.to)}`}
          figures={figures}
          interval={interval}
          measure={measure}
          currency={currency}
        />
        <PeriodTable figures={figures} interval={interval} currency={currency} />
      </section>
    </>
  );
};

const MeasureSelect = ({ measure }: { readonly measure: Measure }) => (
  <label class="inline-field">
    <span>Show</span>
    <select value={measure} onChange={(event) => setQuery({ measure: event.currentTarget.value })}>
      <option value="amount" selected={measure === 'amount'}>
        Amounts
      </option>
      <option value="count" selected={measure === 'count'}>
        Counts
      </option>
    </select>
  </label>
);

const SUCCESS_RATE_NOTE = 'of payments created in the range that succeeded or failed';

const paymentsPage = (filters: Readonly<Record<string, string>>): string =>
  withQuery('/payments', new URLSearchParams(filters));

interface TileProps {
  readonly name: string;
  readonly note: ComponentChildren;
  /** The link to the list behind the figure. */
  readonly to?: string | undefined;
  readonly children: ComponentChildren;
}

const Tile = ({ name, note, to, children }: TileProps) => (
  <div class="tile">
    <dt>{to === undefined ? name : <Link to={to}>{name}</Link>}</dt>
    <dd>
      <strong>{children}</strong>
      <span class="quiet">{note}</span>
    </dd>
  </div>
);

interface SumTileProps extends Pick<TileProps, 'name' | 'to'> {
  readonly sum: Sum;
  readonly currency: string;
  readonly unit?: string;
}

const SumTile = ({ name, sum, currency, to, unit = 'payment' }: SumTileProps) => (
  <Tile name={name} note={`${count(sum.count)} ${unit}${sum.count === 1 ? '' : 's'}`} to={to}>
    <Money cents={sum.cents} currency={currency} />
  </Tile>
);

interface PeriodTableProps {
  readonly figures: ReturnType<typeof figuresByPeriod>;
  readonly interval: 'day' | 'week';
  readonly currency: string;
}

/** The chart's figures as text. */
const PeriodTable = ({ figures, interval, currency }: PeriodTableProps) => {
  const rows = figures.filter(({ succeeded, failed, refunded }) => succeeded.count + failed.count + refunded.count > 0);
  return (
    <details>
      <summary>Figures by {interval}</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the block scrolls, and keys scroll what has the focus */}
      <section class="table-box" tabIndex={0} aria-label={`Figures by ${interval}`}>
        <table>
          <thead>
            <tr>
              <th scope="col">{interval === 'day' ? 'Day (UTC)' : 'Week of (UTC)'}</th>
              <th scope="col" class="end">
                Succeeded
              </th>
              <th scope="col" class="end">
                Failed
              </th>
              <th scope="col" class="end">
                Refunded
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ period, succeeded, failed, refunded }) => (
              <tr key={period}>
                <td>{dateInUtc(period)}</td>
                <SumCell sum={succeeded} currency={currency} />
                <SumCell sum={failed} currency={currency} />
                <SumCell sum={refunded} currency={currency} />
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </details>
  );
};

const SumCell = ({ sum, currency }: { readonly sum: Sum; readonly currency: string }) => (
  <td class="end">
    {sum.count === 0 ? (
      <span class="quiet">–</span>
    ) : (
      <>
        <Money cents={sum.cents} currency={currency} /> <span class="quiet">({count(sum.count)})</span>
      </>
    )}
  </td>
);

/** A count over the pages of a list. `isPartial` is true if the list has more pages. */
interface Counted {
  readonly count: number;
  readonly isPartial: boolean;
}

const MOST_PAGES = 10;

const countPages = async (read: (cursor: string | undefined) => Promise<PageOf<unknown>>): Promise<Counted> => {
  let found = 0;
  let cursor: string | undefined;
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const { rows, next } = await read(cursor);
    found += rows.length;
    cursor = next;
    if (cursor === undefined) break;
  }
  return { count: found, isPartial: cursor !== undefined };
};

const countDisputes = (status: 'needs_response' | 'under_review'): Promise<Counted> =>
  countPages(async (cursor) => {
    const { data } = await answerOf(api.GET('/disputes', { params: { query: { status, limit: 100, cursor } } }));
    return { rows: data.data, next: nextCursor(data.meta) };
  });

const readDisputes = async () => {
  const [needing, reviewed] = await Promise.all([countDisputes('needs_response'), countDisputes('under_review')]);
  return { needing, reviewed };
};

const Holds = () => {
  const ending = useLoaded('ending holds', () => countPages(readEndingHolds));
  return (
    <Now title="Holds now" loaded={ending}>
      {(found) => (
        <Tile name="Holds ending" note="within 24 hours, not captured" to="/health">
          {counted(found)}
        </Tile>
      )}
    </Now>
  );
};

const counted = ({ count: found, isPartial }: Counted): string => `${count(found)}${isPartial ? ' or more' : ''}`;

const Disputes = () => {
  const disputes = useLoaded('disputes', readDisputes);
  return (
    <Now title="Disputes now" loaded={disputes}>
      {({ needing, reviewed }) => (
        <>
          <Tile name="Open disputes" note="of the last 24 months" to={paymentsPage({ disputed: 'true' })}>
            {counted({
              count: needing.count + reviewed.count,
              isPartial: needing.isPartial || reviewed.isPartial,
            })}
          </Tile>
          <Tile name="Need evidence" note="before the date that the provider sets" to="/health">
            {counted(needing)}
          </Tile>
        </>
      )}
    </Now>
  );
};

const DUE_MS = 7 * 86_400_000;

const readSubscriptions = async () => {
  const all: Subscription[] = [];
  let offset: string | undefined = '0';
  for (let pages = 0; pages < MOST_PAGES && offset !== undefined; pages += 1) {
    const query = {
      organization_id: ownerAsked(),
      status: 'active,trialing,past_due',
      offset: Number(offset),
    };
    const { data, response } = await answerOf(api.GET('/subscriptions', { params: { query } }));
    all.push(...data);
    offset = nextOffset(response);
  }
  const isPartial = offset !== undefined;
  const isDue = ({ status, next_billing_date: next }: Subscription): boolean =>
    status !== 'past_due' && next !== null && Date.parse(next) <= serviceNow() + DUE_MS;
  return {
    due: { count: all.filter(isDue).length, isPartial },
    pastDue: { count: all.filter(({ status }) => status === 'past_due').length, isPartial },
  };
};

const subscriptionsPage = (filters: Readonly<Record<string, string>>): string => {
  const organization = organizationInAddress();
  return withQuery('/subscriptions', new URLSearchParams({ ...filters, ...(organization && { organization }) }));
};

const Subscriptions = () => {
  const subscriptions = useLoaded('subscriptions', readSubscriptions);
  return (
    <Now title="Subscriptions now" loaded={subscriptions}>
      {({ due, pastDue }) => (
        <>
          <Tile name="Due" note="are charged within 7 days" to={subscriptionsPage({})}>
            {counted(due)}
          </Tile>
          <Tile name="Past due" note="a charge failed" to={subscriptionsPage({ status: 'past_due' })}>
            {counted(pastDue)}
          </Tile>
        </>
      )}
    </Now>
  );
};

interface NowProps<Data> {
  readonly title: string;
  readonly loaded: Loaded<Data>;
  readonly children: (data: Data) => ComponentChildren;
}

/** Current figures, regardless of the selected range. */
const Now = <Data,>({ title, loaded, children }: NowProps<Data>) => (
  <section class="part" aria-label={title}>
    <h2>{title}</h2>
    {loaded.problem && <ProblemNote problem={loaded.problem} onRetry={loaded.reload} />}
    {!loaded.data && loaded.isLoading && <Loading what={title.toLowerCase()} lines={4} />}
    {loaded.data && <dl class="tiles">{children(loaded.data)}</dl>}
  </section>
);
