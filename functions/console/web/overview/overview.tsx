/**
 * @module The overview page. Staff and platform admins see the sums of all payments and the tasks for today. Other
 * users see the sums of their own payments or of an organization.
 */

import { organizations } from '../api/organizations.ts';
import { AttentionList } from '../attention/attention-list.tsx';
import { CsvButton } from '../view/csv-button.tsx';
import { dateInUtc } from '../view/format.ts';
import { useLoaded } from '../view/load.ts';
import { Loading, PageHead, ProblemNote } from '../view/parts.tsx';
import { place, setQuery } from '../view/route.tsx';
import { Chart } from './chart.tsx';
import type { Measure } from './chart-bars.ts';
import { Choices, currencyShown } from './choices.tsx';
import { currenciesOf, figuresByPeriod } from './figures.ts';
import { LastPayments } from './last-payments.tsx';
import { OwnSubscriptions } from './own-subscriptions.tsx';
import { PeriodTable } from './period-table.tsx';
import { intervalOf, lengthInWords, periodsOf, type Range, rangeInAddress } from './range.ts';
import { askCsv, isOfAll, organizationInAddress, readSummary, type Summary } from './read-summary.ts';
import { Tile } from './tile.tsx';
import { SUCCESS_RATE_NOTE, Tiles } from './tiles.tsx';

export const OverviewPage = () => {
  const range = rangeInAddress();
  const scope = `${isOfAll()} ${organizationInAddress() ?? ''}`;
  const summary = useLoaded(`${scope} ${range.from} ${range.to}`, () => readSummary(range));
  return (
    <>
      <PageHead title="Overview" tab="Overview">
        <CsvButton file={`summary-${range.from}-${range.to}.csv`} ask={askCsv(range)} />
      </PageHead>
      {isOfAll() && <AttentionList />}
      <Choices range={range} currencies={summary.data ? currenciesOf(summary.data) : []} />
      {summary.problem && <ProblemNote problem={summary.problem} onRetry={summary.reload} />}
      {summary.isLoading && !summary.data && <SummaryLoading />}
      {summary.data && <SummaryView summary={summary.data} range={range} />}
      {!isOfAll() && <OwnSubscriptions key={scope} />}
      <LastPayments of={scope} />
    </>
  );
};

/** Reserves the space of the figures to keep the layout stable. */
const SummaryLoading = () => (
  <>
    <dl class="tiles">
      {(isOfAll()
        ? ['Gross', 'Net', 'Refunded', 'Failed', 'Success rate', 'MRR', 'Active subscriptions', 'New payers']
        : ['Succeeded', 'Refunded', 'Failed', 'Success rate']
      ).map((name) => (
        <Tile key={name} name={name} note={name === 'Success rate' ? SUCCESS_RATE_NOTE : '–'}>
          –
        </Tile>
      ))}
    </dl>
    <div class="card chart-loading">
      <Loading what="the summary" />
    </div>
  </>
);

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
  const measure: Measure = place.value.query.get('measure') === 'count' ? 'count' : 'amount';
  const interval = intervalOf(range);
  const figures = figuresByPeriod(summary, currency, periodsOf(range));
  return (
    <>
      <section class="part" aria-label="Figures">
        <h2 class="unseen">Figures</h2>
        <Tiles summary={summary} range={range} currency={currency} figures={figures} />
        <p class="quiet">“Before” is the {lengthInWords(range)} before the range. Days are UTC.</p>
      </section>
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
