import type { PlanPreview } from '../api/types.ts';
import { count, shortDay } from '../view/format.ts';
import { Money } from '../view/parts.tsx';

type Line = PlanPreview['lines'][number];

const KINDS: Readonly<Record<Line['kind'], string>> = {
  unused: 'Unused',
  remaining: 'Rest of the period',
  full: 'New period',
  rounding: 'Rounding',
};

interface LinesProps {
  readonly lines: readonly Line[];
  /** The sum of the lines, with its label. */
  readonly sum: readonly [name: string, cents: number];
  readonly currency: string;
}

/** The price lines of a plan change. */
export const PlanChangeLines = ({ lines, sum: [name, cents], currency }: LinesProps) => {
  const isTaxed = lines.some(({ tax_cents: tax }) => tax !== 0);
  return (
    <div class="table-box">
      <table aria-label="Cost of the change">
        <thead>
          <tr>
            <th scope="col">Item</th>
            {isTaxed && (
              <th scope="col" class="end">
                Tax
              </th>
            )}
            <th scope="col" class="end">
              Amount
            </th>
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => (
            <tr key={line.kind}>
              <td>
                {line.description}
                {line.quantity > 1 && ` × ${count(line.quantity)}`}
                <span class="second-line quiet">
                  {KINDS[line.kind]}, {shortDay(line.period_start)} – {shortDay(line.period_end)} (UTC)
                </span>
              </td>
              {isTaxed && (
                <td class="end">
                  <Money cents={line.tax_cents} currency={currency} />
                </td>
              )}
              <td class="end">
                <Money cents={line.amount_cents} currency={currency} />
              </td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr class="sum">
            <th scope="row" colSpan={isTaxed ? 2 : 1}>
              {name}
            </th>
            <td class="end">
              <strong>
                <Money cents={cents} currency={currency} />
              </strong>
            </td>
          </tr>
        </tfoot>
      </table>
    </div>
  );
};
